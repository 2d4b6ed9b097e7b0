"""Entrywise operations: floats, exact values and lowered graphs against references."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

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
