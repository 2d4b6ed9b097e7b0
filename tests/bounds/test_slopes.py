"""Bounds on differences hold for differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert.bounds.contraction import keeps_apart, largest_kernel
from ircert.bounds.slopes import slope_bounds
from ircert.bounds.symbolic import symbolic_bounds
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.ir.build import needed_nodes
from ircert.ir.graph import Graph
from ircert.questions.network import lowered as canonical
from ircert.questions.query import Query
from ircert.testing import graphs, mlps, residual_networks
from tests.effort import examples


def box(low: object, high: object) -> Ball:
    low, high = np.asarray(low, float), np.asarray(high, float)
    return Ball(np.zeros(len(low)), float(np.abs([low, high]).max()), Norm.INF, low, high)


@pytest.mark.rule("B-3")
@examples(40)
@given(graphs() | mlps() | residual_networks(), st.integers(0, 10**6))
def test_differences_lie_between_their_bounds(graph: Graph, seed: int) -> None:
    """In exact arithmetic, at pairs of points of the ball whose difference lies in a box."""
    graph = canonical(graph)
    rng = np.random.default_rng(seed)
    n = graph.input_dim
    center = rng.integers(-8, 9, n) / 8
    ball = Query("local", center, 1.0).ball
    values = symbolic_bounds(graph, ball)
    ends = np.sort(rng.integers(-8, 9, (2, n)) / 16, axis=0)
    found = slope_bounds(values, box(*ends))
    for _ in range(4):
        d = ends[0] + rng.integers(0, 9, n) / 8 * (ends[1] - ends[0])
        y = center + rng.integers(-4, 5, n) / 8
        for name in (graph.output, *values.preactivations()):
            part = Graph(needed_nodes({node.name: node for node in graph.nodes}, name), name)
            gap = part.exact(y + d) - part.exact(y)
            assert all(low <= g <= high for low, g, high in zip(found.low[name], gap, found.high[name], strict=True))


def test_slopes_of_decided_neurons_are_known() -> None:
    """Two neurons that are on and off everywhere, one that is open: derivatives 1, 0 and anything between."""
    graph = ircert.load([([[1.0], [1.0], [1.0]], [5.0, -5.0, 0.0]), (np.eye(3), None)])
    values = symbolic_bounds(graph, Query("local", [0.0], 1.0).ball)
    found = slope_bounds(values, box([1.0], [1.0]))
    assert found.low[graph.output] == pytest.approx([1.0, 0.0, 0.0], abs=1e-12)
    assert found.high[graph.output] == pytest.approx([1.0, 0.0, 1.0], abs=1e-12)


def test_linear_functions_beat_intervals() -> None:
    """relu(x) - relu(x) through two layers: the difference of equal slopes is seen as such where they are decided."""
    graph = ircert.load([([[1.0], [1.0]], [2.0, 2.0]), ([[1.0, -1.0]], [0.5]), ([[1.0]], None)])
    values = symbolic_bounds(graph, Query("local", [0.0], 1.0).ball)
    found = slope_bounds(values, box([-1.0], [1.0]))
    assert np.abs([found.low[graph.output], found.high[graph.output]]).max() < 1e-9


def test_matrices_near_the_identity_have_no_kernel() -> None:
    near, wide = np.full((2, 2), 0.24), np.full((2, 2), 0.51)
    assert keeps_apart(np.eye(2) - near, np.eye(2) + near)
    assert not keeps_apart(np.eye(2) - wide, np.eye(2) + wide)
    assert not keeps_apart(np.zeros((2, 2)), np.zeros((2, 2)))
    assert not keeps_apart(np.eye(2)[:1], np.eye(2)[:1])
    assert not keeps_apart(np.full((2, 2), -np.inf), np.full((2, 2), np.inf))


@given(st.integers(0, 10**6))
def test_kernels_of_matrices_between_bounds_are_found(seed: int) -> None:
    """A singular matrix between the bounds, and a vector of its kernel in the box: the bound on |d| holds for it."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 4))
    d = rng.normal(size=n)
    matrix = rng.normal(size=(n + int(rng.integers(0, 2)), n))
    matrix -= np.outer(matrix @ d, d) / (d @ d)
    room = rng.uniform(0, 0.5, (2, *matrix.shape)) + 1e-12
    ends = d - rng.uniform(0, 1, n), d + rng.uniform(0, 1, n)
    largest = largest_kernel(matrix - room[0], matrix + room[1], box(*ends).box)
    assert not keeps_apart(matrix - room[0], matrix + room[1])
    assert largest is not None
    assert (largest >= np.abs(d) * (1 - 1e-9)).all()


def test_vectors_that_cannot_be_in_a_kernel() -> None:
    """d1 = 0 for every matrix, so that no d with d1 >= 1 is left, and of the others only d2 is bounded by the box."""
    low, high = np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 1.0]])
    assert largest_kernel(low, high, box([1.0, -1.0], [2.0, 1.0]).box) is None
    largest = largest_kernel(low, high, box([-2.0, -1.0], [2.0, 1.0]).box)
    assert largest is not None
    assert largest[0] < 1e-9
    assert largest[1] == pytest.approx(1.0)


def test_slopes_beyond_the_floats_exclude_nothing(recwarn: pytest.WarningsRecorder) -> None:
    largest = np.finfo(np.float64).max
    for high in (np.diag([largest, 1.0]), np.full((2, 2), largest)):
        assert not keeps_apart(-high, high)
        ball = Ball(np.zeros(2), 1.0, Norm.INF, np.full(2, -np.inf), np.full(2, np.inf))
        most = largest_kernel(-high, high, ball.box)
        assert most is not None
        assert not (most < 1.0).any()
    assert not recwarn.list
