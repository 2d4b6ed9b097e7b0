"""Each operation against a reference written out in plain loops, in floats and in exact rationals."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ircert.errors import OpError
from ircert.ir.build import Builder
from ircert.ir.graph import Graph
from ircert.ir.ops import Abs, Add, AveragePool, Clip, Concat, Conv, Input, LeakyRelu, Max, MaxPool, Min, Op, Select
from ircert.passes.canonicalize import Canonicalize
from ircert.testing import assert_preserves, numbers

Vector = list[Fraction]


def values(size: int) -> st.SearchStrategy[list[float]]:
    return st.lists(st.one_of(numbers("dyadic"), numbers("float64")), min_size=size, max_size=size)


def apply(op: Op, *operands: list[float]) -> Graph:
    """A graph that applies the operation to consecutive parts of its input."""
    build = Builder(sum(len(x) for x in operands))
    parts, start = [], 0
    for x in operands:
        parts.append(build.select(build.input, range(start, start + len(x))))
        start += len(x)
    return build.graph(build.node(op, *parts))


def check(op: Op, reference: Callable[..., Vector], *operands: list[float]) -> None:
    graph = apply(op, *operands)
    x = [v for operand in operands for v in operand]
    wanted = reference(*([Fraction(v) for v in operand] for operand in operands))
    assert graph.exact(x).tolist() == wanted
    assert np.allclose(graph(x), [float(v) for v in wanted], rtol=1e-12, atol=1e-12)
    assert graph(np.array([x, x])).shape == (2, len(wanted))
    if not op.core:
        assert_preserves(Canonicalize(), graph, points=[x])


@pytest.mark.rule("IR-12", "IR-13")
@given(values(3), values(3), values(3))
def test_entrywise_operations(a: list[float], b: list[float], c: list[float]) -> None:
    check(Add(), lambda *xs: [sum(t) for t in zip(*xs, strict=True)], a, b, c)
    check(Max(), lambda *xs: [max(t) for t in zip(*xs, strict=True)], a, b, c)
    check(Min(), lambda *xs: [min(t) for t in zip(*xs, strict=True)], a, b, c)
    check(Abs(), lambda x: [abs(v) for v in x], a)
    check(Concat(), lambda *xs: [v for x in xs for v in x], a, b, c)
    check(Select(np.array([2, 0, 2])), lambda x: [x[2], x[0], x[2]], a)


@pytest.mark.rule("IR-13")
@given(values(3), st.one_of(values(3), values(1)))
def test_leaky_relu(x: list[float], slope: list[float]) -> None:
    slopes = [Fraction(s) for s in (slope * 3 if len(slope) == 1 else slope)]
    check(LeakyRelu(np.array(slope)), lambda v: [t if t >= 0 else s * t for t, s in zip(v, slopes, strict=True)], x)


@pytest.mark.rule("IR-13")
@pytest.mark.parametrize(("slope", "nodes"), [(0.25, 5), (0.01, 6)])
def test_leaky_relu_takes_one_relu_per_entry(slope: float, nodes: int) -> None:
    """Also where 1 - slope rounds."""
    lowered = Canonicalize().run(apply(LeakyRelu(np.array([slope])), [1.0, 2.0])).result
    assert len(lowered) == nodes
    assert sum(lowered.sizes[n.name] for n in lowered.nodes if n.op.kind == "relu") == 2


@pytest.mark.rule("IR-13")
@given(values(2), st.none() | values(2), st.none() | values(1))
def test_clip(x: list[float], low: list[float] | None, high: list[float] | None) -> None:
    if low is None and high is None:
        with pytest.raises(OpError, match="low, high or both"):
            Clip()
        return

    def reference(v: Vector) -> Vector:
        raised = v if low is None else [max(t, Fraction(b)) for t, b in zip(v, low, strict=True)]
        return raised if high is None else [min(t, Fraction(high[0])) for t in raised]

    check(Clip(None if low is None else np.array(low), None if high is None else np.array(high)), reference, x)


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


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Input(0), "positive integer"),
        (lambda: Input(True), "positive integer"),
        (lambda: Select(np.array([], dtype=int)), "non-empty"),
        (lambda: Select(np.array([-1])), "between 0 and"),
        (lambda: Select(np.array([0.5])), "integers"),
        (lambda: LeakyRelu(np.array([])), "empty"),
        (lambda: LeakyRelu(np.array([[0.1]])), "1 dimension"),
        (lambda: Conv((1, 3), np.zeros((1, 1, 4))), "larger than the padded image"),
        (lambda: Conv((2, 3), np.zeros((1, 1, 2))), "does not fit 2 channels"),
        (lambda: Conv((2, 3), np.zeros((3, 1, 2)), groups=2), "groups must divide"),
        (lambda: Conv((1, 3), np.zeros((1, 1, 2)), np.zeros(2)), "bias has 2"),
        (lambda: Conv((1, 3), np.zeros((1, 1, 2)), stride=(0,)), "stride"),
        (lambda: Conv((1, 3), np.zeros((1, 1, 2)), padding=(1,)), "padding must be 2 integers"),
        (lambda: Conv((1, 3), np.zeros((1, 1, 2)), padding=(1.5, 0)), "list of integers"),  # type: ignore[arg-type]
        (lambda: MaxPool((1, 2), (1,), padding=(1, 0)), "wholly on the padding"),
        (lambda: MaxPool((0, 2), (1,)), "positive"),
        (lambda: AveragePool((3,), ()), "channels"),
    ],
)
def test_wrong_attributes_are_refused(make: Callable[[], Op], says: str) -> None:
    with pytest.raises(OpError, match=says):
        make()
