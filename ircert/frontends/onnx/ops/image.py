"""Convolution and pooling: the IR's own ops, one image at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from ircert.frontends.onnx.net import Net
from ircert.frontends.onnx.ops.reduce import largest_entry, total
from ircert.frontends.onnx.values import Call, Const, Tensor, Value, require_size
from ircert.ir.arrays import freeze
from ircert.ir.ops import AveragePool, Conv, MaxPool, Op
from ircert.ir.ops.windows import Windows


@dataclass(frozen=True)
class _Geometry:
    """How a kernel moves over an image; padding lists the amounts before each axis, then after each axis."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    declared: tuple[int, ...]  # the padding that the model asks for: less than `padding` where ceil_mode adds a window


def _geometry(call: Call, extent: Sequence[int], kernel: Sequence[int]) -> _Geometry:
    axes = len(extent)
    stride = tuple(call.get("strides", (1,) * axes))
    dilation = tuple(call.get("dilations", (1,) * axes))
    if not (len(kernel) == len(stride) == len(dilation) == axes and min(*kernel, *stride, *dilation) > 0):
        raise call.refuse(f"kernel {tuple(kernel)}, strides {stride}, dilations {dilation} do not fit {axes} axes")
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
    padding = _padding(call, extent, stride, reach)
    ceil = _ceil_padding(extent, stride, reach, padding) if call.get("ceil_mode", 0) else padding
    padded = [n + ceil[a] + ceil[a + axes] for a, n in enumerate(extent)]
    windows = math.prod(max(1, (n - r) // s + 1) for n, r, s in zip(padded, reach, stride, strict=True))
    require_size(windows * math.prod(kernel), call.where)
    return _Geometry(tuple(kernel), stride, ceil, dilation, padding)


def _auto_pad(call: Call) -> str:
    auto: str = call.get("auto_pad", b"NOTSET").decode() or "NOTSET"
    if auto not in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"):
        raise call.refuse(f"auto_pad {auto!r}", "NOTSET, VALID, SAME_UPPER and SAME_LOWER are read")
    return auto


def _padding(call: Call, extent: Sequence[int], stride: Sequence[int], reach: Sequence[int]) -> tuple[int, ...]:
    auto = _auto_pad(call)
    axes = len(extent)
    if auto == "NOTSET":
        pads = tuple(call.get("pads", (0,) * 2 * axes))
        if len(pads) != 2 * axes or min(pads) < 0:
            raise call.refuse(f"pads {pads} do not fit {axes} axes", "two amounts >= 0 per axis are read")
        return pads
    if auto == "VALID":
        return (0,) * 2 * axes
    if call.op != "Conv" and max(call.get("dilations", (1,))) > 1:
        raise call.refuse(f"auto_pad {auto} with dilations", "runtimes differ here: give pads")
    missing = [(-(-n // s) - 1) * s + r - n for n, s, r in zip(extent, stride, reach, strict=True)]
    if min(missing) < 0:  # the operator's text says how much to pad, and not what to leave out
        raise call.refuse(f"auto_pad {auto} where strides skip entries", "runtimes differ here: give pads")
    small, large = [m // 2 for m in missing], [m - m // 2 for m in missing]
    return tuple(small + large if auto == "SAME_UPPER" else large + small)


def _ceil_padding(
    extent: Sequence[int], stride: Sequence[int], reach: Sequence[int], padding: tuple[int, ...]
) -> tuple[int, ...]:
    """Padding at the ends that admits a last, incomplete window, unless that window starts on the padding."""
    axes = len(extent)
    after = []
    for a, (n, s, r) in enumerate(zip(extent, stride, reach, strict=True)):
        before, end = padding[a], padding[a + axes]
        count = -(-(n + before + end - r) // s) + 1
        count -= (count - 1) * s >= n + before
        after.append(max(end, (count - 1) * s + r - n - before))
    return (*padding[:axes], *after)


def _per_image(net: Net, x: Tensor, make: Callable[[tuple[int, ...]], Op], extent: Sequence[int]) -> Tensor:
    """One op for each image of the batch, in the order of the batch."""
    op = make(tuple(x.shape[1:]))
    shape = (op.size(math.prod(x.shape[1:])) // math.prod(extent), *extent)
    if x.shape[0] == 1:
        return net.node(op, x, shape=(1, *shape))
    images = [net.node(op, net.select(x, image), shape=shape) for image in x.index]
    return Tensor(net.concat(*images).node, (x.shape[0], *shape))


def _image_tensor(call: Call) -> Tensor:
    x = call.tensor(0)
    if len(x.shape) < 3:
        raise call.refuse(f"its input has shape {x.shape}", "(batch, channels, axis, …) is read")
    return x


def _weight(net: Net, call: Call) -> Const:
    weight = call.const(1, "weight")
    if weight is None:
        raise call.refuse("its weight is missing")
    if tuple(call.get("kernel_shape", weight.shape[2:])) != weight.shape[2:]:
        raise call.refuse(f"kernel_shape {call.get('kernel_shape', ())} contradicts its weight of shape {weight.shape}")
    return net.numbers(weight)


def _conv(net: Net, call: Call) -> Value:
    x, weight, bias = _image_tensor(call), _weight(net, call), call.const(2, "bias")
    move = _geometry(call, x.shape[2:], weight.shape[2:])
    offset = None if bias is None else net.numbers(bias)
    groups = call.get("group", 1)

    def make(image: tuple[int, ...]) -> Conv:
        return Conv(image, weight, offset, move.stride, move.padding, move.dilation, groups)

    return _per_image(net, x, make, make(tuple(x.shape[1:])).windows.output)


def _conv_transpose(net: Net, call: Call) -> Value:
    """The transpose of the convolution that leads back from the result's image."""
    x, weight, bias = _image_tensor(call), _weight(net, call), call.const(2, "bias")
    groups = call.get("group", 1)
    image, move = _transposed(call, x, weight, groups)
    require_size(math.prod(image) * math.prod(x.shape[1:]) // max(1, min(image)), call.where)
    back = Conv(image, weight, None, move.stride, move.padding, move.dilation, groups)
    if back.windows.output != tuple(x.shape[2:]):
        raise call.refuse("its output shape does not fit its strides")
    matrix = freeze(csr_array(back.affine.weight.T))
    offset = None if bias is None else np.repeat(net.numbers(bias), math.prod(image[1:]))
    parts = [net.affine(net.select(x, part), matrix, offset, shape=image) for part in x.index]
    return Tensor(net.concat(*parts).node, (x.shape[0], *image))


def _transposed(call: Call, x: Tensor, weight: Const, groups: int) -> tuple[tuple[int, ...], _Geometry]:
    extent, axes = x.shape[2:], len(x.shape) - 2
    stride, dilation = (tuple(call.get(name, (1,) * axes)) for name in ("strides", "dilations"))
    extra = tuple(call.get("output_padding", (0,) * axes))
    if min(*stride, *dilation, groups) < 1:
        raise call.refuse("strides, dilations and groups must be positive")
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, weight.shape[2:], strict=True)]
    full = [(n - 1) * s + r + e for n, s, r, e in zip(extent, stride, reach, extra, strict=True)]
    padding = _transposed_padding(call, extent, stride, full)
    size = tuple(f - padding[a] - padding[a + axes] for a, f in enumerate(full))
    return (weight.shape[1] * groups, *size), _Geometry(weight.shape[2:], stride, padding, dilation, padding)


def _transposed_padding(call: Call, extent: Sequence[int], stride: Sequence[int], full: list[int]) -> tuple[int, ...]:
    auto = _auto_pad(call)
    wanted = call.attributes.get("output_shape")
    if wanted is None and auto in ("NOTSET", "VALID"):
        return tuple(call.get("pads", (0,) * 2 * len(extent))) if auto != "VALID" else (0,) * 2 * len(extent)
    size = [n * s for n, s in zip(extent, stride, strict=True)] if wanted is None else list(wanted)[-len(extent) :]
    surplus = [f - n for f, n in zip(full, size, strict=True)]
    if min(surplus) < 0:
        raise call.refuse("its output shape is larger than its input reaches")
    small, large = [m // 2 for m in surplus], [m - m // 2 for m in surplus]
    return tuple(small + large if auto == "SAME_UPPER" else large + small)


def _average_pool(net: Net, call: Call) -> Value:
    x = _image_tensor(call)
    move = _geometry(call, x.shape[2:], call.get("kernel_shape", ()))
    count = bool(call.get("count_include_pad", 0))
    if count and move.declared != move.padding:
        return _rounded_up_average(net, x, move)

    def make(image: tuple[int, ...]) -> AveragePool:
        return AveragePool(image, move.kernel, move.stride, move.padding, move.dilation, count)

    return _per_image(net, x, make, make(tuple(x.shape[1:])).windows.output)


def _rounded_up_average(net: Net, x: Tensor, move: _Geometry) -> Tensor:
    """Means that count the padding the model asks for, but not what ceil_mode adds to it."""
    extent, axes = x.shape[2:], len(x.shape) - 2
    whole = Windows(extent, move.kernel, move.stride, move.padding, move.dilation)
    grown = tuple(n + move.declared[a] + move.declared[a + axes] for a, n in enumerate(extent))
    ends = (0,) * axes + tuple(p - d for p, d in zip(move.padding, move.declared, strict=True))[axes:]
    count = Windows(grown, move.kernel, move.stride, ends, move.dilation).inside.sum(axis=1)
    inside, size = whole.inside, math.prod(extent)
    images = np.arange(math.prod(x.shape[:2]))[:, None, None] * size
    columns = (images + np.where(inside, whole.index, 0)).reshape(-1, inside.shape[1])
    share = np.where(inside, 1.0 / count[:, None], 0.0)
    weight = np.tile(share, (math.prod(x.shape[:2]), 1))
    return net.gather(x, columns, weight, shape=(*x.shape[:2], *whole.output))


def _max_pool(net: Net, call: Call) -> Value:
    x = _image_tensor(call)
    move = _geometry(call, x.shape[2:], call.get("kernel_shape", ()))
    if len([name for name in call.outputs if name]) > 1:
        raise call.refuse("its second output (the places of the maxima) jumps", "only the first output is read")

    def make(image: tuple[int, ...]) -> MaxPool:
        return MaxPool(image, move.kernel, move.stride, move.padding, move.dilation)

    return _per_image(net, x, make, make(tuple(x.shape[1:])).windows.output)


def _global_average_pool(net: Net, call: Call) -> Value:
    x = _image_tensor(call)
    return total(net, x, range(2, len(x.shape)), True, mean=True)


def _global_max_pool(net: Net, call: Call) -> Value:
    x = _image_tensor(call)
    return largest_entry(net, x, range(2, len(x.shape)), True)


HANDLERS = {
    "AveragePool": _average_pool,
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "GlobalAveragePool": _global_average_pool,
    "GlobalMaxPool": _global_max_pool,
    "MaxPool": _max_pool,
}
