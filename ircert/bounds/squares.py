"""What squares do on intervals, many at once; as `curves.py` says it of curves that have tables."""

from __future__ import annotations

import numpy as np

from ircert.bounds.curves import Lines, Range
from ircert.bounds.rounding import UNIT
from ircert.bounds.steep import SteepBounds
from ircert.ir.arrays import Array


class SquareBounds(SteepBounds):
    """The squares of the entries (first axis) of a node."""

    def at(self, x: Array) -> tuple[Range, Range]:
        """Ranges of value and slope at points; 2 x rounds nothing, and x² once."""
        with np.errstate(all="ignore"):
            value, slope = x * x, 2 * x
            room = 2 * UNIT * value + 1e-300
            lost = ~np.isfinite(slope)
            low, high = np.maximum(value - room, 0.0), value + room
            low = np.where(np.isfinite(value), low, 0.0)
            high = np.where(np.isnan(value), np.inf, high)
        return (low, high), (np.where(lost, -np.inf, slope), np.where(lost, np.inf, slope))

    def values(self, low: Array, high: Array) -> Range:
        """Bounds on the squares of numbers between two each."""
        (least, most), (least_too, most_too) = self.at(low)[0], self.at(high)[0]
        outside = (low > 0) | (high < 0)  # what is no number is inside
        return np.where(outside, np.minimum(least, least_too), 0.0), np.maximum(most, most_too)

    def rates(self, low: Array, high: Array) -> Range:
        """The derivative is 2 z."""
        return 2 * low, 2 * high

    def around(self, low: Array, high: Array) -> tuple[Range, Lines]:
        """With s = low + high, about, F(z) = z² - s z is convex: it is largest at an end, where it is z (z - s), and is
        -s² / 4 at least."""
        with np.errstate(all="ignore"):
            total = low + high
            slope = np.where(np.isfinite(total), total, 0.0)
            top, bottom = np.full(low.shape, -np.inf), -slope * slope / 4
            for z in (low, high):
                end = z * (z - slope)  # two roundings
                top = np.maximum(top, end + 4 * UNIT * np.abs(z) * (np.abs(z) + np.abs(slope)))
            bottom = bottom * (1 + 4 * UNIT)
            lines = Lines.between(slope, bottom, top)
        return self.slopes(low, high), lines

    def slope_lines(self, low: Array, high: Array) -> Lines:
        """The derivative is 2 z."""
        return Lines(np.full(low.shape, 2.0), np.zeros(low.shape), np.zeros(low.shape))
