"""Convolutions and pools against references that go entry by entry."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ircert.ir.ops import AveragePool, Conv, MaxPool, Op
from tests.ir.ops.test_piecewise import Vector, check, values


def windows(op: Any) -> list[tuple[int, ...]]:
    """The first coordinates of every window on the padded image, by the textbook formula."""
    axes = len(op.image) - 1
    kernel = op.weight.shape[2:] if isinstance(op, Conv) else op.kernel
    counts = []
    for a in range(axes):
        padded = op.image[1 + a] + op.padding[a] + op.padding[axes + a]
        counts.append((padded - op.dilation[a] * (kernel[a] - 1) - 1) // op.stride[a] + 1)
    return [
        tuple(k * s - p for k, s, p in zip(w, op.stride, op.padding, strict=False))
        for w in product(*map(range, counts))
    ]


def pixel(op: Any, x: Vector, channel: int, place: tuple[int, ...]) -> Fraction | None:
    if any(not 0 <= p < n for p, n in zip(place, op.image[1:], strict=True)):
        return None
    return x[int(np.ravel_multi_index((channel, *place), op.image))]


def members(op: Any, kernel: tuple[int, ...], x: Vector, channel: int, start: tuple[int, ...]) -> list[Fraction | None]:
    offsets = product(*map(range, kernel))
    places = [tuple(s + d * k for s, d, k in zip(start, op.dilation, offset, strict=True)) for offset in offsets]
    return [pixel(op, x, channel, place) for place in places]


def convolved(op: Conv, x: Vector) -> Vector:
    out, channels = op.weight.shape[:2]
    result = []
    for o in range(out):
        first = o // (out // op.groups) * channels
        for start in windows(op):
            total = Fraction(op.bias[o])  # type: ignore[index]
            for c in range(channels):
                entries = members(op, op.weight.shape[2:], x, first + c, start)
                weights = [Fraction(w) for w in op.weight[o, c].ravel()]
                total += sum(w * v for w, v in zip(weights, entries, strict=True) if v is not None)
            result.append(total)
    return result


def pooled(op: Any, x: Vector) -> Vector:
    result = []
    for channel in range(op.image[0]):
        for start in windows(op):
            entries = members(op, op.kernel, x, channel, start)
            present = [v for v in entries if v is not None]
            if isinstance(op, MaxPool):
                result.append(max(present))
            else:
                count = len(entries) if op.count_padding else max(1, len(present))
                result.append(sum(present, Fraction(0)) * Fraction(1.0 / count))
    return result


@st.composite
def image_operations(draw: st.DrawFn) -> Op:
    axes = draw(st.integers(1, 3))
    image = (draw(st.integers(1, 3)), *(draw(st.integers(1, 4)) for _ in range(axes)))
    dilation = tuple(draw(st.integers(1, 2)) for _ in range(axes))
    kernel = tuple(draw(st.integers(1, max(1, (n - 1) // d + 1))) for n, d in zip(image[1:], dilation, strict=True))
    stride = tuple(draw(st.integers(1, 2)) for _ in range(axes))
    # A window wholly on the padding cannot occur while the padding is smaller than the dilated kernel's first step.
    padding = tuple(
        draw(st.integers(0, 1 if k > 1 and d == 1 else 0)) for k, d in zip(kernel * 2, dilation * 2, strict=True)
    )
    kind = draw(st.sampled_from(["conv", "average", "max"]))
    if kind == "average":
        return AveragePool(image, kernel, stride, padding, dilation, draw(st.booleans()))
    if kind == "max":
        return MaxPool(image, kernel, stride, padding, dilation)
    groups = draw(st.sampled_from([g for g in (1, 2, 3) if image[0] % g == 0]))
    shape = (groups * draw(st.integers(1, 2)), image[0] // groups, *kernel)
    size = int(np.prod(shape))
    weight = np.array(draw(values(size))).reshape(shape)
    return Conv(image, weight, np.array(draw(values(shape[0]))), stride, padding, dilation, groups)


@pytest.mark.rule("IR-12", "IR-13")
@given(image_operations(), st.data())
def test_images(op: Any, data: st.DataObject) -> None:
    x = data.draw(values(int(np.prod(op.image))))
    check(op, lambda v: convolved(op, v) if isinstance(op, Conv) else pooled(op, v), x)
