"""Derivatives in floats beside divided differences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ircert.geometry.norm import Norm
from ircert.ir.ops import Curve
from ircert.relational.climbing import climbed
from ircert.relational.differential_bounds import Pair
from ircert.relational.gradients import gradients
from ircert.relational.objectives import Disagreement, Length, Objective
from tests.relational.test_intervals import CURVES, curved
from tests.relational.twins import around, graph, layers, points_of

STEP = 1e-6


@pytest.mark.parametrize("kind", [None, *CURVES])
def test_beside_divided_differences(kind: Callable[[], Curve] | None) -> None:
    given, rng = layers(2, 3, 8, 8, 2), np.random.default_rng(0)
    f = graph(given) if kind is None else curved(given, kind)
    points, weights = rng.normal(size=(6, 3)), rng.normal(size=(6, 2))
    found = gradients(f, points, weights)
    for j in range(3):
        step = STEP * np.eye(3)[j]
        slopes = ((f(points + step) - f(points - step)) * weights).sum(axis=1) / (2 * STEP)
        assert found[:, j] == pytest.approx(slopes, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("objective", [Length(Norm.INF), Length(Norm.ONE), Length(Norm.TWO), Disagreement()])
def test_rates_are_derivatives_of_values(objective: Objective) -> None:
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=(2, 20, 4))
    rates = objective.rates(first, second)
    moves = rng.normal(size=(2, 20, 4)) * STEP
    ends = [objective.values(first + sign * moves[0], second + sign * moves[1]) for sign in (1, -1)]
    expected = 2 * (rates[0] * moves[0] + rates[1] * moves[1]).sum(axis=1)
    assert ends[0] - ends[1] == pytest.approx(expected, rel=1e-3, abs=1e-9)


@pytest.mark.parametrize("norm", [Norm.INF, Norm.ONE, Norm.TWO])
def test_climbs_above_many_samples(norm: Norm) -> None:
    f, g = (curved([(2 * w, b) for w, b in layers(seed, 3, 12, 12, 2)], CURVES[0]) for seed in (3, 4))
    ball, length = around(np.array([0.1, -0.2, 0.3]), 1.0, norm), Length(Norm.INF)
    point, value = climbed(Pair(f, g), ball, length)
    tried = points_of(ball, 20_000)
    assert value >= length.values(f(tried), g(tried)).max()
    assert norm.lengths((point - ball.center)[None])[0] <= 1 + 1e-12
