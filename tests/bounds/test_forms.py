"""Affine forms hold the numbers that they stand for."""

from __future__ import annotations

from fractions import Fraction
from itertools import product as products

import numpy as np
import pytest

from ircert.bounds import forms


def some(rng: np.random.Generator, shape: tuple[int, ...], boxes: int) -> np.ndarray:
    found = rng.normal(size=(*shape, 4, boxes)) * 10.0 ** rng.uniform(-3, 2, (*shape, 4, boxes))
    found[..., -1, :] = np.abs(found[..., -1, :])
    return found


def value(form: np.ndarray, d: list[Fraction], share: int) -> Fraction:
    """The number at a point, at an end of what it may be."""
    c, *g, e = (Fraction(v) for v in form.tolist())
    return c + sum((a * b for a, b in zip(g, d, strict=True)), Fraction(0)) + share * e


@pytest.mark.rule("FS-1")
def test_products_sums_and_determinants_hold_exact_ones() -> None:
    rng = np.random.default_rng(0)
    matrix = some(rng, (2, 2), 6)
    found = forms.determinant(matrix)
    low, high = forms.ranges(found)
    for k, corner in products(range(6), products((-1, 1), repeat=2)):
        t = [Fraction(s) for s in corner]
        for shares in rng.integers(-1, 2, (8, 4)).tolist():
            a, b, c, e = (value(matrix[i, j, :, k], t, s) for (i, j), s in zip(np.ndindex(2, 2), shares, strict=True))
            exact = a * e - b * c
            assert abs(exact - value(found[:, k], t, 0)) <= Fraction(found[-1, k])
            assert Fraction(low[k]) <= exact <= Fraction(high[k])


def test_larger_determinants() -> None:
    rng = np.random.default_rng(1)
    matrix = np.zeros((4, 4, 4, 3))
    matrix[..., 0, :] = rng.normal(size=(4, 4, 3))
    found = forms.determinant(matrix)
    assert np.allclose(found[0], np.linalg.det(np.moveaxis(matrix[..., 0, :], 2, 0)))
    assert (found[-1] < 1e-12).all()
