"""Points that go down determinants by the best of many steps."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.falsification.float_regions import FloatRegions
from ircert.engines.boxes.falsification.greedy_points import STARTS, STEPS, GreedyPoints
from ircert.engines.boxes.falsification.population import Population
from ircert.geometry.norm import Norm
from tests.engines.boxes.falsification.making import distance, hunted
from tests.engines.boxes.making import setting_of

INPUTS = 10


def rare_fold(needed: int) -> ircert.Graph:
    """x - a Σ relu(x_i - 1/2) (1, …, 1): its determinant 1 - a k, k the number of x_i > 1/2, is negative from
    `needed` on."""
    build = ircert.Builder(INPUTS)
    bent = build.relu(build.affine(build.input, np.eye(INPUTS), np.full(INPUTS, -0.5)))
    steep = np.full((INPUTS, INPUTS), -1 / (needed - 0.5))
    return build.graph(build.add(build.input, build.affine(bent, steep, np.zeros(INPUTS))))


def points_of(
    graph: ircert.Graph, norm: Norm = Norm.INF, domain: tuple[float, float] = (-np.inf, np.inf)
) -> tuple[GreedyPoints, Population]:
    low, high = (np.full(graph.input_dim, end) for end in domain)
    regions = FloatRegions(setting_of(graph, np.zeros(graph.input_dim), norm=norm, low=low, high=high))
    generator = np.random.default_rng(0)
    return GreedyPoints(regions, generator, 0.5), Population(regions, generator, 0.5, 1.0)


@pytest.mark.rule("E-3")
def test_they_meet_what_random_points_do_not() -> None:
    """Nine of ten coordinates above 1/2: three points in a hundred thousand of the ball."""
    found, population = points_of(rare_fold(9))
    crossed = [found.step(population, 1.0) for _ in range(4 * (STARTS + STEPS))]
    met = np.concatenate(crossed)
    assert len(met) > 0
    assert ((met > 0.5).sum(axis=1) >= 9).all()
    assert sum(len(population.across(1.0)) for _ in range(4)) == 0


@pytest.mark.parametrize("norm", Norm)
@pytest.mark.parametrize("domain", [(-np.inf, np.inf), (-0.25, 0.75)])
def test_points_stay_in_the_ball_and_the_domain_also_when_it_gets_smaller(
    norm: Norm, domain: tuple[float, float]
) -> None:
    found, population = points_of(rare_fold(1), norm, domain)
    met = 0
    for limit in (4.0, 3.0, 1.0, 0.75):
        for _ in range(STARTS + STEPS):
            crossed = found.step(population, limit)
            met += len(crossed)
            assert (norm.lengths(crossed) < limit).all()
            assert ((crossed >= domain[0]) & (crossed <= domain[1])).all()
    assert met > 0


def test_nothing_is_met_where_there_is_no_fold() -> None:
    found, population = points_of(rare_fold(INPUTS + 1))
    assert all(len(found.step(population, 10.0)) == 0 for _ in range(2 * (STARTS + STEPS)))


def test_a_hunt_comes_to_the_fold() -> None:
    """… whose nearest points have nine coordinates 1/2."""
    descent = hunted(setting_of(rare_fold(9), np.zeros(INPUTS)), 300)
    assert distance(descent) == pytest.approx(0.5, rel=1e-6)
