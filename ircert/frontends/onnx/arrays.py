"""ONNX ops on known arrays, each in the arrays' own types: shape arithmetic, masks, and ops that move entries.

Arithmetic rounds, and integers wrap, as the file's types say. That matters where a number decides something: a size
such as floor(10 * 0.7f) is 7 in float32 and 6 in float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
from onnx import numpy_helper
from onnx.helper import tensor_dtype_to_np_dtype

from ircert.frontends.onnx.tensors import READ, is_float, type_name
from ircert.frontends.onnx.values import Call, Const, require_size

Arrays = Sequence[Const]


def _joined(ufunc: Callable[..., Any]) -> Callable[[Call, Arrays], Const]:
    """Any number of arrays, broadcast together, one after the other."""

    def apply(call: Call, arrays: Arrays) -> Const:
        _require_broadcast(call, arrays)
        return np.asarray(reduce(ufunc, arrays))

    return apply


def _require_broadcast(call: Call, arrays: Arrays) -> None:
    require_possible(math.prod(np.broadcast_shapes(*(array.shape for array in arrays))), call)


def require_possible(count: int, call: Call) -> None:
    """Refuse results whose size is a claim of the file rather than a consequence of the data in it."""
    if count:
        require_size(count, call.where)


def _divide(call: Call, arrays: Arrays) -> Const:
    """Integers divide towards zero."""
    a, b = arrays
    _require_broadcast(call, arrays)
    if is_float(a.dtype):
        return np.asarray(a / b)
    if not np.all(b):
        raise call.refuse("it divides an integer by zero")
    quotient = np.asarray(np.abs(a) // np.abs(b))
    return np.where((a < 0) != (b < 0), -quotient, quotient).astype(a.dtype)


def _modulo(call: Call, arrays: Arrays) -> Const:
    a, b = arrays
    _require_broadcast(call, arrays)
    if call.get("fmod", 0):
        return np.asarray(np.fmod(a, b))
    if is_float(a.dtype) or not np.all(b):
        raise call.refuse("it takes the remainder of floats without fmod, or of a division by zero")
    return np.asarray(np.mod(a, b))


def _power(call: Call, arrays: Arrays) -> Const:
    base, exponent = arrays
    _require_broadcast(call, arrays)
    if is_float(base.dtype) or is_float(exponent.dtype):
        return _cast_to(call, np.power(base.astype(np.float64), exponent.astype(np.float64)), base.dtype)
    if np.any(exponent < 0):
        raise call.refuse("it raises integers to negative powers")
    return np.asarray(np.power(base, exponent.astype(base.dtype)))


def _mean(call: Call, arrays: Arrays) -> Const:
    total = _joined(np.add)(call, arrays)
    return np.asarray(total / total.dtype.type(len(arrays)))


def _negate(call: Call, arrays: Arrays) -> Const:
    return np.asarray(-arrays[0])


def _one(ufunc: Callable[..., Any]) -> Callable[[Call, Arrays], Const]:
    def apply(call: Call, arrays: Arrays) -> Const:
        return np.asarray(ufunc(arrays[0])).astype(arrays[0].dtype)

    return apply


def _test(ufunc: Callable[..., Any]) -> Callable[[Call, Arrays], Const]:
    def apply(call: Call, arrays: Arrays) -> Const:
        _require_broadcast(call, arrays)
        return np.asarray(ufunc(*arrays))

    return apply


def _where(call: Call, arrays: Arrays) -> Const:
    _require_broadcast(call, arrays)
    return np.where(arrays[0].astype(bool), arrays[1], arrays[2])


def _cast(call: Call, arrays: Arrays) -> Const:
    to = call.get("to", 0)
    if to not in READ:
        raise call.refuse(f"it makes {type_name(to)} numbers", "floats, integers and bool are read")
    return _cast_to(call, arrays[0], np.dtype(tensor_dtype_to_np_dtype(to)))


def _cast_like(call: Call, arrays: Arrays) -> Const:
    return _cast_to(call, arrays[0], arrays[1].dtype)


def _cast_to(call: Call, array: Const, dtype: Any) -> Const:
    """Floats become integers towards zero; what no integer of the type is near is refused."""
    if is_float(array.dtype) and np.dtype(dtype).kind in "iu":
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        cut = np.trunc(array.astype(np.float64))
        if not np.all((cut >= low) & (cut < float(high) + 1)):
            raise call.refuse("it makes integers of numbers that none can hold")
    if is_float(array.dtype) and np.dtype(dtype).kind == "b":
        return np.asarray(array != 0)
    return np.asarray(array).astype(dtype)


# --- shapes ---------------------------------------------------------------------------------------------------------


def _axes(call: Call, values: Any, rank: int) -> list[int]:
    axes = [int(axis) for axis in np.asarray(values).ravel()]
    if any(not -rank <= axis < rank for axis in axes) or len({axis % rank for axis in axes}) < len(axes):
        raise call.refuse(f"axes {axes} do not fit {rank} axes")
    return [axis % rank for axis in axes]


def _squeeze(call: Call, arrays: Arrays) -> Const:
    data = arrays[0]
    given = call.attributes.get("axes", arrays[1] if len(arrays) > 1 else None)
    ones = [k for k, n in enumerate(data.shape) if n == 1]
    return np.squeeze(data, axis=tuple(ones if given is None else _axes(call, given, data.ndim)))


def _unsqueeze(call: Call, arrays: Arrays) -> Const:
    """The axes count in the result."""
    data = arrays[0]
    given = np.asarray(call.attributes["axes"] if "axes" in call.attributes else arrays[1])
    axes = _axes(call, given, data.ndim + given.size)
    rest = iter(data.shape)
    return data.reshape([1 if k in axes else next(rest) for k in range(data.ndim + len(axes))])


_OPEN_ENDS = (2**31 - 1, 2**63 - 1)


def _slice(call: Call, arrays: Arrays) -> Const:
    """Starts and ends beyond an axis are cut to it, on either side, before anything is taken."""
    data = arrays[0]
    old = "starts" in call.attributes
    starts, ends = (np.asarray(call.get(name, None) if old else arrays[k]) for k, name in ((1, "starts"), (2, "ends")))
    given = call.attributes.get("axes") if old else call.input(3)
    steps = np.ones(starts.size, dtype=np.int64) if old or call.input(4) is None else np.asarray(call.input(4))
    axes = list(range(starts.size)) if given is None else _axes(call, given, data.ndim)
    if not len(axes) == starts.size == ends.size == steps.size or len(axes) > data.ndim or not np.all(steps):
        raise call.refuse("its starts, ends, axes and steps do not fit each other")
    if any(end in _OPEN_ENDS and step < 0 for end, step in zip(ends.tolist(), steps.tolist(), strict=True)):
        raise call.refuse("it counts down to the largest integer", "runtimes differ here: end at the smallest integer")
    for axis, start, end, step in zip(axes, starts.tolist(), ends.tolist(), steps.tolist(), strict=True):
        data = np.take(data, _taken(data.shape[axis], start, end, step), axis=axis)
    return data


def _taken(n: int, start: int, end: int, step: int) -> Const:
    low, high = (0, n) if step > 0 else (-1, n - 1)
    start = min(max(start + n if start < 0 else start, max(low, 0)), high)
    end = min(max(end + n if end < 0 else end, low), high)
    return np.array(range(start, end, step), dtype=np.int64)


def _reshape(call: Call, arrays: Arrays) -> Const:
    data, wanted = arrays[0], [int(n) for n in arrays[1].ravel()]
    if not call.get("allowzero", 0):
        wanted = [data.shape[k] if n == 0 else n for k, n in enumerate(wanted)]
    if any(n < -1 for n in wanted):
        raise call.refuse(f"the shape {wanted}")
    return data.reshape(wanted)


def _flatten(call: Call, arrays: Arrays) -> Const:
    data, axis = arrays[0], call.get("axis", 1)
    if not -data.ndim <= axis <= data.ndim:
        raise call.refuse(f"axis {axis} does not fit the shape {data.shape}")
    return data.reshape(math.prod(data.shape[: axis if axis >= 0 else axis + data.ndim]), -1)


def _transpose(call: Call, arrays: Arrays) -> Const:
    return np.transpose(arrays[0], call.attributes.get("perm"))


def _expand(call: Call, arrays: Arrays) -> Const:
    data, shape = arrays[0], tuple(int(n) for n in arrays[1].ravel())
    shape = np.broadcast_shapes(data.shape, shape)
    require_possible(math.prod(shape), call)
    return np.broadcast_to(data, shape)


def _tile(call: Call, arrays: Arrays) -> Const:
    data, repeats = arrays[0], [int(n) for n in arrays[1].ravel()]
    if len(repeats) != data.ndim or any(n < 0 for n in repeats):
        raise call.refuse(f"repeats {repeats} do not fit the shape {data.shape}")
    require_possible(data.size * math.prod(repeats), call)
    return np.tile(data, repeats)


def _concat(call: Call, arrays: Arrays) -> Const:
    require_possible(sum(array.size for array in arrays), call)
    return np.concatenate(arrays, axis=call.get("axis", 1))


def _gather(call: Call, arrays: Arrays) -> Const:
    data, index = arrays
    axis = call.get("axis", 0)
    n = data.shape[axis]
    if index.dtype.kind != "i" or np.any((index < -n) | (index >= n)):
        raise call.refuse(f"its indices leave an axis of length {n}")
    require_possible(data.size // max(1, n) * index.size, call)
    return np.take(data, index, axis=axis)


def _split(call: Call, arrays: Arrays) -> Sequence[Const]:
    """Sizes that the file gives, or equal parts; from operator set 18 on the last part may be smaller."""
    data, axis, count = arrays[0], call.get("axis", 0), len(call.outputs)
    n = data.shape[axis]
    given = call.attributes.get("split", arrays[1] if len(arrays) > 1 else None)
    part = -(-n // call.get("num_outputs", count))
    sizes = [part] * (count - 1) + [n - part * (count - 1)] if given is None else [int(m) for m in given]
    uneven = given is None and call.opset < 18 and n % count
    if uneven or sum(sizes) != n or min(sizes) < 0 or len(sizes) != count or call.get("num_outputs", count) != count:
        raise call.refuse(f"an axis of length {n} does not split into {count} parts", "give the sizes of the parts")
    return np.split(data, np.cumsum(sizes)[:-1], axis=axis)


def _range(call: Call, arrays: Arrays) -> Const:
    start, limit, delta = (array.reshape(()) for array in arrays)
    if not delta or not all(np.isfinite(v.astype(np.float64)) for v in (start, limit, delta)):
        raise call.refuse("its step is zero, or its limits are not finite")
    count = max(0, math.ceil((float(limit) - float(start)) / float(delta)))
    require_possible(count, call)
    steps = np.full(count, delta, dtype=start.dtype)
    steps[:1] = start
    return np.add.accumulate(steps, dtype=start.dtype)


def _constant_of_shape(call: Call, arrays: Arrays) -> Const:
    shape = [int(n) for n in arrays[0].ravel()]
    if any(n < 0 for n in shape):
        raise call.refuse(f"the shape {shape}")
    require_possible(math.prod(shape), call)
    given = call.attributes.get("value")
    if given is not None and (given.data_type not in READ or math.prod(given.dims) != 1):
        raise call.refuse("its value is not one number")
    value = np.zeros(1, dtype=np.float32) if given is None else numpy_helper.to_array(given)
    return np.full(shape, value.reshape(-1)[0], dtype=value.dtype)


def _product(call: Call, arrays: Arrays) -> Const:
    data = arrays[0]
    given = call.attributes.get("axes", arrays[1] if len(arrays) > 1 else [])
    axes = _axes(call, given, data.ndim)
    if not axes and call.get("noop_with_empty_axes", 0):
        return data
    product = data.prod(axis=tuple(axes or range(data.ndim)), dtype=data.dtype)
    kept = [1 if axis in axes or not axes else size for axis, size in enumerate(data.shape)]
    return np.asarray(product).reshape(kept if call.get("keepdims", 1) else np.shape(product))


def _running_sum(call: Call, arrays: Arrays) -> Const:
    data, (axis,) = arrays[0], _axes(call, arrays[1], arrays[0].ndim)
    turned = np.flip(data, axis) if call.get("reverse", 0) else data
    sums = np.cumsum(turned, axis=axis, dtype=data.dtype)
    if call.get("exclusive", 0):
        sums = np.roll(sums, 1, axis)
        sums[tuple(slice(1) if k == axis else slice(None) for k in range(data.ndim))] = 0
    return np.flip(sums, axis) if call.get("reverse", 0) else sums


def _dequantize(call: Call, arrays: Arrays) -> Const:
    """(stored - zero) * scale, with one scale for all or one for each entry of an axis."""
    stored, scale = arrays[0], arrays[1]
    zero = arrays[2] if len(arrays) > 2 else np.zeros_like(scale, dtype=np.int64)
    if stored.dtype.kind not in "iu" or zero.shape != scale.shape or scale.ndim > 1:
        raise call.refuse("its scales are not one for all, or one for each entry of an axis")
    if call.get("block_size", 0) or call.get("output_dtype", 0):
        raise call.refuse("it scales in blocks or to another type", "store its result in the model")
    if scale.ndim:
        (axis,) = _axes(call, [call.get("axis", 1)], stored.ndim)
        shape = [scale.size if k == axis else 1 for k in range(stored.ndim)]
        if scale.size not in (1, stored.shape[axis]):
            raise call.refuse(f"{scale.size} scales for an axis of length {stored.shape[axis]}")
        scale, zero = scale.reshape(shape), zero.reshape(shape)
    return np.asarray((stored.astype(np.int64) - zero.astype(np.int64)).astype(scale.dtype) * scale)


def _shape(call: Call, arrays: Arrays) -> Const:
    shape = arrays[0].shape
    return np.array(shape[call.get("start", 0) : call.get("end", len(shape))], dtype=np.int64)


def _size(call: Call, arrays: Arrays) -> Const:
    return np.array(arrays[0].size, dtype=np.int64)


def _identity(call: Call, arrays: Arrays) -> Const:
    return arrays[0]


OPS: dict[str, Callable[[Call, Arrays], Const | Sequence[Const]]] = {
    "Abs": _one(np.abs),
    "Add": _joined(np.add),
    "And": _test(np.logical_and),
    "Cast": _cast,
    "CastLike": _cast_like,
    "Ceil": _one(np.ceil),
    "Concat": _concat,
    "ConstantOfShape": _constant_of_shape,
    "CumSum": _running_sum,
    "DequantizeLinear": _dequantize,
    "Div": _divide,
    "Equal": _test(np.equal),
    "Expand": _expand,
    "Flatten": _flatten,
    "Floor": _one(np.floor),
    "Gather": _gather,
    "Greater": _test(np.greater),
    "GreaterOrEqual": _test(np.greater_equal),
    "Identity": _identity,
    "IsInf": _test(np.isinf),
    "IsNaN": _test(np.isnan),
    "Less": _test(np.less),
    "LessOrEqual": _test(np.less_equal),
    "Max": _joined(np.maximum),
    "Mean": _mean,
    "Min": _joined(np.minimum),
    "Mod": _modulo,
    "Mul": _joined(np.multiply),
    "Neg": _negate,
    "Not": _test(np.logical_not),
    "Or": _test(np.logical_or),
    "Pow": _power,
    "Range": _range,
    "Reciprocal": _one(np.reciprocal),
    "ReduceProd": _product,
    "Reshape": _reshape,
    "Round": _one(np.rint),
    "Shape": _shape,
    "Sign": _one(np.sign),
    "Size": _size,
    "Slice": _slice,
    "Split": _split,
    "Squeeze": _squeeze,
    "Sub": _joined(np.subtract),
    "Sum": _joined(np.add),
    "Tile": _tile,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
    "Where": _where,
    "Xor": _test(np.logical_xor),
}
