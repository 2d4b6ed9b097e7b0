"""Bounds on differences hold for differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ircert
from ircert.bounds.slopes import slope_bounds
from ircert.bounds.symbolic import symbolic_bounds
from ircert.ir.build import needed_nodes
from ircert.ir.graph import Graph
from ircert.passes.product import canonical
from ircert.query import Ball, Query
from ircert.testing import graphs, mlps, residual_networks


def box(low: object, high: object) -> Ball:
    low, high = np.asarray(low, float), np.asarray(high, float)
    return Ball(np.zeros(len(low)), float(np.abs([low, high]).max()), "inf", low, high)


@pytest.mark.rule("B-3")
@settings(deadline=None, max_examples=60)
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
