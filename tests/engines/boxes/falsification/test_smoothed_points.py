"""Points that go down the determinants of a smoother network."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.falsification.float_regions import FloatRegions
from ircert.engines.boxes.falsification.population import Population
from ircert.engines.boxes.falsification.smoothed_points import STEPS, SmoothedPoints
from ircert.geometry.norm import Norm
from tests.engines.boxes.falsification.making import folded
from tests.engines.boxes.making import residual, setting_of


def points_of(
    graph: ircert.Graph, norm: Norm = Norm.INF, domain: tuple[float, float] = (-np.inf, np.inf)
) -> tuple[SmoothedPoints, Population]:
    low, high = (np.full(graph.input_dim, end) for end in domain)
    setting = setting_of(graph, np.zeros(graph.input_dim), norm=norm, low=low, high=high)
    regions = FloatRegions(setting)
    reference = float(regions.orientations(regions.phases(np.zeros((1, graph.input_dim))))[0])
    return SmoothedPoints(regions, reference), Population(regions, np.random.default_rng(0), 1.0, reference)


def test_gradients_are_those_of_the_smoothed_determinant() -> None:
    """Of one hidden layer: its rows, and so the widths of its kinks, do not move with the point."""
    rng = np.random.default_rng(3)
    inner, bias, outer = rng.normal(size=(9, 3)), rng.normal(size=9), rng.normal(size=(3, 9))
    found, population = points_of(ircert.load([(inner, bias), (outer, np.zeros(3))]))
    found.step(population, 2.0)
    width = 0.3

    def height(point: np.ndarray) -> float:
        slopes = 1 / (1 + np.exp(-(inner @ point + bias) / (width * np.abs(inner).sum(axis=1))))
        sign, logarithm = np.linalg.slogdet(outer * slopes @ inner)
        return float(sign * found._reference * logarithm)

    gradients = found._gradients(np.full(len(found._offsets), width))
    for point, gradient in zip(found._offsets[:8], gradients, strict=False):
        steps = 1e-6 * np.eye(3)
        expected = [(height(point + step) - height(point - step)) / 2e-6 for step in steps]
        assert gradient == pytest.approx(expected, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("norm", Norm)
@pytest.mark.parametrize("domain", [(-np.inf, np.inf), (-0.5, 2.0)])
def test_everybody_stays_in_the_ball_and_the_domain(norm: Norm, domain: tuple[float, float]) -> None:
    found, population = points_of(residual(np.random.default_rng(4), 4, 8, scale=1.0), norm, domain)
    for _ in range(STEPS // 2):
        found.step(population, 4.0)
    for limit in (4.0, 3.0, 1.0):
        found.step(population, limit)
        assert (norm.lengths(found._offsets) <= limit).all()
        assert (found._offsets >= domain[0]).all()
        assert (found._offsets <= domain[1]).all()


@pytest.mark.rule("E-3")
@pytest.mark.parametrize("norm", Norm)
def test_they_meet_what_random_points_do_not(norm: Norm) -> None:
    """A corner of the ball, or a cap of it, lies beyond the fold: hardly a point in ten thousand."""
    turn = np.eye(6)
    turn[0] = np.ones(6)
    distance = 1 / norm.dual.lengths(turn[:1])[0]
    found, population = points_of(folded(turn, 1.0, np.eye(6)), norm)
    limit = 1.05 * distance
    by_chance = sum(len(population.across(limit)) for _ in range(8))
    for _ in range(STEPS):
        crossed = found.step(population, limit)
    assert len(crossed) > 10 + by_chance
    assert (crossed @ turn[0] > 1.0).all()
    assert (norm.lengths(crossed) < limit).all()


def test_maps_without_a_determinant_stop_nobody() -> None:
    """Where all relus are off the smoothed map may have no inverse in floats: these points stand still."""
    found, population = points_of(ircert.load([(np.eye(3), np.full(3, 1e-3)), (np.eye(3), np.zeros(3))]))
    for _ in range(STEPS):
        crossed = found.step(population, 1e3)
    assert np.isfinite(found._offsets).all()
    assert len(crossed) > 0, "flat regions are beyond folds"
