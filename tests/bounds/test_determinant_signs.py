"""Signs of determinants in floats are those of exact ones, or none."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

from ircert.bounds.determinant_signs import determinant_signs
from ircert.ir.arrays import Array


def exact_sign(matrix: Array) -> int:
    entries = [fmpq(*Fraction(v).as_integer_ratio()) for v in matrix.ravel().tolist()]
    value = fmpq_mat(*matrix.shape, entries).det()
    return (value > 0) - (value < 0)


def nearly_singular(rng: np.random.Generator, size: int) -> Array:
    left, values, right = np.linalg.svd(rng.standard_normal((size, size)))
    values[-1] *= 10.0 ** -rng.uniform(0, 18)
    return np.asarray(left * values @ right)


@pytest.mark.rule("E-2")
@pytest.mark.parametrize("size", [1, 2, 9, 16, 40])
def test_signs_are_exact(size: int) -> None:
    rng, none = np.random.default_rng(size), np.zeros((size, size))
    for _ in range(10):
        matrix = rng.standard_normal((size, size))
        assert determinant_signs(matrix[None], none)[0] == exact_sign(matrix)
        close = nearly_singular(rng, size)
        assert determinant_signs(close[None], none)[0] in (0, exact_sign(close))


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e150])
def test_rows_of_any_size(scale: float) -> None:
    matrix = np.random.default_rng(0).standard_normal((12, 12))
    matrix[3] *= scale
    assert determinant_signs(matrix[None], np.zeros((12, 12)))[0] in (0, exact_sign(matrix))


def test_signs_hold_for_all_matrices_within_the_error() -> None:
    matrix = np.diag([1.0, -0.5, 2.0])
    assert determinant_signs(matrix[None], np.full((3, 3), 0.01)).tolist() == [-1.0]
    assert determinant_signs(matrix[None], np.diag([0.0, 0.5, 0.0])).tolist() == [0.0]


def test_what_is_singular_or_no_number_has_no_sign() -> None:
    odd = np.array([np.ones((2, 2)), np.full((2, 2), np.nan), np.full((2, 2), 1e308), np.zeros((2, 2))])
    assert determinant_signs(odd, np.zeros((2, 2))).tolist() == [0.0] * 4
    assert determinant_signs(np.eye(2)[None], np.full((2, 2), np.inf)).tolist() == [0.0]
