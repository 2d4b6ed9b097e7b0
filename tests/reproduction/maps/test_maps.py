"""Closed forms, continuation and orbits that experiments rest on."""

from __future__ import annotations

import numpy as np
import pytest

from ircert.ir.arrays import Array
from ircert.reproduction.experiments import euler
from ircert.reproduction.maps.brusselator_map import BrusselatorMap
from ircert.reproduction.maps.continuation import trace
from ircert.reproduction.maps.orbits import as_loop, attractor, thinned
from ircert.reproduction.maps.vanderpol_map import VanDerPolMap

MAP = BrusselatorMap(b=2.1, tau=0.15)
OSCILLATOR = VanDerPolMap(tau=0.15)


def test_the_fixed_point_is_fixed() -> None:
    np.testing.assert_allclose(MAP(MAP.fixed_point), MAP.fixed_point, rtol=1e-15)


def test_preimages_are_mapped_to_the_value() -> None:
    for value in np.random.default_rng(0).uniform([-2, -2], [4, 5], size=(100, 2)):
        found = MAP.preimages(value)
        assert 1 <= len(found) <= 3
        np.testing.assert_allclose(MAP(found), np.broadcast_to(value, found.shape), atol=1e-6)


def test_every_start_is_among_the_preimages_of_its_image() -> None:
    for start in np.random.default_rng(1).uniform([-2, -2], [4, 5], size=(100, 2)):
        distances = np.abs(MAP.preimages(MAP(start)) - start).max(axis=1)
        assert distances.min() < 1e-5


def test_the_determinant_is_that_of_the_jacobian() -> None:
    h = 1e-6
    for x in np.random.default_rng(2).uniform(-3, 3, size=(50, 2)):
        steps = h * np.eye(2)
        jacobian = np.stack([(MAP(x + s) - MAP(x - s)) / (2 * h) for s in steps], axis=1)
        assert MAP.determinant(x) == pytest.approx(np.linalg.det(jacobian), abs=1e-6)
        slope = [(MAP.determinant(x + s) - MAP.determinant(x - s)) / (2 * h) for s in steps]
        np.testing.assert_allclose(MAP.gradient(x), slope, atol=1e-6)


def test_the_step_of_the_oscillator() -> None:
    """Every start is among the preimages of its image, the determinant is that of the Jacobian, J0 has two branches."""
    h = 1e-6
    np.testing.assert_array_equal(OSCILLATOR(OSCILLATOR.fixed_point), [0, 0])
    for x in np.random.default_rng(3).uniform(-3, 3, size=(50, 2)):
        found = OSCILLATOR.preimages(OSCILLATOR(x))
        np.testing.assert_allclose(OSCILLATOR(found), np.broadcast_to(OSCILLATOR(x), found.shape), atol=1e-6)
        assert np.abs(found - x).max(axis=1).min() < 1e-6
        jacobian = np.stack([(OSCILLATOR(x + s) - OSCILLATOR(x - s)) / (2 * h) for s in h * np.eye(2)], axis=1)
        assert OSCILLATOR.determinant(x) == pytest.approx(np.linalg.det(jacobian), abs=1e-6)
        slope = [(OSCILLATOR.determinant(x + s) - OSCILLATOR.determinant(x - s)) / (2 * h) for s in h * np.eye(2)]
        np.testing.assert_allclose(OSCILLATOR.gradient(x), slope, atol=1e-6)
    left, right = OSCILLATOR.fold_curves(np.full(2, -3.5), np.full(2, 3.5))
    assert left[:, 0].max() < 0 < right[:, 0].min()
    np.testing.assert_allclose(OSCILLATOR.determinant(np.concatenate([left, right])), 0.0, atol=1e-12)


def test_the_fold_curves_are_zeros_on_both_sides() -> None:
    low, high = (-4.0, -4.0), (6.0, 6.0)
    left, right = MAP.fold_curves(low, high, step=0.05)
    assert (left[:, 0] < 0).all()
    assert (right[:, 0] > 0).all()
    for curve in (left, right):
        np.testing.assert_allclose(MAP.determinant(curve), 0.0, atol=1e-12)
        np.testing.assert_allclose(MAP.fold_height(curve[:, 0]), curve[:, 1], atol=1e-9)
        gaps = np.linalg.norm(np.diff(curve, axis=0), axis=1)
        assert gaps.max() < 0.06
        ends = np.minimum(np.abs(curve[[0, -1]] - low).min(axis=1), np.abs(curve[[0, -1]] - high).min(axis=1))
        assert (ends < 0.06).all()  # it was followed to the border


def test_a_closed_curve_is_followed_once() -> None:
    def circle(p: Array) -> float:
        return float(p @ p - 1)

    curve = trace(circle, lambda p: 2 * p, np.array([1.0, 0.0]), (-2, -2), (2, 2), 0.01)
    assert len(curve) == pytest.approx(2 * np.pi / 0.01, rel=0.01)
    np.testing.assert_allclose(np.linalg.norm(curve, axis=1), 1.0, rtol=1e-12)


def test_the_attractor_is_mapped_to_itself() -> None:
    loop = as_loop(attractor(MAP, MAP.fixed_point))
    few = thinned(loop, 50)
    assert 45 <= len(few) <= 50
    distances = np.linalg.norm(MAP(few)[:, None] - loop[None], axis=2).min(axis=1)
    assert distances.max() < 5e-3
    assert np.ptp(loop[:, 0]) == pytest.approx(1.297, abs=0.01)  # from 0.593 to 1.890


def test_orbits_that_run_away_leave_nothing() -> None:
    assert len(attractor(lambda p: 2 * p, [1.0, 0.0])) == 0


@pytest.mark.parametrize(("value", "count"), [(-3.0, 0), (0.0, 2), (5.0, 2)])
def test_scalar_preimages(value: float, count: int) -> None:
    found = euler.preimages(value, 0.5)
    assert len(found) == count
    np.testing.assert_allclose(euler.step(np.array(found), 0.5), value, atol=1e-12)


def test_the_double_preimage_lies_on_the_fold() -> None:
    turn = euler.fold(0.5)
    value = float(euler.step(np.array(turn), 0.5))
    assert euler.preimages(value, 0.5) == [turn]
