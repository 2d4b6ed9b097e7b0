"""Resize and Upsample with mode `nearest`: every entry of the result is a copy of one entry, axis by axis."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ircert.frontends.onnx.net import Net
from ircert.frontends.onnx.values import Call, Const, Tensor, Value, require_size

_LATER = {"half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"}


def _resize(net: Net, call: Call) -> Value:
    if call.get("mode", b"nearest") != b"nearest":
        remedy = "only mode `nearest` is read; it moves entries and does not blend them"
        raise call.refuse(f"mode {call.get('mode', b'').decode()}", remedy)
    x = call.tensor(0)
    extent, scales = _extent(call, x)
    require_size(math.prod(extent), call.where)
    sources = [_sources(call, n, m, scale) for n, m, scale in zip(x.shape, extent, scales, strict=True)]
    return net.select(x, x.index[np.ix_(*sources)])


def _extent(call: Call, x: Tensor) -> tuple[list[int], list[np.float32]]:
    """The size of each axis of the result, and its factor."""
    modern = call.op == "Resize" and call.opset > 10
    sizes = call.const(3, "sizes") if modern else None
    if modern and call.get("keep_aspect_ratio_policy", b"stretch") != b"stretch":
        raise call.refuse("keep_aspect_ratio_policy", "give the sizes themselves")
    if sizes is not None and sizes.size:
        wanted = _on_axes(call, x, [int(n) for n in sizes], x.shape)
        return [int(n) for n in wanted], [np.float32(m) / np.float32(n) for m, n in zip(wanted, x.shape, strict=True)]
    given = call.attributes.get("scales", call.const(2 if modern else 1, "scales"))
    factors = _on_axes(call, x, [float(s) for s in np.asarray(given).ravel()], (1.0,) * len(x.shape))
    scales = [np.float32(s) for s in factors]
    return [math.floor(n * float(s)) for n, s in zip(x.shape, scales, strict=True)], scales


def _on_axes(call: Call, x: Tensor, values: list[float], default: Sequence[float]) -> list[float]:
    axes = [axis % len(x.shape) for axis in call.get("axes", range(len(x.shape)))]
    if len(values) != len(axes) or not all(value > 0 for value in values):
        raise call.refuse(f"sizes or scales {values} do not fit the shape {x.shape}")
    full = list(default)
    for axis, value in zip(axes, values, strict=True):
        full[axis] = value
    return full


def _sources(call: Call, n: int, m: int, scale: np.float32) -> Const:
    """Which of n entries each of m entries copies; an axis that keeps its size is copied as it is."""
    if n == m and scale == 1:
        return np.arange(n)
    sources = _old_sources(call, n, m, scale) if call.op == "Upsample" or call.opset <= 10 else _new(call, n, m, scale)
    if n == m and not np.array_equal(sources, np.arange(n)):
        raise call.refuse(f"a factor {scale} that keeps an axis of {n}", "runtimes differ here: use the factor 1")
    return sources


def _old_sources(call: Call, n: int, m: int, scale: np.float32) -> Const:
    """Before operator set 11 nothing says how a place between two entries rounds when the image shrinks."""
    places = np.arange(m, dtype=np.float32) / scale
    if scale < 1 and (call.op == "Upsample" or not np.array_equal(places, np.floor(places))):
        raise call.refuse(f"it shrinks an axis by {scale}", "export with operator set 11 or newer")
    return np.clip(np.floor(places), 0, n - 1).astype(np.int64)


def _new(call: Call, n: int, m: int, scale: np.float32) -> Const:
    """In float32, as runtimes compute it."""
    places = np.arange(m, dtype=np.float32)
    match call.get("coordinate_transformation_mode", b"half_pixel"):
        case b"half_pixel":
            origin = (places + np.float32(0.5)) / scale - np.float32(0.5)
        case b"pytorch_half_pixel":
            origin = (places + np.float32(0.5)) / scale - np.float32(0.5) if m > 1 else np.zeros(1, np.float32)
        case b"asymmetric":
            origin = places / scale
        case b"align_corners":
            origin = places * np.float32(n - 1) / np.float32(max(1, m - 1))
        case other:
            raise call.refuse(
                f"coordinate_transformation_mode {other.decode()}", f"read are {', '.join(sorted(_LATER))}"
            )
    return np.clip(_rounded(call, origin), 0, n - 1).astype(np.int64)


def _rounded(call: Call, places: Const) -> Const:
    match call.get("nearest_mode", b"round_prefer_floor"):
        case b"round_prefer_floor":
            return np.ceil(places - np.float32(0.5))
        case b"round_prefer_ceil":
            return np.floor(places + np.float32(0.5))
        case b"floor":
            return np.floor(places)
        case b"ceil":
            return np.ceil(places)
        case other:
            raise call.refuse(f"nearest_mode {other.decode()}", "read are round_prefer_floor, …_ceil, floor and ceil")


HANDLERS = {"Resize": _resize, "Upsample": _resize}
