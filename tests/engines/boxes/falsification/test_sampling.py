"""Folds that sampling finds: patterns on both sides, and an exact violation."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.enclosures.secants import Secants
from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.boxes.falsification.falsifier import orientation_change, orientations, sides
from ircert.engines.boxes.falsification.population import Population
from ircert.engines.boxes.falsification.sampling import FoldSampler, first_radius
from ircert.engines.boxes.falsification.work import LEAST_RADIUS, first_ball, least_radius
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array
from tests.engines.boxes.making import residual, setting_of


def random_network(rng: np.random.Generator, *sizes: int) -> ircert.Graph:
    layers = [(rng.normal(size=(b, a)) / np.sqrt(a), 0.3 * rng.normal(size=b)) for a, b in pairwise(sizes)]
    return ircert.load(layers)


@pytest.mark.rule("E-3")
@pytest.mark.parametrize("norm", Norm)
@pytest.mark.parametrize("sizes", [(3, 12, 12, 3), (6, 20, 6), (10, 48, 48, 10)])
def test_a_fold_that_is_sampled_becomes_an_exact_violation(sizes: tuple[int, ...], norm: Norm) -> None:
    n = sizes[0]
    setting = setting_of(random_network(np.random.default_rng(n), *sizes), np.full(n, 0.1), norm=norm)
    descent = Descent(setting, ExactMaps(setting))
    FoldSampler(setting, descent).search(first_radius(setting), 10.0)
    assert descent.best is not None
    pair = descent.best[1]
    x, y = ([c + t for c, t in zip(setting.exact_center, part, strict=True)] for part in (pair.x, pair.y))
    assert x != y
    assert setting.graph.exact(x).tolist() == setting.graph.exact(y).tolist()


def test_no_fold_is_found_where_there_is_none() -> None:
    setting = setting_of(residual(np.random.default_rng(4), 4, 8, scale=0.01), np.zeros(4))
    descent = Descent(setting, ExactMaps(setting))
    FoldSampler(setting, descent).search(first_radius(setting), 100.0)
    assert descent.best is None


def test_both_sides_of_a_change_are_oriented_otherwise() -> None:
    """Also at the last digit, where a point asked again in another batch may fall on the other side."""
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        setting = setting_of(random_network(rng, 5, 20, 20, 5), np.full(5, 0.1))
        secants, way = Secants(setting), rng.normal(size=5)
        ends = orientations(secants, sides(setting, setting.center + np.outer([0.0, 1.0], way)))
        if ends[0] * ends[1] < 0:
            pair = orientation_change(setting, secants, way, 0.0, 1.0)
            first, second = (orientations(secants, phases[None])[0] for phases in pair)
            assert first == ends[0] != second
            found += 1
    assert found >= 3


def test_the_first_radius_is_that_of_the_nearest_kink() -> None:
    graph = ircert.load([([[1.0, 1.0], [2.0, 0.0]], [0.5, 3.0]), (np.eye(2), np.zeros(2))])
    for norm, distance in ((Norm.INF, 0.25), (Norm.ONE, 0.5), (Norm.TWO, 0.5 / np.sqrt(2))):
        assert first_radius(setting_of(graph, np.zeros(2), norm=norm)) == pytest.approx(distance)
    assert first_radius(setting_of(ircert.load([(np.eye(2), np.zeros(2))]), np.zeros(2))) == np.inf


def test_the_first_ball_meets_kinks_that_floats_cannot_tell_from_the_centre() -> None:
    below = np.nextafter(-1.0, 0.0)
    graph = ircert.load([([[1.0, 1.0], [2.0, 0.0]], [below, 1.0]), (np.eye(2), np.zeros(2))])
    setting = setting_of(graph, np.full(2, 0.5))
    assert 0 < first_radius(setting) < 1e-15
    assert first_ball(setting) == pytest.approx(1.0)


def nearly_kinked(bias: float) -> ircert.Graph:
    """x1 + 2 relu(x1 + bias), which does not fold, and x2 - 2 relu(x2 - 1), which does."""
    build = ircert.Builder(2)
    bent = build.relu(build.affine(build.input, np.eye(2), [bias, -1.0]))
    return build.graph(build.add(build.input, build.affine(bent, np.diag([2.0, -2.0]))))


def test_kinks_of_no_size_are_met_by_all_balls() -> None:
    setting = setting_of(nearly_kinked(5e-324), np.zeros(2))
    assert first_radius(setting) < LEAST_RADIUS == least_radius(setting)
    assert first_ball(setting) == pytest.approx(1.0)


@pytest.mark.parametrize("bias", [1e-60, 5e-324])
def test_first_balls_grow_over_gaps_without_a_switch(bias: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no neuron switches nothing folds: from 1e-60 to 1 are a few balls, not 200."""
    looked: list[float] = []
    across = Population.across

    def noted(population: Population, limit: float) -> Array:
        looked.append(limit)
        return across(population, limit)

    monkeypatch.setattr(Population, "across", noted)
    setting = setting_of(nearly_kinked(bias), np.zeros(2))
    descent = Descent(setting, ExactMaps(setting))
    FoldSampler(setting, descent).search(first_radius(setting), 100.0)
    assert sum(limit < 1.0 for limit in looked) < 4
    assert descent.best is not None
    assert 1.0 <= descent.best[0] < 1.01
