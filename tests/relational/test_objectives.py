"""Bounds on objectives hold at points, and chords lie above their curves."""

from __future__ import annotations

import numpy as np
import pytest

from ircert.geometry.norm import Norm
from ircert.relational import objectives
from ircert.relational.differential_bounds import Pair
from ircert.relational.objectives import Disagreement, Length, Objective
from ircert.relational.points import Points
from tests.relational.twins import around, graph, layers, points_of, rounded

NORMS = [Norm.INF, Norm.ONE, Norm.TWO]


@pytest.mark.parametrize("objective", [*map(Length, NORMS), Disagreement()])
@pytest.mark.parametrize("norm", NORMS)
def test_no_point_is_above_the_bound(objective: Objective, norm: Norm) -> None:
    for seed in range(4):
        made = layers(seed, 3, 7, 7, 3)
        pair = Pair(graph(made), graph(rounded(made, 0.25)))
        for radius in (0.01, 1.0):
            ball = around(np.array([0.1, 0.2, -0.3]), radius, norm)
            bound = objective.bounded(pair.bounds(Points.of(ball)), pair.first.output).bounds[0]
            x = points_of(ball, 200, seed)
            values = objective.values(pair.first(x), pair.second(x))
            if isinstance(objective, Disagreement):
                values = np.where(values > 0, values, -np.inf)
            assert values.max() <= bound


def test_chords_lie_above_their_curves() -> None:
    rng = np.random.default_rng(0)
    low, high = np.sort(rng.normal(size=(2, 500)) * 10.0 ** rng.integers(-200, 3, size=500), axis=0)
    low[:10] = high[:10]
    for norm in (Norm.ONE, Norm.TWO):
        slope, top = Length(norm).chords(low, high)
        for share in (0.0, 0.3, 1.0):
            d = np.clip(low + share * (high - low), low, high)
            curve = np.abs(d) if norm is Norm.ONE else d * d
            assert (slope * d + top >= curve * (1 - 1e-15)).all()


def test_chords_see_what_plain_sums_do_not() -> None:
    """(x, -x) has norm-1 length 2 |x|; (x, 1 - x) has 1 on [0, 1], and the sum of both largest is 2."""
    f = graph([(np.array([[1.0], [-1.0]]), np.array([0.0, 1.0]))])
    zero = graph([(np.zeros((2, 1)), np.zeros(2))])
    ball = around(np.array([0.5]), 0.5)
    found = Pair(f, zero).bounds(Points.of(ball))
    assert Length(Norm.ONE).bounded(found, f.output).bounds[0] == pytest.approx(1.0)
    assert Length(Norm.TWO).bounded(found, f.output).bounds[0] == pytest.approx(1.0)


def test_classes_that_never_change_leave_nothing_open() -> None:
    f = graph([(np.zeros((3, 2)), np.array([1.0, 2.0, 0.0]))])
    g = graph([(np.eye(3, 2) / 8, np.array([1.0, 2.0, 0.0]))])
    found = Pair(f, g).bounds(Points.of(around(np.zeros(2), 1.0)))
    assert Disagreement().bounded(found, f.output).bounds[0] == -np.inf
    assert Disagreement().values(f(np.zeros((1, 2))), g(np.zeros((1, 2))))[0] == -1.0


@pytest.mark.parametrize("seed", range(4))
def test_of_many_classes_those_that_may_be_largest_are_compared(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """No point is above the bound, and where nothing is compared, nothing is shown."""
    made = layers(seed, 3, 8, 6)
    f, g, ball = graph(made), graph(rounded(made, 0.25)), around(np.full(3, 0.2), 0.3)
    bounds = {}
    for many, largest in ((40, 10**9), (2, 10**9), (2, 0)):
        monkeypatch.setattr(objectives, "MANY", many)
        monkeypatch.setattr(objectives, "LARGEST", largest)
        found = Pair(f, g).bounds(Points.of(ball))
        bounds[many, largest] = float(Disagreement().bounded(found, f.output).bounds[0])
    x = points_of(ball, 300)
    met = Disagreement().values(f(x), g(x)).max()
    assert max(met, 0.0) <= max(bounds[2, 10**9], 0.0) + 1e-12
    assert bounds[40, 10**9] <= bounds[2, 10**9] < bounds[2, 0] == np.inf
