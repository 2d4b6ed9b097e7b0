"""What exp does on intervals, many at once, by additions and products of floats: no library's exp is asked.

With k = x / log 2, rounded to a whole number, and r = x - k log 2, exp(x) = 2^k exp(r). log 2 is HIGH + LOW, but for
less than 2^-85; HIGH has 32 bits and k at most 11, so that k HIGH is exact. Both subtractions have results below 1/2,
each off by at most 2^-55, and k LOW is off by less than 2^-72. So r is off by less than u = 2^-53, and |r| < 0.36.

exp(r) is the sum of r^i / i! for i <= 13, but for 2 * 0.36^14 / 14! < u / 8. Its coefficients are rounded (u e^0.36 in
all), and Horner's rule rounds 26 times (26 u e^0.36 in all). exp(r) > 0.69 and e^0.36 < 1.44: the result is off by less
than (1 + 1/8 + 27 * 1.44) / 0.69 u < 2^-47 of itself, and by the smallest floats where 2^k makes it too small.
"""

from __future__ import annotations

import math

import numpy as np
from flint import arb, ctx

from ircert.bounds.curves import Lines, Range, less_line
from ircert.bounds.rounding import TINY
from ircert.bounds.steep import SteepBounds
from ircert.bounds.whole_turns import shortened
from ircert.ir.arrays import Array

DEGREE = 13
COEFFICIENTS = [1 / math.factorial(i) for i in range(DEGREE + 1)]
ROOM = 2.0**-46
LEAST, MOST = -746.0, 710.0
"""exp of numbers below is less than the smallest float, and of numbers above more than the largest."""
LARGE = 1e308
"""Less than numbers that are too large for floats."""


def _parts(bits: int = 32) -> tuple[float, float]:
    """HIGH and LOW."""
    with ctx.workprec(200):
        log = arb(2).log()
        high = shortened(float(log.mid()), bits)
        return high, float((log - high).mid())


HIGH, LOW = _parts()


class ExpBounds(SteepBounds):
    """exp of the entries (first axis) of a node; it is its own derivative."""

    farther = 256.0

    def at(self, x: Array) -> tuple[Range, Range]:
        """Ranges of value and slope at points, which may be infinite."""
        with np.errstate(all="ignore"):
            value = _about(x)
            room = ROOM * value + 4 * TINY
            low = np.where(value < np.inf, np.maximum(value - room, 0.0), LARGE)
            unknown = np.isnan(x)
            found = np.where(unknown, 0.0, low), np.where(unknown, np.inf, value + room)
        return found, found

    def values(self, low: Array, high: Array) -> Range:
        """Bounds on exp between two numbers each; it rises."""
        return self.at(low)[0][0], self.at(high)[0][1]

    def rates(self, low: Array, high: Array) -> Range:
        return self.values(low, high)

    def around(self, low: Array, high: Array) -> tuple[Range, Lines]:
        """F(z) = exp(z) - s z is convex: it is largest at an end, and lies above its tangent at each point c, which is
        F(c) - |exp(c) - s| max(c - low, high - c) at least; it is flat where exp(c) = s, about."""
        with np.errstate(all="ignore"):
            (at_low, _), (at_high, _) = self.at(low), self.at(high)
            slope = (at_high[0] - at_low[0]) / (high - low)
            slope = np.where(np.isfinite(slope), slope, at_low[0])
            slope = np.minimum(np.maximum(slope, at_low[0]), at_high[1])
            c = np.minimum(np.maximum(np.log(slope), low), high)
            bottom = self._tangent(c, np.maximum(c - low, high - c), slope)[0]
            tops = [less_line(value, slope, z)[1] for value, z in ((at_low, low), (at_high, high))]
            lines = Lines.between(slope, bottom, np.maximum(*tops))
        return self.slopes(low, high), lines

    def slope_lines(self, low: Array, high: Array) -> Lines:
        """Those around itself."""
        return self.around(low, high)[1]


def _about(x: Array) -> Array:
    """exp(x) in floats."""
    x = np.clip(np.where(np.isnan(x), 0.0, x), LEAST, MOST)
    k = np.rint(x / HIGH)
    r = (x - k * HIGH) - k * LOW
    total = np.full(x.shape, COEFFICIENTS[-1])
    for coefficient in COEFFICIENTS[-2::-1]:
        total *= r
        total += coefficient
    return np.asarray(np.ldexp(total, k.astype(np.int64)))
