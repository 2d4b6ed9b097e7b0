"""Secants of pairs: what is proved about them holds for exact determinants."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.enclosures.secants import Secants, SlopePattern, determinants
from tests.engines.boxes.making import determinant, setting_of


def bent(factor: float) -> ircert.Graph:
    """x + factor relu(x)."""
    build = ircert.Builder(1)
    return build.graph(build.affine(build.concat(build.input, build.relu(build.input)), [[1.0, factor]]))


def turning() -> ircert.Graph:
    """(x - 2 relu(x), relu(x)): one output folds, both together do not."""
    build = ircert.Builder(1)
    both = build.concat(build.input, build.relu(build.input))
    return build.graph(build.affine(both, [[1.0, -2.0], [0.0, 1.0]]))


ON, FREE = SlopePattern(np.array([True]), np.array([False])), SlopePattern(np.array([False]), np.array([True]))


@pytest.mark.rule("E-2")
@pytest.mark.parametrize(("factor", "free", "on"), [(1.0, True, True), (-0.5, True, True), (-2.0, False, True)])
def test_a_kink_that_may_turn_is_no_injection(factor: float, free: bool, on: bool) -> None:
    secants = Secants(setting_of(bent(factor), [0.0]))
    assert secants.injective(FREE) is free
    assert secants.injective(ON) is on
    assert secants.asked == 2


def test_slopes_that_vanish_somewhere_prove_nothing() -> None:
    """x - relu(x) is flat where it is on."""
    assert not Secants(setting_of(bent(-1.0), [0.0])).injective(FREE)
    assert not Secants(setting_of(bent(-1.0), [0.0])).injective(ON)


def test_more_outputs_than_inputs_are_projected() -> None:
    assert Secants(setting_of(turning(), [0.0])).injective(ON)


@pytest.mark.parametrize(("factor", "good"), [(-0.9, True), (4.0, True), (-1.1, False)])
def test_many_inputs_by_elimination(factor: float, good: bool) -> None:
    """A (x + factor relu(x1 + 9 x2) e1) with 20 inputs: determinants on both sides differ by the factor 1 + factor."""
    rng = np.random.default_rng(0)
    build = ircert.Builder(20)
    bent = build.relu(build.affine(build.input, np.eye(1, 20) + 9 * np.eye(1, 20, 1)))
    whole = build.add(build.input, build.affine(bent, factor * np.eye(20, 1)))
    setting = setting_of(build.graph(build.affine(whole, rng.standard_normal((20, 20)))), np.zeros(20))
    assert Secants(setting).injective(FREE) is good


def test_fewer_outputs_than_inputs_are_never_injective() -> None:
    build = ircert.Builder(2)
    setting = setting_of(build.graph(build.affine(build.input, [[1.0, 1.0]])), [0.0, 0.0])
    nothing = np.zeros(0, dtype=bool)
    assert not Secants(setting).injective(SlopePattern(nothing, nothing))


def test_the_interval_of_free_slopes() -> None:
    low, high = Secants(setting_of(bent(-3.0), [0.0])).interval(FREE)
    assert low[0, 0] <= -2.0 <= 1.0 <= high[0, 0]
    assert high[0, 0] - low[0, 0] < 3.0 + 1e-12


def test_matrices_for_rows_of_slopes() -> None:
    found = Secants(setting_of(turning(), [0.0])).jacobians(np.array([[0.0], [0.5], [1.0]]))
    assert found[:, :, 0].tolist() == [[1.0, 0.0], [0.0, 0.5], [-1.0, 1.0]]


def test_differences_in_a_box() -> None:
    """x + relu(x): no difference but 0 has the image 0; with x - 2 relu(x) there are some."""
    low, high = np.array([0.5]), np.array([1.0])
    assert Secants(setting_of(bent(1.0), [0.0])).apart(FREE, low, high)
    assert not Secants(setting_of(bent(-2.0), [0.0])).apart(FREE, low, high)
    assert not Secants(setting_of(bent(1.0), [0.0])).apart(FREE, -low, high), "the box holds 0"


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_determinants_are_off_by_no_more_than_their_doubt(n: int) -> None:
    matrices = np.random.default_rng(n).standard_normal((20, n, n)) * 1e3
    values, doubt = determinants(matrices, np.abs(matrices).max(axis=0), np.zeros((n, n)))
    for matrix, value in zip(matrices.tolist(), values.tolist(), strict=True):
        exact = determinant([[Fraction(v) for v in row] for row in matrix])
        assert abs(exact - Fraction(value)) <= Fraction(doubt)
    assert doubt < 1e-9 * np.abs(values).max()


def test_errors_of_entries_are_carried() -> None:
    """det [[a, b], [c, d]] with every entry off by 1/8, exactly."""
    matrix, off = np.array([[[3.0, 1.0], [2.0, 4.0]]]), 0.125
    value, doubt = determinants(matrix, np.abs(matrix[0]), np.full((2, 2), off))
    worst = abs((3 + off) * (4 + off) - (1 - off) * (2 - off) - 10)
    assert value[0] == 10.0
    assert doubt >= worst
