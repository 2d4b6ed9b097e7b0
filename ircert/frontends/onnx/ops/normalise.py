"""Normalisations: batch normalisation is affine; layer normalisation and softmax are smooth."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ircert.frontends.onnx.net import Net
from ircert.frontends.onnx.ops.arithmetic import plus, times
from ircert.frontends.onnx.ops.reduce import total
from ircert.frontends.onnx.values import Call, Tensor, Value
from ircert.ir.arrays import Array, diagonal, freeze
from ircert.ir.ops import smooth


def _batch_normalization(net: Net, call: Call) -> Value:
    """x * a + (bias - mean * a) with a = scale / sqrt(variance + epsilon), rounded once here in float64."""
    trained = call.opset < 14 and len([name for name in call.outputs if name]) > 1
    if call.get("training_mode", 0) or trained or not call.get("spatial", 1):
        raise call.refuse("it is in training mode or not per channel", "export the model for inference (model.eval())")
    x = call.tensor(0)
    scale, bias, mean, variance = (_parameter(net, call, k, name) for k, name in enumerate(_BATCH_INPUTS, start=1))
    with np.errstate(all="ignore"):
        factor = net.numbers(scale / np.sqrt(variance + call.real("epsilon", 1e-5)))
    offset = net.numbers(bias - mean * factor)
    per_channel = (-1,) + (1,) * (len(x.shape) - 2)
    weights, offsets = (np.broadcast_to(v.reshape(per_channel), x.shape).ravel() for v in (factor, offset))
    return net.affine(x, freeze(diagonal(weights)), offsets.copy(), shape=x.shape)


_BATCH_INPUTS = ("scale", "bias", "mean", "variance")


def _parameter(net: Net, call: Call, k: int, name: str) -> Array:
    value = call.const(k, name)
    if value is None:
        raise call.refuse(f"its {name} is missing")
    return net.numbers(value)


def _layer_normalization(net: Net, call: Call) -> tuple[Value, ...]:
    """(x - mean) / sqrt(variance + epsilon) * scale + bias over the axes from `axis` on."""
    x = call.tensor(0)
    first = call.get("axis", -1) % len(x.shape)
    axes = range(first, len(x.shape))
    mean = total(net, x, axes, True, mean=True)
    centred = net.add(x, net.negative(mean))
    inverse = _inverse_deviation(net, centred, axes, call.real("epsilon", 1e-5))
    scaled = times(net, times(net, centred, inverse), net.numeric(call.input(1)))
    bias = call.input(2)
    return (scaled if bias is None else plus(net, scaled, bias), mean, inverse)


def _inverse_deviation(net: Net, centred: Tensor, axes: Sequence[int], epsilon: float) -> Tensor:
    squares = net.node(smooth.Product(), centred, centred, shape=centred.shape)
    variance = net.shift(total(net, squares, axes, True, mean=True), np.array(epsilon))
    deviation = net.node(smooth.Sqrt(), variance, shape=variance.shape)
    return net.node(smooth.Reciprocal(), deviation, shape=deviation.shape)


def _softmax(net: Net, call: Call) -> Value:
    """Over one axis; before operator set 13 over all axes from `axis` on."""
    x = call.tensor(0)
    kind = smooth.LogSoftmax if call.op == "LogSoftmax" else smooth.Softmax
    axis = call.get("axis", -1 if call.opset >= 13 else 1)
    if not -len(x.shape) <= axis < len(x.shape):
        raise call.refuse(f"axis {axis} does not fit the shape {x.shape}")
    if call.opset < 13:
        group = math.prod(x.shape[axis % len(x.shape) :])
        return net.node(kind(group), x, shape=x.shape)
    last = net.select(x, np.moveaxis(x.index, axis, -1))
    result = net.node(kind(last.shape[-1]), last, shape=last.shape)
    return net.select(result, np.moveaxis(result.index, -1, axis))


HANDLERS = {
    "BatchNormalization": _batch_normalization,
    "LayerNormalization": _layer_normalization,
    "LogSoftmax": _softmax,
    "Softmax": _softmax,
}
