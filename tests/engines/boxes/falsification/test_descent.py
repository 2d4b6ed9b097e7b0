"""From one collision to nearer ones, a few programs at a time."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.enclosures.secants import Secants
from ircert.engines.boxes.falsification import pair_sampling
from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.boxes.falsification.falsifier import orientation_change, orientations, sides
from ircert.engines.boxes.falsification.pair_sampling import PairSampler
from ircert.engines.boxes.falsification.work import UNIT
from ircert.engines.boxes.problem.setting import Phases, Setting
from ircert.geometry.norm import Norm
from ircert.geometry.pair import Pair
from tests.engines.boxes.falsification.making import descent_of, distance
from tests.engines.boxes.making import setting_of


def network(seed: int, *sizes: int) -> Setting:
    rng = np.random.default_rng(seed)
    layers = [(rng.normal(size=(b, a)) / np.sqrt(a), 0.3 * rng.normal(size=b)) for a, b in pairwise(sizes)]
    return setting_of(ircert.load(layers), np.full(sizes[0], 0.1))


def far_fold(setting: Setting) -> tuple[Phases, Phases]:
    """Regions on both sides of a fold that is far away."""
    secants, rng = Secants(setting), np.random.default_rng(0)
    while True:
        way = rng.normal(size=setting.size)
        ends = orientations(secants, sides(setting, setting.center + np.outer([2.0, 3.0], way)))
        if ends[0] * ends[1] < 0:
            return orientation_change(setting, secants, way, 2.0, 3.0)


def started(setting: Setting) -> Descent:
    descent = descent_of(setting)
    assert descent.improve(*far_fold(setting), onward=False)
    return descent


def test_a_few_programs_at_a_time_lead_as_far_as_all_at_once() -> None:
    setting = network(1, 4, 16, 16, 4)
    whole, parts = started(setting), started(setting)
    assert whole.further()
    distances = [distance(parts)]
    while parts.further(programs=2):
        distances.append(distance(parts))
    assert len(distances) > 2
    assert distances == sorted(distances, reverse=True)
    assert distance(parts) == distance(whole)
    assert parts.programs == whole.programs
    assert not parts.further()


def test_few_programs_are_few() -> None:
    descent = started(network(1, 4, 16, 16, 4))
    before = descent.programs
    descent.further(programs=1)
    assert 1 <= descent.programs - before <= 3 * descent.setting.size + 3  # regions next to one pair


def test_what_is_nearer_ends_the_way_from_farther_away() -> None:
    """The way down from a pair leads nowhere that is news when another one is nearer than all of it."""
    setting = network(1, 4, 16, 16, 4)
    end = started(setting)
    end.further()
    assert end.best is not None
    descent, nearest = started(setting), end.best[1]
    assert descent.offer(Pair(tuple(v / 2 for v in nearest.x), tuple(v / 2 for v in nearest.y)))
    before = descent.programs
    assert not descent.further()
    assert descent.programs == before


def test_a_round_of_pairs_counts_its_programs_and_leaves_the_rest_to_the_next() -> None:
    setting = network(3, 5, 64, 64, 5)
    descent = descent_of(setting)
    sampler = PairSampler(setting, descent)
    allowed = math.ceil(pair_sampling.EXACT / sampler._program) + 3 * setting.size + 3
    for _ in range(6):
        before, work = descent.programs, sampler.work
        sampler.advance(1)
        solved = descent.programs - before
        assert solved <= (1 + pair_sampling.FOLLOWED) * allowed
        assert sampler.work - work >= solved * sampler._program // UNIT
    assert descent.programs > 0


@pytest.mark.parametrize("norm", tuple(Norm))
@pytest.mark.parametrize("center", [0.0, 0.25])
def test_violations_of_regions_that_hold_the_centre_come_arbitrarily_near(norm: Norm, center: float) -> None:
    """|x1| folds at 0, and a pair of the two regions there was found far out, perhaps after they were looked at."""
    build = ircert.Builder(2)
    bent = build.relu(build.affine(build.input, [[1.0, 0.0]]))
    graph = build.graph(build.affine(build.concat(build.input, bent), [[-1.0, 0.0, 2.0], [0.0, 1.0, 0.0]]))
    descent = descent_of(setting_of(graph, [center, 0.0], norm=norm))
    on, off = np.ones(1, dtype=np.int8), -np.ones(1, dtype=np.int8)
    one, zero, shift = Fraction(1), Fraction(0), Fraction(center)
    far = Pair((one - shift, zero), (-one - shift, zero))
    if norm == "2" and not center:
        descent.tried.add(on.tobytes() + off.tobytes())
    assert descent.improve(on, off, far)
    assert descent.infimum_is_zero == (center == 0)
    assert descent.best is not None
    x, y = (tuple(a + b for a, b in zip(p, (shift, zero), strict=True)) for p in (descent.best[1].x, descent.best[1].y))
    assert x != y
    assert list(graph.exact(x)) == list(graph.exact(y))
