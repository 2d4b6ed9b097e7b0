"""Ops that move entries: what they do to an array of positions says which entries to select."""

from __future__ import annotations

import math

import numpy as np
from onnx import TensorProto
from scipy.sparse import csr_array

from ircert.frontends.onnx.fold import move
from ircert.frontends.onnx.net import Net
from ircert.frontends.onnx.tensors import FLOATS, type_name
from ircert.frontends.onnx.values import Call, Comparison, Const, Tensor, Value, require_size
from ircert.ir.arrays import freeze


def _moved(net: Net, call: Call) -> tuple[Value, ...]:
    """Run the op itself on the positions 0, 1, …; every other input must be known."""
    x = call.tensor(0)
    others = [call.const(k, f"input {k}") for k in range(1, len(call.inputs))]
    results = move(call, (x.index, *others))
    return tuple(net.select(x, result.astype(np.int64)) for result in results)


def _gather_elements(net: Net, call: Call) -> Value:
    x, chosen, axis = call.tensor(0), call.const(1, "indices"), call.get("axis", 0)
    if chosen is None or chosen.ndim != len(x.shape):
        raise call.refuse(f"its indices do not fit the shape {x.shape}")
    part = tuple(slice(None) if k == axis % chosen.ndim else slice(n) for k, n in enumerate(chosen.shape))
    index = np.where(chosen < 0, chosen + x.shape[axis], chosen)
    return net.select(x, np.take_along_axis(x.index[part], index, axis=axis))


def _scattered(net: Net, call: Call) -> Value:
    """Run the op on the positions of data and updates, laid end to end."""
    if call.get("reduction", b"none") != b"none":
        raise call.refuse("it reduces entries that meet", "only reduction `none`, which moves entries, is read")
    data, updates = net.tensor(call.input(0)), net.tensor(call.input(2))
    (result,) = move(call, (data.index, call.const(1, "indices"), data.index.size + updates.index))
    return net.select(net.concat(data, updates), result.astype(np.int64))


def _identity(net: Net, call: Call) -> Value:
    value = call.input(0)
    if value is None:
        raise call.refuse("its input is missing")
    return value


def _cast(net: Net, call: Call) -> Value:
    """From float to float nothing changes: evaluation is in float64 whatever the model says. A comparison stays one."""
    to = call.get("to", None)
    if to not in FLOATS and not (to == TensorProto.BOOL and isinstance(call.input(0), Comparison)):
        raise call.refuse(f"it rounds computed numbers to {type_name(to)}", "only casts between float types are read")
    return _identity(net, call)


def _cast_like(net: Net, call: Call) -> Value:
    """A constant takes the type of a computed tensor, which is float; a computed tensor keeps it."""
    value, like = call.input(0), call.input(1)
    if isinstance(value, np.ndarray) and isinstance(like, Tensor):
        return value.astype(np.float64)
    if isinstance(value, Tensor) and (
        isinstance(like, Tensor) or (isinstance(like, np.ndarray) and like.dtype.kind == "f")
    ):
        return value
    raise call.refuse("it changes the type of computed numbers", "only casts between float types are read")


def _dropout(net: Net, call: Call) -> tuple[Value, ...]:
    training = call.const(2, "training_mode")
    if training is not None and training.any():
        raise call.refuse("it is in training mode", "export the model for inference (model.eval())")
    x = call.tensor(0)
    return (x, np.ones(x.shape, dtype=bool))


def _shape(net: Net, call: Call) -> Value:
    shape = _shape_of(call)
    return np.array(shape[call.get("start", 0) : call.get("end", len(shape))], dtype=np.int64)


def _size(net: Net, call: Call) -> Value:
    return np.array(math.prod(_shape_of(call)), dtype=np.int64)


def _shape_of(call: Call) -> tuple[int, ...]:
    value = call.input(0)
    if value is None:
        raise call.refuse("its input is missing")
    return value.shape


def _concat(net: Net, call: Call) -> Value:
    """Parts are laid end to end, then their entries put in place (which is nothing for the leading axis)."""
    parts = [net.numeric(value) for value in call.inputs]
    kept = [net.tensor(part) for part in parts if math.prod(part.shape)]
    starts = np.cumsum([0, *(math.prod(part.shape) for part in kept)])
    joined = net.concat(*kept)
    positions = [part.index + start for part, start in zip(kept, starts, strict=False)]
    return net.select(joined, np.concatenate(positions, axis=call.get("axis", 1)))


def _pad(net: Net, call: Call) -> Value:
    """Constant padding is a row of zeros and a bias; the other modes repeat entries of x."""
    x = call.tensor(0)
    mode = call.get("mode", b"constant").decode()
    value = call.const(2, "value")
    fill = np.array(call.get("value", 0.0)) if value is None or value.size == 0 else value
    before, after = _amounts(call, len(x.shape))
    grown = [(max(0, a), max(0, b)) for a, b in zip(before, after, strict=True)]
    require_size(math.prod(n + a + b for n, (a, b) in zip(x.shape, grown, strict=True)), call.where)
    kept = x.index[tuple(slice(max(0, -a), n - max(0, -b)) for n, a, b in zip(x.shape, before, after, strict=True))]
    if mode not in ("constant", "edge", "reflect", "wrap"):
        raise call.refuse(f"mode {mode!r}", "constant, edge, reflect and wrap are read")
    longest = max((max(pair) - n for n, pair in zip(kept.shape, grown, strict=True)), default=-1)
    if (mode == "reflect" and longest >= 0) or (mode == "wrap" and longest > 0):
        raise call.refuse(f"it pads by {grown}, more than the shape {kept.shape} has", "pad by less than the axis")
    filled = {"constant_values": -1} if mode == "constant" else {}
    positions = np.pad(kept, grown, mode=mode, **filled)
    return _placed(net, x, positions, float(net.numbers(fill).reshape(-1)[0]))


def _amounts(call: Call, rank: int) -> tuple[list[int], list[int]]:
    """How much is added (or, if negative, removed) before and after each axis."""
    pads = np.asarray(call.get("pads", call.const(1, "pads")), dtype=np.int64).ravel()
    given = call.const(3, "axes")
    axes = range(rank) if given is None else [int(axis) % rank for axis in given.ravel()]
    before, after = [0] * rank, [0] * rank
    for k, axis in enumerate(axes):
        before[axis], after[axis] = int(pads[k]), int(pads[k + len(pads) // 2])
    return before, after


def _trilu(net: Net, call: Call) -> Value:
    """Entries outside the triangle become zero."""
    x = call.tensor(0)
    (positions,) = move(call, (x.index + 1, *(call.const(k, f"input {k}") for k in range(1, len(call.inputs)))))
    return _placed(net, x, positions.astype(np.int64) - 1, 0.0)


def _placed(net: Net, x: Tensor, positions: Const, value: float) -> Tensor:
    """The entries of x at these positions, and `value` where the position is -1."""
    flat = positions.ravel()
    inside = flat >= 0
    if inside.all():
        return net.select(x, positions)
    starts = np.concatenate([[0], np.cumsum(inside)])
    weight = csr_array((np.ones(inside.sum()), flat[inside], starts), shape=(flat.size, math.prod(x.shape)))
    return net.affine(x, freeze(weight), np.where(inside, 0.0, value), shape=positions.shape)


HANDLERS = {
    **dict.fromkeys(("Flatten", "Reshape", "Squeeze", "Unsqueeze", "Transpose"), _moved),
    **dict.fromkeys(("Split", "Slice", "Gather", "GatherND", "Compress"), _moved),
    **dict.fromkeys(("Expand", "Tile", "DepthToSpace", "SpaceToDepth", "ReverseSequence"), _moved),
    "Cast": _cast,
    "CastLike": _cast_like,
    "Concat": _concat,
    "Dropout": _dropout,
    "GatherElements": _gather_elements,
    "Identity": _identity,
    "Pad": _pad,
    "ScatterElements": _scattered,
    "ScatterND": _scattered,
    "Shape": _shape,
    "Size": _size,
    "Trilu": _trilu,
}
