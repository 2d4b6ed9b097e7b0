"""Reductions along axes: sums and means as sparse affine maps, extremes as pools."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ircert.frontends.onnx.net import Net
from ircert.frontends.onnx.values import Call, Const, Tensor, Value
from ircert.ir.ops import Abs, MaxPool
from ircert.ir.ops.smooth import Product, Sqrt


def groups(x: Tensor, axes: Sequence[int], keepdims: bool) -> tuple[Const, tuple[int, ...]]:
    """(results, members): the positions that are reduced together; and the shape of the result."""
    rank = len(x.shape)
    reduced = sorted({axis + rank if axis < 0 else axis for axis in axes})
    if any(not 0 <= axis < rank for axis in reduced):
        raise ValueError(f"axes {list(axes)} do not fit the shape {x.shape}")
    kept = [axis for axis in range(rank) if axis not in reduced]
    members = x.index.transpose([*kept, *reduced]).reshape(int(np.prod([x.shape[axis] for axis in kept])), -1)
    full = tuple(1 if axis in reduced else n for axis, n in enumerate(x.shape))
    return members, full if keepdims else tuple(x.shape[axis] for axis in kept)


def total(net: Net, x: Tensor, axes: Sequence[int], keepdims: bool, *, mean: bool = False) -> Tensor:
    """The sum over some axes; a mean is the sum times the double nearest to 1 / count."""
    members, shape = groups(x, axes, keepdims)
    share = 1.0 / members.shape[1] if mean else 1.0
    return net.gather(x, members, np.full(members.shape, share), shape=shape)


def _arguments(call: Call) -> tuple[Tensor, list[int] | None, bool]:
    """The tensor, its axes (None: nothing is reduced) and whether reduced axes stay."""
    x = call.tensor(0)
    given = call.attributes.get("axes", call.const(1, "axes"))
    axes = [] if given is None else [int(axis) for axis in np.asarray(given).ravel()]
    if not axes:
        axes_or_none = None if call.get("noop_with_empty_axes", 0) else list(range(len(x.shape)))
        return x, axes_or_none, bool(call.get("keepdims", 1))
    return x, axes, bool(call.get("keepdims", 1))


def _sum_of(prepare: Callable[[Net, Tensor], Tensor], *, mean: bool = False) -> Callable[[Net, Call], Value]:
    def handler(net: Net, call: Call) -> Value:
        x, axes, keepdims = _arguments(call)
        prepared = prepare(net, x)
        return prepared if axes is None else total(net, prepared, axes, keepdims, mean=mean)

    return handler


def largest_entry(net: Net, x: Tensor, axes: Sequence[int], keepdims: bool) -> Tensor:
    """The largest entry over some axes: a pool over rows of members."""
    members, shape = groups(x, axes, keepdims)
    rows = net.select(x, members)
    if members.shape[1] == 1:
        return Tensor(rows.node, shape)
    return net.node(MaxPool(members.shape, members.shape[1:]), rows, shape=shape)


def _reduce_max(net: Net, call: Call) -> Value:
    x, axes, keepdims = _arguments(call)
    return x if axes is None else largest_entry(net, x, axes, keepdims)


def _reduce_min(net: Net, call: Call) -> Value:
    """min(x) = -max(-x)."""
    x, axes, keepdims = _arguments(call)
    return x if axes is None else net.negative(largest_entry(net, net.negative(x), axes, keepdims))


def _same(net: Net, x: Tensor) -> Tensor:
    return x


def _absolute(net: Net, x: Tensor) -> Tensor:
    return net.node(Abs(), x, shape=x.shape)


def _square(net: Net, x: Tensor) -> Tensor:
    return net.node(Product(), x, x, shape=x.shape)


def _euclidean(net: Net, call: Call) -> Value:
    squares = net.tensor(_sum_of(_square)(net, call))
    return net.node(Sqrt(), squares, shape=squares.shape)


HANDLERS = {
    "ReduceL1": _sum_of(_absolute),
    "ReduceL2": _euclidean,
    "ReduceMax": _reduce_max,
    "ReduceMean": _sum_of(_same, mean=True),
    "ReduceMin": _reduce_min,
    "ReduceSum": _sum_of(_same),
    "ReduceSumSquare": _sum_of(_square),
}
