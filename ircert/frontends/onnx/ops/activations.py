"""Activations: piecewise-linear ones as the IR's own ops, smooth ones as curves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ircert.frontends.onnx.net import Net
from ircert.frontends.onnx.ops.arithmetic import plus, times
from ircert.frontends.onnx.ops.extremes import largest, smallest
from ircert.frontends.onnx.ops.gates import log_of
from ircert.frontends.onnx.values import Call, Tensor, Value
from ircert.ir.ops import Abs, Clip, Exp, LeakyRelu, Op, Relu, curves, smooth


def _apply(make: Callable[[], Op]) -> Callable[[Net, Call], Value]:
    """A handler for an op of one operand without attributes."""

    def handler(net: Net, call: Call) -> Value:
        x = call.tensor(0)
        return net.node(make(), x, shape=x.shape)

    return handler


def _leaky_relu(net: Net, call: Call) -> Value:
    x = call.tensor(0)
    return net.node(LeakyRelu(np.array([call.real("alpha", 0.01)])), x, shape=x.shape)


def _prelu(net: Net, call: Call) -> Value:
    """The slope broadcasts to x; a computed slope makes it relu(x) + slope * min(x, 0)."""
    x, slope = net.tensor(call.input(0)), net.numeric(call.input(1))
    if isinstance(slope, Tensor):
        below = times(net, slope, smallest(net, x, np.zeros(())))
        return plus(net, largest(net, x, np.zeros(())), below)
    slopes = np.broadcast_to(net.numbers(slope), x.shape).ravel()
    one = np.all(slopes == slopes[0])
    return net.node(LeakyRelu(slopes[:1] if one else slopes), x, shape=x.shape)


def _hard_sigmoid(net: Net, call: Call) -> Value:
    """clip(alpha x + beta, 0, 1)."""
    x = net.shift(net.scale(call.tensor(0), np.array(call.real("alpha", 0.2))), np.array(call.real("beta", 0.5)))
    return net.node(Clip(np.zeros(1), np.ones(1)), x, shape=x.shape)


def _thresholded_relu(net: Net, call: Call) -> Value:
    if call.real("alpha", 1.0) != 0.0:
        raise call.refuse("it jumps at its threshold", "only alpha = 0, which is relu, is continuous")
    x = call.tensor(0)
    return net.node(Relu(), x, shape=x.shape)


def _shrink(net: Net, call: Call) -> Value:
    """relu(x - lambd) - relu(-x - lambd): continuous only if bias = lambd."""
    x, cut = call.tensor(0), call.real("lambd", 0.5)
    if call.real("bias", 0.0) != cut or cut < 0:
        raise call.refuse("it jumps at its threshold", "only bias = lambd >= 0 is continuous")
    above = net.node(Relu(), net.shift(x, np.array(-cut)), shape=x.shape)
    below = net.node(Relu(), net.shift(net.negative(x), np.array(-cut)), shape=x.shape)
    return net.add(above, net.negative(below))


def _elu(net: Net, call: Call) -> Value:
    x = call.tensor(0)
    return net.node(curves.Elu(call.real("alpha", 1.0)), x, shape=x.shape)


def _celu(net: Net, call: Call) -> Value:
    """alpha elu(x / alpha)."""
    x, alpha = call.tensor(0), call.real("alpha", 1.0)
    if alpha <= 0:
        raise call.refuse(f"alpha is {alpha}", "a positive alpha is read")
    inner = net.node(curves.Elu(), net.scale(x, np.array(1 / alpha)), shape=x.shape)
    return net.scale(inner, np.array(alpha))


def _selu(net: Net, call: Call) -> Value:
    """gamma elu(x)."""
    x = call.tensor(0)
    inner = net.node(curves.Elu(call.real("alpha", 1.67326319217681884765625)), x, shape=x.shape)
    return net.scale(inner, np.array(call.real("gamma", 1.05070102214813232421875)))


def _gelu(net: Net, call: Call) -> Value:
    x = call.tensor(0)
    form = call.get("approximate", b"none")
    if form not in (b"none", b"tanh"):
        raise call.refuse(f"approximate {form.decode()!r}", "none and tanh are read")
    return net.node(curves.Gelu() if form == b"none" else curves.GeluTanh(), x, shape=x.shape)


def _swish(net: Net, call: Call) -> Value:
    """x sigmoid(alpha x)."""
    x, alpha = call.tensor(0), call.real("alpha", 1.0)
    if alpha == 0:
        return net.scale(x, np.array(0.5))
    return times(net, x, net.node(curves.Sigmoid(), net.scale(x, np.array(alpha)), shape=x.shape))


def _log(net: Net, call: Call) -> Value:
    x = call.tensor(0)
    return log_of(net, x) or net.node(smooth.Log(), x, shape=x.shape)


HANDLERS = {
    "Abs": _apply(Abs),
    "Celu": _celu,
    "Cos": _apply(curves.Cos),
    "Elu": _elu,
    "Erf": _apply(curves.Erf),
    "Exp": _apply(Exp),
    "Gelu": _gelu,
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": _apply(curves.HardSwish),
    "LeakyRelu": _leaky_relu,
    "Log": _log,
    "Mish": _apply(curves.Mish),
    "PRelu": _prelu,
    "Relu": _apply(Relu),
    "Selu": _selu,
    "Shrink": _shrink,
    "Sigmoid": _apply(curves.Sigmoid),
    "Sin": _apply(curves.Sin),
    "Softplus": _apply(curves.Softplus),
    "Softsign": _apply(curves.Softsign),
    "Sqrt": _apply(smooth.Sqrt),
    "Swish": _swish,
    "Tanh": _apply(curves.Tanh),
    "ThresholdedRelu": _thresholded_relu,
}
