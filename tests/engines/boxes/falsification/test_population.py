"""Points that look for folds in a ball."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.falsification.float_regions import FloatRegions
from ircert.engines.boxes.falsification.population import GROUP, Population
from ircert.engines.boxes.falsification.work import least_radius
from ircert.geometry.norm import Norm
from tests.engines.boxes.making import setting_of


def population(norm: Norm = Norm.INF, seed: int = 0, domain: tuple[float, float] | None = None) -> Population:
    """In a network close to the identity, in which folds are rare."""
    rng, sizes = np.random.default_rng(7), (5, 40, 40, 5)
    layers = [(rng.normal(size=(b, a)) / np.sqrt(a), 0.3 * rng.normal(size=b)) for a, b in pairwise(sizes)]
    build = ircert.Builder(5)
    last = build.input
    for k, (w, b) in enumerate(layers):
        last = build.affine(last, w, b)
        last = last if k == len(layers) - 1 else build.relu(last)
    graph = build.graph(build.add(build.input, last))
    low, high = domain or (-np.inf, np.inf)
    setting = setting_of(graph, np.zeros(5), norm=norm, low=np.full(5, low), high=np.full(5, high))
    regions = FloatRegions(setting)
    reference = float(regions.orientations(regions.phases(np.zeros((1, 5))))[0])
    return Population(regions, np.random.default_rng(seed), least_radius(setting), reference)


def state(found: Population, limit: float) -> tuple[np.ndarray, np.ndarray]:
    found.step(limit)
    return found.offsets.copy(), found.heights.copy()


@pytest.mark.parametrize("norm", Norm)
@pytest.mark.parametrize("domain", [None, (-0.5, 2.0)])
def test_everybody_stays_in_the_ball_and_the_domain(norm: Norm, domain: tuple[float, float] | None) -> None:
    found = population(norm, domain=domain)
    for limit in (4.0, 4.0, 3.0, 1.0, 1.0, 0.1):
        offsets, _ = state(found, limit)
        assert (found.lengths <= limit).all()
        if domain is not None:
            assert (offsets >= domain[0]).all()
            assert (offsets <= domain[1]).all()


def test_points_come_along_when_the_ball_gets_smaller() -> None:
    """They lie next to where they were, clipped: not anywhere."""
    found = population()
    for _ in range(20):
        offsets, heights = state(found, 4.0)
    outside = (np.abs(offsets).max(axis=1) > 3.6) & (heights > -np.inf)
    assert outside.sum() > 10
    moved, _ = state(found, 3.6)
    away = np.abs(moved - np.clip(offsets, -3.6, 3.6)).max(axis=1)
    assert np.median(away[outside]) < 0.5


def test_determinants_get_smaller_and_some_steps_lead_up() -> None:
    found = population(seed=3)
    _, before = state(found, 2.0)
    first, up = np.median(before), 0
    for _ in range(40):
        offsets, heights = state(found, 2.0)
        up += int(((heights > before) & (heights < np.inf)).sum())
        before = heights
    assert up > 40
    assert np.median(before) < first
    values = found._heights(found._regions.phases(offsets))
    assert np.array_equal(values, before), "heights are those of the points"


def test_groups_stay_apart() -> None:
    """Points start from others of their own group alone: all of them do not end at the lowest place that one found."""
    found = population()
    for _ in range(400):
        offsets, heights = state(found, 2.0)
    lowest = offsets[np.argmin(np.where(np.isfinite(heights), heights, np.inf))]
    near = np.abs(offsets - lowest).max(axis=1) < 0.1
    assert near.sum() <= 2 * GROUP


@pytest.mark.parametrize("norm", Norm)
def test_some_groups_stay_near_a_good_ball(norm: Norm) -> None:
    """Most of the volume is far out, and nothing is looked for inside: half of the points have balls of all sizes."""
    found = population(norm)
    assert np.array_equal(found.limits(4.0), np.full(len(found.offsets), 4.0))
    found.inner = 1.0
    limits = found.limits(4.0)
    assert (limits == 4.0).sum() == len(limits) // 2
    assert (limits >= 1.0).all()
    quarters = np.histogram(np.log(limits[limits < 4.0]) / np.log(4.0), bins=4, range=(0, 1))[0]
    assert (quarters > 0).all()
    for _ in range(3):
        found.step(4.0)
        assert (found.lengths <= limits).all()
    found.inner = 5.0  # larger than the ball: nothing is known about sizes
    assert np.array_equal(found.limits(4.0), np.full(len(limits), 4.0))
