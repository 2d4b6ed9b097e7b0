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
    """J at some slopes of all neurons, exactly."""
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
            values[node.name] = given[0] * np.array([[Fraction(float(s))] for s in slopes[start : start + count]])
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
    minors = slope_minors(graph, on, free, np.arange(graph.output_dim))
    assert minors is not None, "random matrices have an inverse"
    some = free & np.array(data.draw(st.lists(st.booleans(), min_size=len(free), max_size=len(free))))
    other = np.where(free, np.array(data.draw(st.lists(st.booleans(), min_size=len(on), max_size=len(on)))), on)
    assert minors.serves(other & ~some, some)
    exact = [determinant(jacobian(graph, slopes, graph.output_dim)) for slopes in corners(other, some)]
    assert minors.excludes(other & ~some, some) is (min(exact) > 0 or max(exact) < 0)
    listed = SlopeMinors(minors.free, minors.on, minors.matrix, minors.more)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ircert.bounds.slope_minors.MOST_LISTED", -1)
        assert listed.excludes(other & ~some, some) is minors.excludes(other & ~some, some), "one by one as in a list"


def test_other_slopes_are_not_served() -> None:
    graph = setting_of(residual(np.random.default_rng(0), 2, 2), np.zeros(2)).graph
    on, free = np.array([True, False, True, False]), np.array([True, True, False, False])
    minors = slope_minors(graph, on, free, np.arange(2))
    assert minors is not None
    assert not minors.serves(np.array([False, False, True, True]), free), "the last one is off"
    assert not minors.serves(on, ~free)
    assert minors.serves(np.array([False, True, True, False]), np.zeros(4, dtype=bool))


def test_a_singular_corner_says_nothing() -> None:
    """relu(x) at slope 0."""
    graph = setting_of(ircert.load([(np.eye(1), np.zeros(1)), (np.eye(1), np.zeros(1))]), [0.0]).graph
    free = np.array([True])
    assert slope_minors(graph, np.array([False]), free, np.arange(1)) is None
    minors = slope_minors(graph, np.array([True]), free, np.arange(1))
    assert minors is not None
    assert not minors.excludes(np.array([False]), free)
    assert minors.excludes(np.array([True]), np.array([False]))


@pytest.mark.rule("E-21")
@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 24])
@pytest.mark.parametrize("more", [0, 2])
def test_a_singular_matrix_says_nothing_where_no_slope_is_free(size: int, more: int) -> None:
    """A skip that is 0 or the unit, beside a neuron that is off."""
    none = np.zeros(1, dtype=bool)
    for unit in (0.0, 1.0):
        build = ircert.Builder(size)
        inner = build.relu(build.affine(build.input, np.ones((1, size))))
        skip = build.affine(build.input, unit * np.eye(size + more, size))
        graph = build.graph(build.add(skip, build.affine(inner, np.ones((size + more, 1)))))
        minors = slope_minors(graph, none, none, np.arange(size + more))
        assert (minors is None) is (unit == 0.0)
        assert minors is None or minors.excludes(none, none)


def rank_is_full(matrix: list[list[Fraction]]) -> bool:
    """Whether the columns are independent: det(J^T J) != 0."""
    table = np.array(matrix)
    return determinant([list(row) for row in table.T @ table]) != 0


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(1, 3), st.data())
def test_more_outputs_than_inputs(seed: int, n: int, more: int, data: st.DataObject) -> None:
    """No secant of an excluded face has a kernel: at its corners, and at slopes between them."""
    rng = np.random.default_rng(seed)
    graph = setting_of(residual(rng, n, 2, scale=3.0, outputs=n + more), np.zeros(n)).graph
    on, free, some = rng.integers(0, 2, (3, 4)).astype(bool)
    minors = slope_minors(graph, on, free, rng.permutation(n + more))
    assert minors is not None
    face, at = free & some, np.where(free, rng.integers(0, 2, 4).astype(bool), on)
    if minors.excludes(at & ~face, face):
        between = [np.where(face, data.draw(st.integers(0, 8)) / 8, at) for _ in range(4)]
        assert all(rank_is_full(jacobian(graph, slopes, n + more)) for slopes in [*corners(at, face), *between])


def test_outputs_that_tell_all_neurons_apart_leave_no_kernel() -> None:
    """(x - 2 relu(x), 3 relu(x)): the first output folds, and the second one knows where."""
    build = ircert.Builder(1)
    both = build.concat(build.input, build.relu(build.input))
    graph = setting_of(build.graph(build.affine(both, [[1.0, -2.0], [0.0, 3.0]])), [0.0]).graph
    off, free = np.array([False]), np.array([True])
    alone, together = (slope_minors(graph, off, free, np.arange(count)) for count in (1, 2))
    assert alone is not None
    assert together is not None
    assert not alone.excludes(off, free)
    assert together.excludes(off, free)


def test_weights_beyond_floats_once_multiplied() -> None:
    """N has entries that floats do not hold: nothing is said."""
    build = ircert.Builder(1)
    inner = build.relu(build.affine(build.input, [[1e300]]))
    graph = build.graph(build.add(build.input, build.affine(inner, [[1e300]])))
    assert slope_minors(graph, np.array([False]), np.array([True]), np.arange(1)) is None


def test_what_would_take_longer_than_is_left_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    setting = setting_of(residual(np.random.default_rng(0), 7, 4), np.zeros(7))
    free = np.ones(8, dtype=bool)
    given = setting.graph, ~free, free, np.arange(7)
    assert slope_minors(*given) is not None
    monkeypatch.setattr("ircert.bounds.slope_minors.left", lambda: 1e-9)
    assert slope_minors(*given) is None
