"""Rays from a centre at which many neurons are 0: they reach every point, and neurons keep their phases on them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.enclosures import enclose
from ircert.engines.boxes.one_matrix.rays import MANY, RaySetting, still_half, zeros_at_center
from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.norm import Norm
from tests.engines.boxes.making import setting_of

KINKS = MANY + 4


def kinked(
    rng: np.random.Generator, n: int, center: Any, *, more: int = 5, scale: float = 0.25, outputs: int | None = None
) -> ircert.Graph:
    """x + g(x), g with two layers; neurons that are 0 at the centre and some more, all with few digits."""
    m, build = n if outputs is None else outputs, ircert.Builder(n)
    weight = rng.integers(-8, 9, (KINKS + more, n)) / 8
    bias = -weight @ center
    bias[KINKS:] += rng.integers(1, 9, more) / 8 * rng.choice([-1.0, 1.0], more)
    first = build.relu(build.affine(build.input, weight, bias))
    second = build.relu(build.affine(first, rng.integers(-8, 9, (4, KINKS + more)) / 32, rng.integers(1, 9, 4) / 8))
    change = build.affine(build.concat(first, second), scale * rng.integers(-8, 9, (m, KINKS + more + 4)) / 64)
    skip = np.vstack([np.eye(n), rng.integers(-8, 9, (m - n, n)) / 8])
    return build.graph(build.add(build.affine(build.input, skip), change))


def rays_of(setting: Setting) -> RaySetting:
    found = RaySetting.of(setting)
    assert found is not None
    return found


@pytest.mark.rule("E-25")
@pytest.mark.parametrize("norm", list(Norm))
@pytest.mark.parametrize("n", [1, 2, 3])
def test_every_point_of_a_ball_is_on_a_ray_that_is_covered(n: int, norm: Norm) -> None:
    """In rationals: as (u, s) itself or, within Q, as the last point on its ray."""
    rng = np.random.default_rng(n)
    center = rng.integers(-8, 9, n) / 8
    rays = rays_of(setting_of(kinked(rng, n, center), center, norm=norm))
    for radius in (1e-6, 0.1 / rays.t, 1.0 / rays.t, 0.5, 3.0, 1e9):
        sides = rays.sides(radius)
        last = Fraction(float(sides.high[0, -1]))  # within Q, and where rays go on as they are
        assert last >= Fraction(rays.t)
        for _ in range(30):
            step = rng.uniform(-1, 1, n) * 10.0 ** rng.integers(-9, 1)
            step *= radius / max(float(norm.lengths(step[None])[0]), radius)
            exact = [Fraction(v) for v in step.tolist()]
            scale = 1 / max(map(abs, exact))
            places = [scale] if scale < last else [last]
            held = [
                all(
                    Fraction(a) <= v <= Fraction(b)
                    for a, v, b in zip(low, [scale * d for d in exact] + [s], high, strict=True)
                )
                for s in places
                for low, high in zip(sides.low.tolist(), sides.high.tolist(), strict=True)
            ]
            assert any(held)


@pytest.mark.rule("E-25")
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_neurons_keep_their_phases_on_rays(n: int) -> None:
    """Signs at exact points of Q are those where s = t on their rays."""
    rng = np.random.default_rng(20 + n)
    center = rng.integers(-8, 9, n) / 8
    setting = setting_of(kinked(rng, n, center), center)
    rays, half = rays_of(setting), still_half(setting)
    assert half is not None
    assert rays.t * half > 1
    for _ in range(40):
        edge = rng.integers(-64, 65, n) / 64
        edge[rng.integers(n)] = rng.choice([-1.0, 1.0])
        edge *= 2.0 ** math.floor(math.log2(1 / rays.t))
        for share in (1.0, 0.5, 2.0**-7, 2.0**-20):
            assert (signs(setting, center + share * edge) == signs(setting, center + edge)).all()


def signs(setting: Setting, point: Any) -> Any:
    """Few digits, so that floats are exact."""
    return np.sign(setting.preactivations(point[None])[0])


@pytest.mark.rule("E-25")
def test_neurons_that_are_nearly_zero_are_not_zero() -> None:
    rng, center = np.random.default_rng(3), np.zeros(2)
    graph = kinked(rng, 2, center, more=0)
    assert zeros_at_center(setting_of(graph, center)).sum() == KINKS
    moved = np.array([2.0**-60, 0.0])
    assert not zeros_at_center(setting_of(graph, moved)).any()
    assert RaySetting.of(setting_of(graph, moved)) is None


def test_few_zeros_need_no_rays() -> None:
    build = ircert.Builder(2)
    change = build.affine(build.relu(build.affine(build.input, np.ones((MANY, 2)))), np.zeros((2, MANY)))
    setting = setting_of(build.graph(build.add(build.input, change)), np.zeros(2))
    assert not zeros_at_center(setting).any()
    assert RaySetting.of(setting) is None


@pytest.mark.rule("E-25")
def test_where_other_neurons_switch_q_ends() -> None:
    """All neurons but those that are 0 at the centre have strict bounds on Q."""
    rng, center = np.random.default_rng(5), np.array([0.25, -0.5])
    setting = setting_of(kinked(rng, 2, center), center)
    half = still_half(setting)
    assert half is not None
    known = enclose(Batches(setting), (center - half)[None], (center + half)[None], np.inf)
    decided = ((known.low > 0) | (known.high < 0))[:, 0]
    assert (decided | zeros_at_center(setting)).all()
    assert not decided[zeros_at_center(setting)].any()


def test_a_centre_on_the_boundary_of_the_domain_has_no_rays() -> None:
    rng, center = np.random.default_rng(6), np.zeros(2)
    graph = kinked(rng, 2, center)
    assert RaySetting.of(setting_of(graph, center, low=np.zeros(2), high=np.ones(2))) is None
    assert RaySetting.of(setting_of(graph, center, low=-np.ones(2), high=np.ones(2))) is not None


@pytest.mark.rule("E-25")
@pytest.mark.parametrize("norm", list(Norm))
def test_distances_of_boxes_hold_those_of_their_points(norm: Norm) -> None:
    rng, center = np.random.default_rng(7), np.zeros(3)
    rays = rays_of(setting_of(kinked(rng, 3, center), center, norm=norm, low=-np.ones(3), high=np.full(3, 0.5)))
    sides = rays.sides(2.0)
    for _ in range(6):
        sides = sides.halves(rng.integers(0, 4, len(sides)))[rng.integers(2)]
        points = sides.low + rng.random(sides.low.shape) * sides.widths
        steps = points[:, :-1] / points[:, -1:]
        lengths = norm.lengths(steps)
        assert (rays.nearest(sides) <= lengths * (1 + 1e-12)).all()
        assert (rays.farthest(sides) >= lengths * (1 - 1e-12)).all()
        inside = ((steps > -1) & (steps < 0.5)).all(axis=1)
        assert rays.in_domain(sides)[inside].all()
        cut = rays.beyond(sides, 0.7)
        outside = lengths > 0.7
        assert ((points >= cut.low) & (points <= cut.high))[outside].all()


@pytest.mark.rule("E-25")
@pytest.mark.parametrize("radius", [5e-324, 1e-310, 5.5e-309, 1e-300])
def test_balls_whose_inverse_radius_is_no_float_have_boxes(radius: float) -> None:
    """They lie in Q, and the points with s = t stand for all rays."""
    center = np.zeros(3)
    rays = rays_of(setting_of(kinked(np.random.default_rng(1), 3, center), center))
    sides = rays.sides(radius)
    assert (sides.high[:, -1] == rays.t).all()
    assert (sides.low[:, -1] == rays.t).all()
    assert (rays.nearest(sides) == 0).all()
    assert (rays.farthest(sides) > 0).all()


def test_where_others_switch_too_near_for_floats_there_are_no_rays() -> None:
    rng, center = np.random.default_rng(2), np.zeros(2)
    for near, served in ((2.0**-800, True), (2.0**-1000, False)):
        build = ircert.Builder(2)
        weight = np.vstack([rng.integers(-8, 9, (KINKS, 2)) / 8, [[1.0, 0.0]]])
        hidden = build.relu(build.affine(build.input, weight, np.r_[np.zeros(KINKS), -near]))
        graph = build.graph(build.add(build.input, build.affine(hidden, np.full((2, KINKS + 1), 2.0**-8))))
        assert (RaySetting.of(setting_of(graph, center)) is not None) == served
