"""Bounds by linear functions of the input, where they are known by hand."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.bounds.interval import interval_bounds
from ircert.bounds.symbolic import backward_bounds, relaxation, symbolic_bounds
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm


def ball(norm: Norm = Norm.INF) -> Ball:
    return Ball(np.zeros(2), 1.0, norm, np.full(2, -np.inf), np.full(2, np.inf))


@pytest.mark.parametrize(
    ("low", "high", "slope", "offset", "alpha"),
    [(1, 3, 1, 0, 1), (-3, -1, 0, 0, 0), (-1, 1, 0.5, 0.5, 0), (-1, 3, 0.75, 0.75, 1), (-3, 1, 0.25, 0.75, 0)],
)
def test_lines_around_a_relu(low: float, high: float, slope: float, offset: float, alpha: float) -> None:
    found = [part[0] for part in relaxation(np.array([float(low)]), np.array([float(high)]))]
    assert found == pytest.approx([slope, offset, alpha])
    assert found[1] >= offset


def test_what_cancels_is_seen_and_intervals_do_not() -> None:
    """(x1 + x2) - (x1 + x2) behind two relus that are on."""
    build = ircert.Builder(2)
    both = build.relu(build.affine(build.input, np.ones((2, 2)), [4.0, 4.0]))
    graph = build.graph(build.affine(both, [[1.0, -1.0]]))
    wide, found = interval_bounds(graph, ball()), symbolic_bounds(graph, ball())
    assert wide.high[graph.output][0] >= 4.0
    assert found.high[graph.output] == pytest.approx([0.0], abs=1e-12)
    assert found.low[graph.output][0] <= 0.0 <= found.high[graph.output][0]


@pytest.mark.parametrize(("norm", "reach"), [(Norm.INF, 7.0), (Norm.ONE, 4.0), (Norm.TWO, 5.0)])
def test_a_linear_function_has_its_dual_norm(norm: Norm, reach: float) -> None:
    build = ircert.Builder(2)
    graph = build.graph(build.affine(build.input, [[3.0, 4.0]], [1.0]))
    bounds = interval_bounds(graph, ball(norm))
    low, high = backward_bounds(graph, bounds, graph.output, ball(norm))
    assert (low[0], high[0]) == pytest.approx((1.0 - reach, 1.0 + reach))
    assert low[0] <= 1.0 - reach
    assert high[0] >= 1.0 + reach


def test_many_targets_go_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    build = ircert.Builder(2)
    graph = build.graph(build.affine(build.input, np.arange(14.0).reshape(7, 2)))
    whole = symbolic_bounds(graph, ball())
    monkeypatch.setattr("ircert.bounds.symbolic.CHUNK", 3)
    parts = symbolic_bounds(graph, ball())
    assert np.array_equal(whole.low[graph.output], parts.low[graph.output])
    assert np.array_equal(whole.high[graph.output], parts.high[graph.output])
