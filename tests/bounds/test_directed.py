"""Rounded down: never more than the exact result, equal to it where that is a float, next to it elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from ircert.bounds.directed import exp_down, exp_up, product_down, quotient_down, sum_down

FLOATS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 1e308, -1e308, 2.0**-540, 1 + 2.0**-52, 0.1]),
)
LARGEST = float(np.finfo(np.float64).max)


def one(function: Callable[..., np.ndarray], *values: float) -> float:
    return float(function(*(np.array([v]) for v in values))[0])


@given(FLOATS, FLOATS)
def test_sums_and_products(a: float, b: float) -> None:
    pairs = ((one(sum_down, a, b), Fraction(a) + Fraction(b)), (one(product_down, a, b), Fraction(a) * Fraction(b)))
    for found, exact in pairs:
        assert found == -math.inf or Fraction(found) <= exact
        above = math.nextafter(math.nextafter(found, math.inf), math.inf)
        assert found == LARGEST or above == math.inf or Fraction(above) > exact
    if abs(a) < 2**20 and abs(b) < 2**20 and a == round(a) and b == round(b):
        assert [found for found, _ in pairs] == [a + b, a * b]


@given(FLOATS, FLOATS.filter(lambda b: b > 0))
def test_quotients(a: float, b: float) -> None:
    found = one(quotient_down, a, b)
    assert found == -math.inf or Fraction(found) <= Fraction(a) / Fraction(b)


@given(st.floats(-800, 800))
def test_exponentials(x: float) -> None:
    assert not arb(one(exp_down, x)) > arb(x).exp()
    high = one(exp_up, x)
    assert high == math.inf or not arb(high) < arb(x).exp()
    assert one(exp_down, x) >= one(exp_up, x) * (1 - 1e-15) - 5e-323 or high == math.inf


@pytest.mark.parametrize(("a", "b"), [(-np.inf, 5.0), (-np.inf, np.inf), (np.inf, -np.inf)])
def test_infinite_ends(a: float, b: float) -> None:
    assert one(sum_down, a, b) == -np.inf
    assert one(product_down, a, 0.0) == 0.0
    assert (one(exp_down, -np.inf), one(exp_up, -np.inf), one(exp_up, np.inf)) == (0.0, 0.0, np.inf)
