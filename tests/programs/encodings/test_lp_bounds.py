"""Bounds from linear programs: tighter than their start, and true of every point."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.bounds.interval import interval_bounds
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.ir.graph import Graph
from ircert.programs.build import ProgramBuilder
from ircert.programs.encodings.lp_bounds import lp_bounds, safe_upper_bound

NORMS = tuple(Norm)


def ball(norm: Norm = Norm.INF) -> Ball:
    return Ball(np.zeros(2), 1.0, norm, np.full(2, -np.inf), np.full(2, np.inf))


def cancelling() -> Graph:
    """relu(relu(x1 + x2 + 4) - relu(x1 + x2 + 3) - 1/2): intervals see no sign, but the argument is 1/2."""
    build = ircert.Builder(2)
    first = build.relu(build.affine(build.input, np.ones((2, 2)), [4.0, 3.0]))
    return build.graph(build.relu(build.affine(first, [[1.0, -1.0]], [-0.5], name="z")))


@pytest.mark.parametrize("norm", NORMS)
def test_what_cancels_is_seen(norm: Norm) -> None:
    start = interval_bounds(cancelling(), ball(norm))
    assert start.low["z"] < -1
    found = lp_bounds(start, ball(norm))
    assert found.low["z"] == pytest.approx([0.5])
    assert found.high["z"] == pytest.approx([0.5])
    assert found.low["z"][0] <= 0.5 <= found.high["z"][0]
    assert found.method == "lp"


@pytest.mark.parametrize("norm", NORMS)
def test_no_point_leaves_them(norm: Norm) -> None:
    rng = np.random.default_rng(2)
    layers = [(rng.standard_normal((6, 2)), rng.standard_normal(6)), (rng.standard_normal((4, 6)), np.zeros(4))]
    graph = ircert.load([*layers, (rng.standard_normal((2, 4)), np.zeros(2))])
    start = interval_bounds(graph, ball(norm))
    found = lp_bounds(start, ball(norm))
    points = rng.uniform(-1, 1, (400, 2))
    points = points[norm.lengths(points) <= 1]
    values = graph(points)
    assert (values >= found.low[graph.output]).all()
    assert (values <= found.high[graph.output]).all()
    assert (
        found.high[graph.output] - found.low[graph.output] < start.high[graph.output] - start.low[graph.output]
    ).all()


def test_without_time_the_start_is_kept() -> None:
    start = interval_bounds(cancelling(), ball())
    found = lp_bounds(start, ball(), time_limit=0.0)
    assert np.array_equal(found.low["z"], start.low["z"])


def test_progress_counts_open_neurons() -> None:
    seen: list[tuple[str, int, int]] = []
    lp_bounds(interval_bounds(cancelling(), ball()), ball(), progress=lambda *told: seen.append(told))
    assert seen == [("z", 1, 1)]


@pytest.mark.parametrize("multipliers", [(0.0, 0.0), (1.0, 0.0), (0.5, 0.25), (-3.0, 7.0), (1e9, -1e9)])
def test_any_multipliers_bound_the_optimum(multipliers: tuple[float, float]) -> None:
    """max x + y with x + y <= 1, x - y = 0 and 0 <= x, y <= 4 is 1."""
    build = ProgramBuilder()
    v = build.variables("v", 2, 0.0, 4.0)
    build.rows("cap", [(v, np.ones((1, 2)))], "<=", 1.0)
    build.rows("tie", [(v, np.array([[1.0, -1.0]]))], "=", 0.0)
    bound = safe_upper_bound(build.program(), np.ones(2), np.array(multipliers))
    assert bound >= 1.0
    if multipliers == (1.0, 0.0):
        assert bound == pytest.approx(1.0)
