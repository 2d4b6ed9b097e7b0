"""Balls covered in rays, against exact regions: nothing wrong, and answers where boxes around the centre have none."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.one_matrix.covering import Covering
from ircert.engines.boxes.one_matrix.ray_cover import RayCover, RayPoints, alike, covering_of
from ircert.engines.boxes.one_matrix.rays import RaySetting
from ircert.engines.boxes.problem.outcome import Counts
from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.norm import Norm
from tests.engines.boxes.making import setting_of
from tests.engines.boxes.one_matrix.test_rays import kinked

EFFORT = 6_000


def rays_of(setting: Setting) -> Covering:
    found = covering_of(Batches(setting), Counts(), lambda: None)
    assert found.covers is RayCover
    return found


def advanced(found: Covering, radius: float) -> str:
    end = found.counts.effort + EFFORT
    with np.errstate(all="ignore"):
        return found.advance(radius, lambda: found.counts.effort > end)


def homogeneous(n: int, neurons: int, size: float) -> ircert.Graph:
    """x + V relu(W x): no neuron is anything but 0 at 0."""
    rng = np.random.default_rng(0)
    w, v = rng.standard_normal((neurons, n)), rng.standard_normal((n, neurons))
    v *= size / np.linalg.norm(v, 2) / np.linalg.norm(w, 2)
    build = ircert.Builder(n)
    change = build.affine(build.relu(build.affine(build.input, w)), v)
    return build.graph(build.add(build.input, change))


@pytest.mark.rule("E-25", "E-15")
@pytest.mark.parametrize("norm", list(Norm))
@pytest.mark.parametrize("n", [1, 2])
def test_it_agrees_with_linear_regions(n: int, norm: Norm) -> None:
    rng, closed, bad = np.random.default_rng(10 * n + norm.power), 0, 0
    for index in range(12):
        center = rng.integers(-8, 9, n) / 8
        scale = (0.5, 4.0, 8.0)[index % 3] * (8 if n == 1 else 1)
        graph = kinked(rng, n, center, scale=scale, outputs=n + index // 6)
        domain: dict[str, Any] = {} if index % 4 else {"low": center - 0.5, "high": center + rng.integers(1, 9, n) / 8}
        limits = None if not domain else (domain["low"], domain["high"])
        exact = ircert.certify(graph, center, engine="regions", norm=norm, domain=limits, max_radius=64.0)
        found = rays_of(setting_of(graph, center, norm=norm, **domain))
        good, end = float(exact.radius.certified), exact.radius.refuted
        for radius in (0.01, 0.1, 1.0, 0.999 * good, 1.001 * good):
            outcome = advanced(found, radius) if radius > 0 else "stopped"
            closed += outcome == "closed"
            bad += end is not None and radius > float(end)
            assert outcome != "closed" or end is None or radius <= float(end)
            assert end is None or found.reached <= float(end)
    assert closed > 5
    assert bad > 3


@pytest.mark.rule("E-25")
@pytest.mark.parametrize(("problem", "norm"), [("local", "inf"), ("local", 2), ("pseudo", 1)])
def test_a_map_without_biases_is_proved_around_0(problem: str, norm: Any) -> None:
    found = ircert.certify(homogeneous(3, 30, 2.5), np.zeros(3), problem=problem, norm=norm, engine="boxes")
    assert found.verdict == "certified"
    assert found.radius.certified == math.inf


@pytest.mark.rule("E-25")
def test_a_larger_ball_goes_on_with_the_matrix_of_a_smaller_one() -> None:
    rng, center = np.random.default_rng(4), np.zeros(3)
    found = rays_of(setting_of(kinked(rng, 3, center, more=20), center))
    assert advanced(found, 0.5) == "closed"
    cover = found._best or found._farthest
    assert isinstance(cover, RayCover)
    larger = cover.for_larger()
    assert isinstance(larger, RayCover)
    assert larger.reached >= 0.5
    roots = larger.roots_of(1.0)
    assert (larger.nearest(roots.boxes) > 0).all()  # nothing of them stands for rays to the centre


def test_points_lie_in_the_ball() -> None:
    rng, center = np.random.default_rng(8), np.array([0.5, -0.25])
    for norm in Norm:
        rays = RaySetting.of(setting_of(kinked(rng, 2, center), center, norm=norm))
        assert rays is not None
        points = RayPoints(rays)
        drawn = points.sampled(0.75)
        for part in (drawn, points.around(drawn, 0.75)):
            assert len(part) > 10
            assert (points.radii(part) < 0.75).all()
            assert norm.lengths(points.places(part) - center) == pytest.approx(points.radii(part), rel=1e-6, abs=1e-12)


def test_balls_within_q_are_alike() -> None:
    center = np.zeros(2)
    found = rays_of(setting_of(kinked(np.random.default_rng(9), 2, center), center))
    assert 0 < alike(found) < 1
    plain = covering_of(Batches(setting_of(homogeneous(2, 4, 0.5), center)), Counts(), lambda: None)
    assert (plain.covers is RayCover, alike(plain)) == (False, 0.0)


def thin_fold(n: int) -> ircert.Graph:
    """x + g(x) without biases, folded in a thin cone around the first axis, which touches 0."""
    rng, build = np.random.default_rng(0), ircert.Builder(n)
    kinks = build.relu(build.affine(build.input, rng.integers(-8, 9, (30, n)) / 8))
    others = np.hstack([np.zeros((n - 1, 1)), np.eye(n - 1)])
    sizes = build.relu(build.affine(build.input, 32.0 * np.vstack([others, -others])))
    cone = np.r_[1.0, np.zeros(n - 1), -np.ones(2 * n - 2)]
    inside = build.relu(build.affine(build.concat(build.input, sizes), cone[None]))
    outer = np.hstack([rng.integers(-8, 9, (n, 30)) / 512, np.r_[-3.0, np.zeros(n - 1)][:, None]])
    return build.graph(build.add(build.input, build.affine(build.concat(kinks, inside), outer)))


@pytest.mark.rule("E-25")
@pytest.mark.parametrize("radius", [5e-324, 1e-310, 1e-300, 1e-3, 1.0, 1e300])
def test_no_ball_around_a_fold_at_the_centre_is_good(radius: float) -> None:
    found = rays_of(setting_of(thin_fold(4), np.zeros(4)))
    assert advanced(found, radius) == "stopped"
    assert found.reached == 0.0
    answer = ircert.certify(thin_fold(4), np.zeros(4), radius=radius, engine="boxes", time_limit=2)
    assert answer.verdict != "certified"
