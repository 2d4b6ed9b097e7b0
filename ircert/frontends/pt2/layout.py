"""Operations that move entries: shapes, parts, joins; and sizes that are computed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ircert.frontends.pt2.call import Call
from ircert.frontends.pt2.pointwise import Writer
from ircert.frontends.pt2.program import Ref


def _same(call: Call) -> None:
    call.emit("Identity", call.tensor())


def _dropout(call: Call) -> None:
    if call.get("train", True):
        raise call.refuse("it is random", "export the model for inference (model.eval())")
    call.emit("Identity", call.tensor("input"))


def _flatten(call: Call) -> None:
    rank = len(call.shape())
    first, last = call.number("start_dim", 0) % max(1, rank), call.number("end_dim", -1) % max(1, rank)
    shape = [0] * first + [-1] + ([] if last == rank - 1 else call.sizes(first=last + 1))
    call.emit("Reshape", call.tensor(), call.sheet.constant(shape))


def _reshape(call: Call) -> None:
    key = next(name for name in ("shape", "size") if name in call.node.arguments)
    call.emit("Reshape", call.tensor(), _sizes(call, call.get(key)))


def _expand(call: Call) -> None:
    """A size of -1 stays as it is, which is what a size of 1 does to Expand."""
    sizes = [1 if size == -1 else size for size in call.get("size")]
    call.emit("Expand", call.tensor(), _sizes(call, sizes))


def _sizes(call: Call, sizes: Any) -> str:
    """A list of sizes, some of them computed."""
    if all(isinstance(size, int) for size in sizes):
        return call.sheet.constant(sizes)
    one = call.sheet.constant([1])
    parts = [
        call.sheet.add("Reshape", size.name, one) if isinstance(size, Ref) else call.sheet.constant([size])
        for size in sizes
    ]
    return call.sheet.add("Concat", *parts, axis=0)


def _size(call: Call) -> None:
    call.emit("Gather", call.sheet.add("Shape", call.tensor()), call.sheet.constant(call.axis()))


def _computed(op: str) -> Writer:
    """Arithmetic of sizes."""

    def write(call: Call) -> None:
        operands = [
            value.name if isinstance(value, Ref) else call.sheet.constant(value, dtype=np.int64)
            for value in call.node.arguments.values()
        ]
        call.emit(op, *operands)

    return write


def _transpose(call: Call) -> None:
    axes = list(range(len(call.shape())))
    a, b = (call.axis(f"dim{k}") for k in (0, 1))
    axes[a], axes[b] = axes[b], axes[a]
    call.emit("Transpose", call.tensor(), perm=axes)


def _reversed(call: Call) -> None:
    call.emit("Transpose", call.tensor(), perm=list(range(len(call.shape())))[::-1])


def _permute(call: Call) -> None:
    rank = len(call.shape())
    call.emit("Transpose", call.tensor(), perm=[axis % rank for axis in call.numbers("dims")])


def _unsqueeze(call: Call) -> None:
    call.emit("Unsqueeze", call.tensor(), call.sheet.constant([call.axis(more=1)]))


def _squeeze(call: Call) -> None:
    rank = len(call.shape())
    axes = [axis % max(1, rank) for axis in call.numbers("dim", list(range(rank)))]
    ones = [axis for axis in axes if rank and call.shape()[axis] == 1]
    if not ones:
        call.emit("Identity", call.tensor())
    else:
        call.emit("Squeeze", call.tensor(), call.sheet.constant(ones))


def _cat(call: Call) -> None:
    names = [ref.name for ref in call.get("tensors")]
    rank = len(call.meta(call.get("tensors")[0]).shape)
    call.emit("Concat", *names, axis=int(call.number("dim", 0)) % max(1, rank))


def _stack(call: Call) -> None:
    rank = len(call.meta(call.get("tensors")[0]).shape) + 1
    axis = int(call.number("dim", 0)) % rank
    place = call.sheet.constant([axis])
    parts = [call.sheet.add("Unsqueeze", ref.name, place) for ref in call.get("tensors")]
    call.emit("Concat", *parts, axis=axis)


def _split(call: Call) -> None:
    """Into parts, whose sizes along the axis the program knows."""
    axis = call.axis()
    lengths = [call.program.metas[name].shape[axis] for name in call.node.outputs]
    if not all(isinstance(n, int) for n in lengths):
        raise call.refuse("it splits a dimension that is left open")
    call.sheet.split("Split", call.tensor(), call.sheet.constant(lengths), names=call.node.outputs, axis=axis)  # type: ignore[arg-type]


def _slice(call: Call) -> None:
    bounds = [call.get("start"), call.get("end"), call.get("step", 1)]
    first, last, step = (value if value is not None else k * (2**63 - 1) for k, value in enumerate(bounds))
    if not all(isinstance(value, int) for value in (first, last, step)):
        raise call.refuse("its ends are computed")
    parts = [call.sheet.constant([value]) for value in (first, last, call.axis(), step)]
    call.emit("Slice", call.tensor(), *parts)


def _select(call: Call) -> None:
    call.emit("Gather", call.tensor(), call.sheet.constant(int(call.number("index"))), axis=call.axis())


def _index(call: Call) -> None:
    given = [(axis, ref) for axis, ref in enumerate(call.get("indices")) if isinstance(ref, Ref)]
    if len(given) != 1 or call.meta(given[0][1]).dtype != np.int64:
        raise call.refuse("it takes entries by several lists, or by truth values")
    axis, ref = given[0]
    call.emit("Gather", call.tensor(), ref.name, axis=axis)


def _index_select(call: Call) -> None:
    call.emit("Gather", call.tensor(), call.tensor("index"), axis=call.axis())


def _flip(call: Call) -> None:
    rank = len(call.shape())
    axes = [axis % rank for axis in call.numbers("dims")]
    ends = [call.sheet.constant([end] * len(axes)) for end in (-1, -(2**63 - 1))]
    call.emit("Slice", call.tensor(), *ends, call.sheet.constant(axes), call.sheet.constant([-1] * len(axes)))


def _pad(call: Call) -> None:
    """torch names the ends of the last axis first."""
    if call.get("mode", "constant") != "constant":
        raise call.refuse("it pads with other entries", "only constant padding is read")
    pads, rank = call.numbers("pad"), len(call.shape())
    ends = [pads[k::2][::-1] for k in (0, 1)]
    spread = [[0] * (rank - len(end)) + end for end in ends]
    value = call.sheet.constant(call.get("value") or 0.0, dtype=call.dtype)
    call.emit("Pad", call.tensor(), call.sheet.constant(spread[0] + spread[1]), value)


LAYOUT: dict[str, Writer] = {
    **dict.fromkeys(
        (
            *("aten.clone.default", "aten.detach.default", "aten.detach_.default", "aten.alias.default"),
            *("aten.contiguous.default", "aten.lift_fresh_copy.default", "aten.lift_fresh.default"),
        ),
        _same,
    ),
    **dict.fromkeys(("aten.dropout.default", "aten.dropout_.default", "aten.feature_dropout.default"), _dropout),
    **dict.fromkeys(("aten.reshape.default", "aten.view.default", "aten._unsafe_view.default"), _reshape),
    **dict.fromkeys(("aten.chunk.default", "aten.split.Tensor", "aten.split_with_sizes.default"), _split),
    **dict.fromkeys(("aten.squeeze.dim", "aten.squeeze.dims", "aten.squeeze.default"), _squeeze),
    **dict.fromkeys(("aten.pad.default", "aten.constant_pad_nd.default"), _pad),
    **dict.fromkeys(("aten.t.default", "aten.numpy_T.default"), _reversed),
    "aten.split.sizes": _split,
    "aten.flatten.using_ints": _flatten,
    "aten.expand.default": _expand,
    "aten.transpose.int": _transpose,
    "aten.permute.default": _permute,
    "aten.unsqueeze.default": _unsqueeze,
    "aten.cat.default": _cat,
    "aten.stack.default": _stack,
    "aten.slice.Tensor": _slice,
    "aten.select.int": _select,
    "aten.index.Tensor": _index,
    "aten.index_select.default": _index_select,
    "aten.flip.default": _flip,
    "aten.sym_size.int": _size,
    "_operator.mul": _computed("Mul"),
    "_operator.add": _computed("Add"),
    "_operator.sub": _computed("Sub"),
    "_operator.floordiv": _computed("Div"),
}
