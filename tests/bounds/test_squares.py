"""Ranges and lines of squares, against rational numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from ircert.bounds.squares import SquareBounds

ENDS = [0.0, 5e-324, 1e-310, 1e-160, 0.3, 1.0, 1.0 + 2**-52, 7e3, 1e153, 1.4e154, 1e200, 1.7e308]


def bounds(count: int, most: float = np.inf) -> SquareBounds:
    return SquareBounds(np.full(count, most))


@pytest.mark.rule("IR-21")
def test_points_and_intervals() -> None:
    """Values, slopes and lines hold at both ends, in the middle and at 0, from the smallest floats to the largest."""
    ends = np.unique([*ENDS, *(-v for v in ENDS), *np.random.default_rng(0).normal(size=20)])
    low, high = (part.ravel() for part in np.meshgrid(ends, ends))
    low, high = np.minimum(low, high), np.maximum(low, high)
    found = bounds(len(low))
    (value, value_too), _ = found.at(low)
    bottom, top = found.values(low, high)
    (least, most), lines = found.around(low[:, None], high[:, None])
    for k in range(len(low)):
        a, b = Fraction(low[k]), Fraction(high[k])
        assert value[k] == np.inf or value[k] <= a * a
        assert value_too[k] == np.inf or a * a <= value_too[k]
        for z in (a, b, (a + b) / 2, (3 * a + b) / 4, Fraction(0)):
            if a <= z <= b:
                assert bottom[k] <= z * z
                assert top[k] == np.inf or z * z <= top[k]
                if np.isfinite(least[k, 0]) and np.isfinite(most[k, 0]):
                    assert least[k, 0] <= 2 * z <= most[k, 0]
                if np.isfinite(lines.error[k, 0]):
                    line = Fraction(lines.slope[k, 0]) * z + Fraction(lines.shift[k, 0])
                    assert abs(z * z - line) <= Fraction(lines.error[k, 0])


def test_lines_are_tight() -> None:
    _, lines = bounds(1).around(np.array([[2.0]]), np.array([[2.5]]))
    assert lines.error[0, 0] == pytest.approx(0.25**2 / 2)  # a parabola is within (b - a)² / 8 of a line


def test_nothing_is_said_of_steep_slopes_and_of_what_is_no_number() -> None:
    found = bounds(3, 4.0)
    low, high = np.array([[1.0], [-3.0], [np.nan]]), np.array([[2.0], [1.0], [np.nan]])
    (least, most), lines = found.around(low, high)
    assert (least[0, 0], most[0, 0]) == (2.0, 4.0)
    assert np.isnan(least[1:]).all()
    assert np.isnan(most[1:]).all()
    assert lines.error[2, 0] == np.inf
    assert found.at(np.array([np.nan, np.inf]))[0][1].tolist() == [np.inf, np.inf]
    assert found.values(np.array([np.nan]), np.array([1.0]))[1].tolist() == [np.inf]
