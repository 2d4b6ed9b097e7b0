"""Determinants of all slopes by few neurons: the same signs as those of whole Jacobians, in rationals."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ircert
from ircert.bounds.slope_minors import SlopeMinors, slope_minors
from ircert.ir.ops import Affine
from tests.engines.boxes.making import determinant, residual, setting_of


def jacobian(graph: ircert.Graph, slopes: Any, constrained: int) -> list[list[Fraction]]:
    """J at slopes of 0 and 1 of all neurons, exactly."""
    n = graph.input_dim
    values: dict[str, Any] = {
        graph.input: np.array([[Fraction(int(i == j)) for j in range(n)] for i in range(n)]),
    }
    start = 0
    for node in graph.nodes:
        given = [values[name] for name in node.operands]
        if isinstance(node.op, Affine):
            weight = node.op.weight if isinstance(node.op.weight, np.ndarray) else node.op.weight.toarray()
            values[node.name] = np.array([[Fraction(v) for v in row] for row in weight.tolist()]) @ given[0]
        elif node.op.kind == "relu":
            count = len(given[0])
            values[node.name] = given[0] * np.array([[Fraction(int(s))] for s in slopes[start : start + count]])
            start += count
        elif node.op.kind == "add":
            values[node.name] = sum(given[1:], given[0])
        elif node.op.kind == "concat":
            values[node.name] = np.concatenate(given)
    return [list(row) for row in values[graph.output][:constrained]]


@st.composite
def questions(draw: st.DrawFn) -> Any:
    """A lowered network with two layers, a corner, and which neurons are free."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, hidden = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    graph = setting_of(residual(rng, n, hidden, scale=draw(st.sampled_from([1.0, 3.0]))), np.zeros(n)).graph
    masks = [draw(st.lists(st.booleans(), min_size=2 * hidden, max_size=2 * hidden)) for _ in range(2)]
    return graph, np.array(masks[0]), np.array(masks[1])


def corners(on: Any, free: Any) -> Any:
    """All slopes of 0 and 1 in a face."""
    for bits in product((False, True), repeat=int(free.sum())):
        found = on & ~free
        found[free] = bits
        yield found


@settings(deadline=None, max_examples=60)
@given(questions(), st.data())
def test_faces_are_excluded_exactly_where_determinants_have_one_sign(question: Any, data: st.DataObject) -> None:
    graph, on, free = question
    minors = slope_minors(graph, on, free, None, graph.output_dim)
    assert minors is not None, "random matrices have an inverse"
    some = free & np.array(data.draw(st.lists(st.booleans(), min_size=len(free), max_size=len(free))))
    other = np.where(free, np.array(data.draw(st.lists(st.booleans(), min_size=len(on), max_size=len(on)))), on)
    assert minors.serves(other & ~some, some)
    exact = [determinant(jacobian(graph, slopes, graph.output_dim)) for slopes in corners(other, some)]
    assert minors.excludes(other & ~some, some) is (min(exact) > 0 or max(exact) < 0)
    listed = SlopeMinors(minors.free, minors.on, minors.matrix)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ircert.bounds.slope_minors.MOST_LISTED", -1)
        assert listed.excludes(other & ~some, some) is minors.excludes(other & ~some, some), "one by one as in a list"


def test_other_slopes_are_not_served() -> None:
    graph = setting_of(residual(np.random.default_rng(0), 2, 2), np.zeros(2)).graph
    on, free = np.array([True, False, True, False]), np.array([True, True, False, False])
    minors = slope_minors(graph, on, free, None, 2)
    assert minors is not None
    assert not minors.serves(np.array([False, False, True, True]), free), "the last one is off"
    assert not minors.serves(on, ~free)
    assert minors.serves(np.array([False, True, True, False]), np.zeros(4, dtype=bool))


def test_a_singular_corner_says_nothing() -> None:
    """relu(x) at slope 0."""
    graph = setting_of(ircert.load([(np.eye(1), np.zeros(1)), (np.eye(1), np.zeros(1))]), [0.0]).graph
    free = np.array([True])
    assert slope_minors(graph, np.array([False]), free, None, 1) is None
    minors = slope_minors(graph, np.array([True]), free, None, 1)
    assert minors is not None
    assert not minors.excludes(np.array([False]), free)
    assert minors.excludes(np.array([True]), np.array([False]))


def test_more_outputs_are_projected() -> None:
    """(x - 2 relu(x), 3 relu(x)) with C = (1, 1): 1 and 2."""
    build = ircert.Builder(1)
    both = build.concat(build.input, build.relu(build.input))
    graph = setting_of(build.graph(build.affine(both, [[1.0, -2.0], [0.0, 3.0]])), [0.0]).graph
    free = np.array([True])
    good = slope_minors(graph, np.array([False]), free, np.array([[1.0, 1.0]]), 2)
    bad = slope_minors(graph, np.array([False]), free, np.array([[1.0, 0.25]]), 2)
    assert good is not None
    assert bad is not None
    assert good.excludes(np.array([False]), free)
    assert not bad.excludes(np.array([False]), free)


def test_weights_beyond_floats_once_multiplied() -> None:
    """N has entries that floats do not hold: nothing is said."""
    build = ircert.Builder(1)
    inner = build.relu(build.affine(build.input, [[1e300]]))
    graph = build.graph(build.add(build.input, build.affine(inner, [[1e300]])))
    assert slope_minors(graph, np.array([False]), np.array([True]), None, 1) is None
