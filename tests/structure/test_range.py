"""Operations on ranges hold all values of points of these ranges, and attain no end that they say is not attained."""

from __future__ import annotations

from fractions import Fraction
from itertools import product as pairs

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ircert.structure.range import (
    Range,
    absolute,
    clipped,
    largest,
    one_of,
    product,
    reciprocal,
    rectified,
    square,
    total,
)

F = Fraction
ENDS = [-np.inf, -3.0, -1.0, -0.1, 0.0, 2.0**-600, 0.5, 1.0, 7.0, np.inf]


@st.composite
def single(draw: st.DrawFn) -> Range:
    low, high = sorted(draw(st.lists(st.sampled_from(ENDS), min_size=2, max_size=2)))
    low, high = min(low, 7.0), max(high, -3.0)
    above, below = (draw(st.booleans()) and low < high for _ in range(2))
    return Range(*(np.array([v]) for v in (low, high)), *(np.array([v]) for v in (above, below)))


def points(x: Range) -> list[Fraction]:
    """Ends that are attained, and points near both and between."""
    low, high = max(float(x.low[0]), -1e30), min(float(x.high[0]), 1e30)
    shares = [F(1, 10**40), F(1, 3), F(1, 2), 1 - F(1, 10**40)]
    inner = [F(low) + (F(high) - F(low)) * share for share in shares] if low < high else []
    ends = [F(low)] if not x.above[0] else []
    return inner + ends + ([F(high)] if not x.below[0] else [])


def holds(x: Range, value: Fraction) -> bool:
    low, high = float(x.low[0]), float(x.high[0])
    up = low == -np.inf or (value > F(low) if x.above[0] else value >= F(low))
    return up and (high == np.inf or (value < F(high) if x.below[0] else value <= F(high)))


@pytest.mark.rule("ST-5")
@given(single(), single())
def test_all_values_are_held(a: Range, b: Range) -> None:
    low, high = np.array([-0.1]), np.array([0.5])
    for x in points(a):
        assert holds(-a, -x)
        assert holds(absolute(a), abs(x))
        assert holds(rectified(a), max(x, F(0)))
        assert holds(square(a), x * x)
        assert holds(clipped(a, low, high), min(max(x, F(-0.1)), F(0.5)))
        assert x == 0 or not a.never_zero[0] or holds(reciprocal(a), 1 / x)
        assert a.least[0] <= abs(x)
    for x, y in pairs(points(a), points(b)):
        assert holds(total([a, b]), x + y)
        assert holds(product(a, b), x * y)
        assert holds(largest([a, b]), max(x, y))
        assert holds(one_of([a, b]), x)
    assert holds(a.within(a), points(a)[0])


@pytest.mark.rule("ST-5")
def test_signs() -> None:
    open_at_zero = Range.between(1, 0.0, 1.0, strictly=True)
    assert open_at_zero.positive.all()
    assert (-open_at_zero).negative.all()
    assert not Range.between(1, 0.0, 1.0).never_zero.any()
    assert Range.beside([open_at_zero, -open_at_zero]).take(np.array([1, 1])).negative.all()
