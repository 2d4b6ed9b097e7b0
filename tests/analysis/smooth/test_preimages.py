"""Preimages under smooth networks: counts that are known in closed form, and what stays undecided."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ircert
from ircert.analysis.smooth.preimages import UndecidedPreimages
from ircert.errors import QueryError
from ircert.ir.ops.curves import Tanh
from tests.analysis.smooth.known import EDGE, cosine, folded, network


@pytest.mark.rule("FS-4")
@settings(max_examples=12, deadline=None)
@given(st.floats(-0.99, 0.99), st.floats(-1.5, 1.5), st.sampled_from(["inf", "1", "2"]))
def test_all_solutions_of_the_cosine(c: float, y: float, norm: str) -> None:
    """x = ±arccos(c) + 2πk: those in the ball, no others, of alternating orientation."""
    x = np.array([sign * np.arccos(c) + 2 * np.pi * k for sign in (-1, 1) for k in range(-2, 3)])
    gaps = np.linalg.norm(np.column_stack([x - 0.3, np.full(len(x), y)]), ord=float(norm), axis=1)
    if (np.abs(gaps - 8.0) < 1e-9).any():
        return
    found = ircert.preimages(cosine(), [c, y], ([0.3, 0.0], 8.0, norm))
    assert found.complete
    assert np.allclose([p.point[0] for p in found], np.sort(x[gaps < 8]), atol=1e-12)
    for p in found:
        assert abs(p.middle[1] - Fraction(y)) <= p.radius < Fraction(1, 10**12)
        assert p.orientation == -np.sign(np.sin(p.point[0]))
        assert (p.around[0] < p.point).all()
        assert (p.point < p.around[1]).all()


@pytest.mark.rule("FS-4")
@settings(max_examples=10, deadline=None)
@given(st.floats(-1.5, 1.5), st.floats(-1, 1))
def test_three_sheets_or_one(u: float, v: float) -> None:
    """u = t - 2 tanh(t) has three solutions between the values at both folds, and one outside."""
    top = 2 * np.tanh(EDGE) - EDGE
    if abs(abs(u) - top) < 1e-6:
        return
    found = ircert.preimages(folded(), [u, v], ([0.0, 0.0], 6.0))
    assert found.complete
    assert len(found) == (3 if abs(u) < top else 1)
    assert np.allclose([folded()(p.point) for p in found], [u, v], atol=1e-12)


@pytest.mark.rule("FS-5")
def test_what_a_fold_leaves_undecided_is_said() -> None:
    with pytest.warns(UndecidedPreimages, match="undecided in 3 places"):
        found = ircert.preimages(cosine(), [1.0, 0.1], ([0.3, 0.0], 10.0))
    assert len(found) == 0
    assert not found.complete
    middles = found.undecided.mean(axis=1)
    assert np.allclose(np.sort(middles[:, 0]), [-2 * np.pi, 0, 2 * np.pi], atol=1e-5)
    for low, high in found.undecided:
        assert (high - low < 1e-4).all()
    assert str(found).startswith("no preimages; whether there are more is undecided")


@pytest.mark.rule("FS-5")
def test_close_to_a_fold_both_solutions_are_told_apart() -> None:
    found = ircert.preimages(cosine(), [1.0 - 1e-10, 0.0], ([0.3, 0.0], 3.0))
    assert found.complete
    assert [p.orientation for p in found] == [1, -1]
    assert str(found) == "2 preimages; there are no others"


@pytest.mark.rule("FS-5")
def test_a_solution_on_the_border_is_undecided_and_one_beyond_is_none() -> None:
    graph = cosine()
    with pytest.warns(UndecidedPreimages):
        found = ircert.preimages(graph, graph.enclosure([1.0, 0.0]), domain=([0.0, -1.0], [1.0, 1.0]))
    assert len(found) == 0
    assert len(found.undecided) == 1
    assert (found.undecided[0, 0] <= [1.0, 0.0]).all()
    assert (found.undecided[0, 1] >= [1.0, 0.0]).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ircert.preimages(graph, graph.enclosure([1.0, 0.0]), domain=([0.0, -1.0], [1 - 1e-12, 1.0])) == []


@pytest.mark.rule("FS-4")
@pytest.mark.parametrize("norm", ["inf", "1", "2"])
def test_solutions_close_to_the_largest_floats(norm: str) -> None:
    """The sum of both ends of a box is no float there."""
    build = ircert.Builder(2)
    small = build.affine(build.input, 2.0**-1020 * np.eye(2))
    graph = build.graph(build.add(small, build.node(Tanh(), small)))
    found = ircert.preimages(graph, graph.enclosure([1e308, 9.5e307]), ([1e308, 1e308], 2e307, norm))
    assert found.complete
    assert np.allclose([p.point for p in found], [[1e308, 9.5e307]], rtol=1e-12)


def test_networks_of_more_inputs() -> None:
    graph = network(Tanh(), 3, 10)
    point = [0.3, -0.2, 0.1]
    found = ircert.preimages(graph, graph.enclosure(point), (point, 0.75))
    assert found.complete
    assert any(np.allclose(p.point, point, atol=1e-14) for p in found)
    assert all(np.allclose(graph(p.point), graph(point), atol=1e-12) for p in found)


def test_refusals() -> None:
    with pytest.raises(QueryError, match="as many outputs as inputs"):
        ircert.preimages(network(Tanh(), 2, outputs=3), [0.0] * 3, ([0.0, 0.0], 1.0))
    with pytest.raises(QueryError, match="no area"):
        ircert.preimages(cosine(), [0.5, 0.0], ([0.0, 0.0], 1.0), domain=([0.0, 0.0], [1.0, 0.0]))
    with pytest.raises(QueryError, match="2 outputs"):
        ircert.preimages(cosine(), [0.5], ([0.0, 0.0], 1.0))
