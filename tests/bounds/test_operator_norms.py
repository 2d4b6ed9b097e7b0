"""Upper bounds on operator norms: never below the norm, and close to it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from ircert.bounds.operator_norms import Unbounded, any_norm_bound, norm_bound, norm_estimate, product
from ircert.geometry.norm import Norm


@pytest.mark.parametrize(("norm", "wanted"), [(Norm.INF, 7.0), (Norm.ONE, 6.0), (Norm.TWO, 5.4649857)])
def test_a_matrix_by_hand(norm: Norm, wanted: float) -> None:
    matrix = np.array([[1.0, -2.0], [3.0, 4.0]])
    if norm == "2":  # the root of the larger root of t² - 30 t + 100
        wanted = float(np.sqrt(15 + np.sqrt(125.0)))
    assert wanted <= float(norm_bound(matrix, norm)) <= wanted * (1 + 1e-3)
    assert float(norm_estimate(matrix, norm)) == pytest.approx(wanted)
    assert float(any_norm_bound(matrix)) >= wanted


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e150])
def test_rotations_have_norm_1_whatever_their_size(scale: float) -> None:
    """3/5 and 4/5, times the scale: the exact norm is the scale but for the rounding of the entries."""
    matrix = scale * np.array([[0.6, -0.8], [0.8, 0.6]])
    exact = (Fraction(float(matrix[0, 0])) ** 2 + Fraction(float(matrix[1, 0])) ** 2, Fraction(scale) ** 2)
    bound = norm_bound(matrix, Norm.TWO)
    assert bound**2 >= exact[0]
    assert float(bound) == pytest.approx(scale, rel=1e-3)


def test_zeros_wide_and_tall_matrices() -> None:
    assert norm_bound(np.zeros((3, 2)), Norm.TWO) == 0
    wide = np.ones((1, 4))
    assert float(norm_bound(wide, Norm.TWO)) == pytest.approx(2.0, rel=1e-3)
    assert norm_bound(wide, Norm.TWO) == norm_bound(wide.T, Norm.TWO)


def test_what_leaves_the_floats_has_no_bound() -> None:
    for norm in Norm:
        with pytest.raises(Unbounded):
            norm_bound(np.full((2, 2), 1e308), norm)
        with pytest.raises(Unbounded):
            norm_estimate(np.array([[np.nan]]), norm)


def test_products_know_what_they_round() -> None:
    a, b = np.array([[0.1, 0.7]]), np.array([[0.3], [0.9]])
    found, error = product(a, b)
    exact = sum(Fraction(x) * Fraction(y) for x, y in zip(a[0].tolist(), b[:, 0].tolist(), strict=True))
    assert abs(exact - Fraction(float(found[0, 0]))) <= error < Fraction(1, 10**14)
