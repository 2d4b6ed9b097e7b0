"""Bounds on spectral norms by Cholesky factors: never below the norm, and close to it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from ircert.bounds.spectral import Parts, spectral_bound


@pytest.mark.parametrize("complex_numbers", [False, True])
@pytest.mark.parametrize("shape", [(1, 1, 1), (5, 2, 3), (3, 6, 2), (2, 40, 40), (1, 130, 150)])
def test_the_largest_of_a_stack(shape: tuple[int, int, int], *, complex_numbers: bool) -> None:
    rng = np.random.default_rng(shape[1])
    real, imaginary = rng.normal(size=shape), rng.normal(size=shape) if complex_numbers else None
    found = spectral_bound(Parts(real, imaginary))
    true = np.linalg.norm(real if imaginary is None else real + 1j * imaginary, 2, axis=(1, 2)).max()
    assert found is not None
    assert true * (1 - 1e-12) <= float(found) <= true * (1 + 1e-7)


@pytest.mark.parametrize("scale", [2.0**-1074, 1e-310, 1e-200, 1.0, 1e300])
def test_exact_norms_are_not_undercut(scale: float) -> None:
    """A permutation times a number has that number as its norm, exactly; ones have their count."""
    found = spectral_bound(Parts(scale * np.eye(4)[[2, 0, 3, 1]][None]))
    ones = spectral_bound(Parts(np.full((1, 4, 4), scale / 8)))
    assert found is not None
    assert ones is not None
    assert Fraction(scale) <= found
    assert Fraction(scale / 8) * 4 <= ones
    assert found <= Fraction(scale) * (1 + Fraction(1, 10**8)) + Fraction(2.0**-1070)


def test_zeros_and_what_is_no_number() -> None:
    assert spectral_bound(Parts(np.zeros((2, 3, 4)))) == 0
    assert spectral_bound(Parts(np.zeros((0, 3, 4)))) == 0
    assert spectral_bound(Parts(np.full((1, 2, 2), 1.7e308))) is None
    assert spectral_bound(Parts(np.full((1, 2, 2), np.nan))) is None
