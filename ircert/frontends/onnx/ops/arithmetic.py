"""Addition, multiplication and what reduces to them, with numpy's broadcasting and constants on either side."""

from __future__ import annotations

import numpy as np

from ircert.frontends.onnx.net import Net
from ircert.frontends.onnx.ops.exponentials import quotient, sigmoid_of, summed_elu
from ircert.frontends.onnx.ops.gates import gated, negated
from ircert.frontends.onnx.ops.lines import line_of
from ircert.frontends.onnx.ops.where import chosen
from ircert.frontends.onnx.values import Call, Comparison, Const, Tensor, Value
from ircert.ir.ops import Abs, Relu
from ircert.ir.ops.curves import Softplus
from ircert.ir.ops.smooth import Power, Product, Reciprocal, Sqrt


def plus(net: Net, *values: Value | None) -> Tensor | Const:
    """The sum; all constants are gathered in one offset."""
    terms = [net.numeric(value) for value in values]
    tensors = [term for term in terms if isinstance(term, Tensor)]
    offsets = [net.numbers(term) for term in terms if isinstance(term, np.ndarray)]
    offset = sum(offsets[1:], offsets[0]) if offsets else np.zeros(())
    if not tensors:
        return np.asarray(offset)
    total = _whole_softplus(net, tensors) or summed_elu(net, tensors) or net.add(*tensors)
    shape = np.broadcast_shapes(total.shape, np.shape(offset))
    return net.shift(net.broadcast(total, shape), np.asarray(offset))


def _whole_softplus(net: Net, terms: list[Tensor]) -> Tensor | None:
    """max(x, 0) + log(1 + exp(-|x|)) is softplus(x), exactly: the way around large numbers."""
    if len(terms) != 2 or terms[0].shape != terms[1].shape:
        return None
    for first, second in (terms, terms[::-1]):
        top, rest = net.op(first), net.op(second)
        if isinstance(top.op, Relu) and isinstance(rest.op, Softplus):
            size = negated(net, rest.operands[0])
            node = None if size is None else net.build.nodes[size]
            if node is not None and isinstance(node.op, Abs) and _is_up_to_sign(net, node.operands[0], top.operands[0]):
                return net.node(Softplus(), Tensor(top.operands[0], first.shape), shape=first.shape)
    return None


def _is_up_to_sign(net: Net, name: str, x: str) -> bool:
    line = line_of(net, name, x)
    return line.base == x and not line.shift and abs(line.scale) == 1


def times(net: Net, a: Value | None, b: Value | None) -> Tensor:
    """a * b: a diagonal map where one is constant, else a product; a comparison times x is a choice of x or 0."""
    for condition, other in ((a, b), (b, a)):
        if isinstance(condition, Comparison):
            return chosen(net, condition, net.numeric(other), np.zeros(()))
    left, right = net.numeric(a), net.numeric(b)
    shape = np.broadcast_shapes(left.shape, right.shape)
    if isinstance(left, np.ndarray):
        left, right = right, left
    x = net.broadcast(net.tensor(left), shape)
    if isinstance(right, np.ndarray):
        return net.scale(x, right)
    other = net.broadcast(right, shape)
    for first, second in ((x, other), (other, x)):
        found = gated(net, first, second) or quotient(net, first, second)
        if found is not None:
            return found
    return net.node(Product(), x, other, shape=shape)


def reciprocal(net: Net, value: Value | None) -> Tensor | Const:
    """1 / value: the nearest double for constants; 1 / (1 + exp(-z)) is sigmoid(z)."""
    if isinstance(value, np.ndarray):
        with np.errstate(all="ignore"):
            return net.numbers(1.0 / np.asarray(value, dtype=np.float64))
    x = net.tensor(value)
    return sigmoid_of(net, x) or net.node(Reciprocal(), x, shape=x.shape)


def _sum(net: Net, call: Call) -> Value:
    return plus(net, *call.inputs)


def _subtract(net: Net, call: Call) -> Value:
    a, b = call.input(0), net.numeric(call.input(1))
    return plus(net, a, -net.numbers(b) if isinstance(b, np.ndarray) else net.negative(b))


def _multiply(net: Net, call: Call) -> Value:
    return times(net, call.input(0), call.input(1))


def _divide(net: Net, call: Call) -> Value:
    return times(net, call.input(0), reciprocal(net, call.input(1)))


def _reciprocal(net: Net, call: Call) -> Value:
    return reciprocal(net, call.tensor(0))


def _negate(net: Net, call: Call) -> Value:
    return net.negative(call.tensor(0))


def _mean(net: Net, call: Call) -> Value:
    return net.scale(net.tensor(plus(net, *call.inputs)), np.array(1.0 / len(call.inputs)))


def _scaler(net: Net, call: Call) -> Value:
    """(x - offset) * scale, the scaler of scikit-learn's exporter."""
    x = call.tensor(0)
    offset, scale = (np.array(call.get(name, [default])) for name, default in (("offset", 0.0), ("scale", 1.0)))
    return net.scale(net.shift(x, -offset), scale)


def _power(net: Net, call: Call) -> Value:
    exponent = call.const(1, "exponent")
    x = call.tensor(0)
    if exponent is None or np.unique(exponent).size != 1:
        raise call.refuse("its exponents differ", "one constant exponent is read")
    x = net.broadcast(x, np.broadcast_shapes(x.shape, exponent.shape))
    n = float(net.numbers(exponent).flat[0])
    if n in (1.0, 2.0, 3.0, 4.0):
        return _integer_power(net, x, int(n))
    return net.node(Sqrt() if n == 0.5 else Reciprocal() if n == -1.0 else Power(n), x, shape=x.shape)


def _integer_power(net: Net, x: Tensor, n: int) -> Tensor:
    if n == 1:
        return x
    half = _integer_power(net, x, n // 2)
    square = net.node(Product(), half, half, shape=x.shape)
    return net.node(Product(), square, x, shape=x.shape) if n % 2 else square


HANDLERS = {
    "Add": _sum,
    "Div": _divide,
    "Mean": _mean,
    "Mul": _multiply,
    "Neg": _negate,
    "Pow": _power,
    "Reciprocal": _reciprocal,
    "Scaler": _scaler,
    "Sub": _subtract,
    "Sum": _sum,
}
