"""Einsum of one or two operands: sums of products over named axes."""

from __future__ import annotations

import math
import re

import numpy as np

from ircert.frontends.onnx.net import Net
from ircert.frontends.onnx.values import Call, Const, Tensor, Value, require_size
from ircert.ir.ops.smooth import Product


def _einsum(net: Net, call: Call) -> Value:
    """Every entry of the result is a sum of terms; `_spread` says which entries each term multiplies."""
    operands = [net.numeric(value) for value in call.inputs]
    labels, result = _parsed(call, len(operands))
    sizes = _sizes(call, operands, labels)
    summed = [axis for axis in sizes if axis not in result]
    order = [*result, *summed]
    require_size(math.prod(sizes.values()), call.where)
    shape = tuple(sizes[axis] for axis in result)
    grid = (math.prod(shape), math.prod(sizes[axis] for axis in summed))
    places = [_spread(value, names, order, sizes).reshape(grid) for value, names in zip(operands, labels, strict=True)]
    tensors = [(value, place) for value, place in zip(operands, places, strict=True) if isinstance(value, Tensor)]
    weight = np.ones(grid)
    for value, place in zip(operands, places, strict=True):
        if isinstance(value, np.ndarray):
            weight = weight * net.numbers(value).ravel()[place]
    x, columns = tensors[0]
    if len(tensors) == 1:
        return net.gather(x, columns, weight, shape=shape)
    other, more = tensors[1]
    products = net.node(Product(), net.select(x, columns), net.select(other, more), shape=grid)
    return net.gather(products, products.index, weight, shape=shape)


def _parsed(call: Call, count: int) -> tuple[list[str], str]:
    equation = re.sub(r"\s", "", call.get("equation", b"").decode())
    terms, arrow, result = equation.partition("->")
    labels = terms.split(",")
    if not re.fullmatch(r"[A-Za-z,]*(->[A-Za-z]*)?", equation) or len(labels) != count or count > 2:
        raise call.refuse(f"the equation {equation!r}", "one or two operands with named axes are read, without `...`")
    if not arrow:
        result = "".join(axis for axis in sorted(set(terms) - {","}) if terms.count(axis) == 1)
    return labels, result


def _sizes(call: Call, operands: list[Tensor | Const], labels: list[str]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for value, names in zip(operands, labels, strict=True):
        if len(names) != len(value.shape):
            raise call.refuse(f"axes `{names}` for the shape {value.shape}")
        for axis, n in zip(names, value.shape, strict=True):
            if sizes.setdefault(axis, n) != n:
                raise call.refuse(f"the axis `{axis}` has the sizes {sizes[axis]} and {n}")
    return sizes


def _spread(value: Tensor | Const, names: str, order: list[str], sizes: dict[str, int]) -> Const:
    """The position in `value` for every combination of the axes in `order`."""
    strides = np.cumprod([1, *reversed(value.shape)])[:-1][::-1]
    places = np.zeros([1] * len(order), dtype=np.int64)
    for axis, stride in zip(names, strides, strict=True):
        steps = np.arange(sizes[axis]) * stride
        places = places + steps.reshape([-1 if other == axis else 1 for other in order])
    return np.broadcast_to(places, [sizes[axis] for axis in order])


HANDLERS = {"Einsum": _einsum}
