"""Lines around the slope of a curve on intervals, many at once; what they miss it by is of second order.

With c the middle of [l, h], t = max(c - l, h - c), and g the curve, Taylor's formula says on [l, h]

    g'(z) = g'(c) + g''(c) (z - c) + R,   |R| <= max |g'''| t^2 / 2.

g'' at points is a polynomial on each cell of width 1/32 with a bound on what it is off by, and |g'''| is bounded on
each cell: both from interval arithmetic, once. Where the interval leaves the cells, or has a kink, the slope is its
range (`ircert/bounds/curves.py`).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from flint import arb, arb_series, ctx

from ircert.bounds.curve_tables import BITS, CELLS, HALF
from ircert.bounds.curves import Lines, bounds_of
from ircert.bounds.rounding import UNIT
from ircert.ir.arrays import Array, Indices
from ircert.ir.ops import Curve

DEGREE = 4
ROUNDINGS = 32
"""More than Horner's rule has, with that of its argument."""


class SlopeLines:
    """The tables of g'' and |g'''| of a curve.

    coefficients: (degree + 1, cells) of g'' in z - middle; errors: what g'' is off by; thirds: bounds on |g'''|
    """

    def __init__(self, curve: Curve) -> None:
        self.bounds, self.kinks = bounds_of(curve), curve.kinks
        left, right = curve.tails()
        self.start, end = -round(left.start * CELLS), round(right.start * CELLS)
        with ctx.workprec(BITS):
            cells = [_cell(curve, k) for k in range(self.start, end)]
        self.coefficients: Array = np.ascontiguousarray(np.array([c for c, _, _ in cells]).T)
        self.errors: Array = np.array([e for _, e, _ in cells])
        self.windows: list[Array] = [np.array([t for _, _, t in cells])]
        """Bounds on |g'''| on 2^k neighbouring cells."""
        while len(self.windows[-1]) > 1 << len(self.windows) - 1:
            last, step = self.windows[-1], 1 << len(self.windows) - 1
            self.windows.append(np.maximum(last[:-step], last[step:]))

    def around(self, low: Array, high: Array, least: Array, most: Array) -> Lines:
        """Lines around g' between two numbers each, where it is known to be between `least` and `most`."""
        middle = least / 2 + most / 2
        wide = np.maximum(most - middle, middle - least) * (1 + 4 * UNIT) + 4 * UNIT * np.abs(middle) + 1e-300
        slope = np.zeros_like(middle)
        inside = np.flatnonzero(self._has_cells(low, high).ravel())
        if len(inside):
            tilt, shift, error = self._taylor(low.ravel()[inside], high.ravel()[inside])
            better = error < wide.ravel()[inside]
            where = np.unravel_index(inside[better], middle.shape)
            slope[where], middle[where], wide[where] = tilt[better], shift[better], error[better]
        return Lines(slope, middle, wide)

    def _has_cells(self, low: Array, high: Array) -> Array:
        count = len(self.errors)
        found = (low * CELLS >= self.start) & (high * CELLS < self.start + count) & (low <= high)
        for kink in self.kinks:
            found &= (high < kink) | (low > kink)
        return np.asarray(found)

    def _taylor(self, low: Array, high: Array) -> tuple[Array, Array, Array]:
        c = low / 2 + high / 2
        reach = np.maximum(c - low, high - c) * (1 + 4 * UNIT)
        cells = self._cells(c)
        h = c - (cells + (self.start + 0.5)) / CELLS
        tilt = self.coefficients[-1][cells]
        for row in self.coefficients[-2::-1]:
            tilt = tilt * h + row[cells]
        _, (least, most) = self.bounds.at(c)
        rate = least / 2 + most / 2
        shift = rate - tilt * c
        off = np.maximum(most - rate, rate - least) + self.errors[cells] * reach + self._third(low, high) * reach**2 / 2
        room = 8 * UNIT * (np.abs(rate) + np.abs(tilt * c) + np.abs(tilt) * reach)
        return tilt, shift, off * (1 + 16 * UNIT) + room + 1e-300

    def _cells(self, z: Array) -> Indices:
        return np.asarray(np.clip(np.floor(z * CELLS) - self.start, 0, len(self.errors) - 1).astype(np.int64))

    def _third(self, low: Array, high: Array) -> Array:
        """A bound on |g'''| on all cells that meet an interval: two windows that overlap cover them."""
        first, last = self._cells(low), self._cells(high)
        level = np.frexp((last - first + 1).astype(np.float64))[1] - 1
        found = np.zeros(len(low))
        for k in np.unique(level).tolist():
            here, window = level == k, self.windows[k]
            found[here] = np.maximum(window[first[here]], window[last[here] + 1 - (1 << k)])
        return found


def _cell(curve: Curve, k: int) -> tuple[list[float], float, float]:
    """Coefficients of g'' on a cell, what values computed with them are off by, and a bound on |g'''|."""
    piece = sum(kink <= k / CELLS for kink in curve.kinks)
    at = _second(curve, arb((k + 0.5) / CELLS), piece)
    floats = [float(c.mid()) for c in at[: DEGREE + 1]]
    whole = _second(curve, arb(k / CELLS).union(arb((k + 1) / CELLS)), piece)
    powers = [arb(HALF) ** i for i in range(DEGREE + 2)]
    size = sum((abs(arb(c)) * p for c, p in zip(floats, powers, strict=False)), arb(0))
    off = sum((abs(c - f) * p for c, f, p in zip(at, floats, powers, strict=False)), arb(0))
    error = off + abs(whole[DEGREE + 1]) * powers[-1] + ROUNDINGS * UNIT * size + 1e-300
    return floats, _up(error), _up(abs(whole[1]))


def _second(curve: Curve, x: arb, piece: int) -> list[arb]:
    """The coefficients of the power series of g'' at a number or an interval."""
    length = DEGREE + 4
    found = curve.series(arb_series([x, 1], prec=length), piece).coeffs()
    whole = [*found, *[arb(0)] * (length - len(found))]
    return [(i + 2) * (i + 1) * c for i, c in enumerate(whole[2:])]


def _up(x: arb) -> float:
    return float(np.nextafter(float(x.upper()), np.inf))


@lru_cache(maxsize=64)
def slope_lines(curve: Curve) -> SlopeLines:
    """The lines around the slope of a curve; the tables are made once in a process."""
    return SlopeLines(curve)
