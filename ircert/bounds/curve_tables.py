"""Tables of a curve: what interval arithmetic says about it once, so that floats alone may use it for ever.

Between the tails the curve is cut into cells of width 1/32. On each, value and slope are polynomials in h = x - middle,

    g(x) = c_0 + c_1 h + … + c_7 h^7,   off by at most an error for the cell, which has room for

* the remainder: the next coefficient of the power series at the whole cell, times (1/64)^8 (Taylor);
* the coefficients, rounded to floats;
* Horner's rule in floats: 16 roundings, each of at most u times the sum of |c_k| (1/64)^k, and h itself, which is
  rounded once.

Between *marks* the slope of the curve (or its value) is monotone: on each cell, halved where need be, the derivative
has one sign by interval arithmetic, or is 0 throughout; short intervals where that does not show, kinks and the starts
of tails are marks, with an enclosure of what the curve does on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from flint import arb, arb_series, ctx

from ircert.bounds.rounding import UNIT
from ircert.ir.arrays import Array
from ircert.ir.ops import Curve
from ircert.ir.ops.curves import Tail

CELLS = 32
"""Cells in a unit."""
HALF = 1 / (2 * CELLS)
DEGREE = 7
BITS = 160
ENOUGH = 0.1
"""Remainders that need not be known better: times (1/64)^8 they are less than a unit in the last place of 1."""
SHORTEST = 2.0**-40
"""Intervals that are halved no more."""
MOST = 1_000
"""… of which there may be so many."""
ROUNDINGS = 32
"""More than Horner's rule has, with that of h."""


@dataclass(frozen=True)
class Polynomials:
    """Coefficients (degree + 1, cells), and what each cell may be off by."""

    coefficients: Array
    errors: Array


@dataclass(frozen=True)
class Marks:
    """Disjoint intervals in order, and ranges of value and slope on each."""

    low: Array
    high: Array
    values: tuple[Array, Array]
    slopes: tuple[Array, Array]


@dataclass(frozen=True)
class Tables:
    """All that is known about a curve.

    start:  the cells reach from here, in cells; marks of the slope are where it may turn, those of the value likewise
    bends:  the second derivative; a derivative's own table has none
    tails:  for each side: where it begins, slope and offset of its line, and what value and slope are off by
    """

    start: int
    values: Polynomials
    slopes: Polynomials
    bends: Polynomials | None
    value_marks: Marks
    slope_marks: Marks
    tails: tuple[tuple[float, float, float, float, float], ...]


@lru_cache(maxsize=64)
def tables(curve: Curve) -> Tables:
    """The tables of a curve; made once in a process."""
    with ctx.workprec(BITS):
        return _Maker(curve).made()


@lru_cache(maxsize=64)
def slope_tables(curve: Curve) -> Tables:
    """Those of its derivative, which may jump at kinks: what is said of intervals is so where they have none."""
    made, derivative = tables(curve), _Maker(_Derivative(curve))
    with ctx.workprec(BITS):
        marks = derivative.marks(1), derivative.marks(2)
        assert made.bends is not None
        return Tables(made.start, made.slopes, made.bends, None, *marks, derivative.tails)


class _Derivative:
    """The derivative of a curve, as a curve."""

    def __init__(self, curve: Curve) -> None:
        self.curve, self.kind, self.kinks = curve, f"derivative of {curve.kind}", curve.kinks

    def series(self, x: arb_series, piece: int) -> arb_series:
        """One more term of the curve itself is needed."""
        return self.curve.series(arb_series(x.coeffs(), prec=x.prec + 1), piece).derivative()

    def tails(self) -> tuple[Tail, Tail]:
        """It is within `rate` of `slope` there; second derivatives are at most `bend` far out."""
        left, right = (Tail(t.start, 0.0, t.slope, t.rate, arb(self.curve.bend)) for t in self.curve.tails())
        return left, right


class _Maker:
    def __init__(self, curve: Curve | _Derivative) -> None:
        self.curve, self.left_open = curve, 0
        self.left, self.right = curve.tails()
        self.start, self.end = -round(self.left.start * CELLS), round(self.right.start * CELLS)
        for place in (self.left.start, self.right.start, *curve.kinks):
            assert place * CELLS == round(place * CELLS), f"{curve.kind}: {place} lies inside a cell"

    def made(self) -> Tables:
        cells = [self._cell(k) for k in range(self.start, self.end)]
        values, slopes, bends = (_stacked([cell[order] for cell in cells]) for order in range(3))
        return Tables(self.start, values, slopes, bends, self.marks(1), self.marks(2), self.tails)

    @property
    def tails(self) -> tuple[tuple[float, float, float, float, float], ...]:
        """Both as floats, rounded outward."""
        return tuple(
            (sign * t.start, t.slope, t.offset, _up(t.value), _up(t.rate))
            for sign, t in ((-1.0, self.left), (1.0, self.right))
        )

    def _piece(self, place: float) -> int:
        """The number of the piece that begins at a place, or has it inside."""
        return sum(kink <= place for kink in self.curve.kinks)

    def _series(self, x: arb, piece: int, length: int) -> list[arb]:
        found = self.curve.series(arb_series([x, 1], prec=length), piece).coeffs()
        return [*found, *[arb(0)] * (length - len(found))][:length]

    def _cell(self, k: int) -> list[tuple[list[float], float]]:
        """The polynomials of value, slope and second derivative."""
        middle, piece = (k + 0.5) / CELLS, self._piece(k / CELLS)
        at = self._series(arb(middle), piece, DEGREE + 3)
        slope = [(i + 1) * c for i, c in enumerate(at[1:])]
        bend = [(i + 1) * c for i, c in enumerate(slope[1:])]
        rests = self._remainders(k / CELLS, (k + 1) / CELLS, piece)
        return [_polynomial(part[: DEGREE + 1], rest) for part, rest in zip((at, slope, bend), rests, strict=True)]

    def _remainders(self, low: float, high: float, piece: int) -> list[arb]:
        """Bounds on the next coefficients of value, slope and second derivative at all points of an interval; halved
        where they are large, because interval arithmetic makes too much of long ones."""
        found = [abs(c).upper() for c in self._series(_interval(low, high), piece, DEGREE + 4)[DEGREE + 1 :]]
        rests = [found[0], (DEGREE + 2) * found[1], (DEGREE + 3) * (DEGREE + 2) * found[2]]
        if max(rests[:2]) < ENOUGH or high - low < HALF / 2:
            return rests
        middle = (low + high) / 2
        parts = [self._remainders(*part, piece) for part in ((low, middle), (middle, high))]
        return [max(pair) for pair in zip(*parts, strict=True)]

    def marks(self, order: int) -> Marks:
        """Where the derivative of that order may vanish, and the ends of pieces."""
        found = [(end, end) for end in (-self.left.start, *self.curve.kinks, self.right.start)]
        for k in range(self.start, self.end):
            found += self._doubtful(k / CELLS, (k + 1) / CELLS, order, self._piece(k / CELLS))
        merged: list[tuple[float, float]] = []
        for low, high in sorted(found):
            if merged and low <= merged[-1][1]:
                merged[-1] = merged[-1][0], max(high, merged[-1][1])
            else:
                merged.append((low, high))
        ranges = [self._around(low, high) for low, high in merged]
        columns = np.array([(low, high, *rest) for (low, high), rest in zip(merged, ranges, strict=True)]).T
        lows, highs, *rest = (np.ascontiguousarray(column) for column in columns)
        return Marks(lows, highs, (rest[0], rest[1]), (rest[2], rest[3]))

    def _doubtful(self, low: float, high: float, order: int, piece: int) -> list[tuple[float, float]]:
        """The parts of an interval on which a derivative may vanish, without being 0 throughout."""
        derivative = self._series(_interval(low, high), piece, order + 1)[order]
        if derivative.is_zero() or derivative > 0 or derivative < 0:
            return []
        if high - low <= SHORTEST:
            self.left_open += 1
            if self.left_open > MOST:
                raise ArithmeticError(f"{self.curve.kind}: its derivatives have no clear signs")
            return [(low, high)]
        middle = (low + high) / 2
        return self._doubtful(low, middle, order, piece) + self._doubtful(middle, high, order, piece)

    def _around(self, low: float, high: float) -> tuple[float, float, float, float]:
        """Ranges of value and slope on a mark, from all pieces that meet it, and tails."""
        pieces = range(sum(kink < low for kink in self.curve.kinks), sum(kink <= high for kink in self.curve.kinks) + 1)
        found = [self._series(_interval(low, high), piece, 2) for piece in pieces]
        for sign, tail in ((-1.0, self.left), (1.0, self.right)):
            if low <= sign * tail.start <= high:  # what is known beyond holds up to here
                line = tail.slope * arb(sign * tail.start) + arb(tail.offset)
                found.append([line + tail.value * arb(0, 1), tail.slope + tail.rate * arb(0, 1)])
        values, slopes = ([each[k] for each in found] for k in (0, 1))
        return min(map(_down, values)), max(map(_up, values)), min(map(_down, slopes)), max(map(_up, slopes))


def _polynomial(exact: list[arb], remainder: arb) -> tuple[list[float], float]:
    """Float coefficients, and what values computed with them are off by on a cell."""
    floats = [float(c.mid()) for c in exact]
    size = sum((abs(arb(c)) * arb(HALF) ** i for i, c in enumerate(floats)), arb(0))
    off = sum((abs(c - f) * arb(HALF) ** i for i, (c, f) in enumerate(zip(exact, floats, strict=True))), arb(0))
    return floats, _up(off + abs(remainder) * arb(HALF) ** (DEGREE + 1) + ROUNDINGS * UNIT * size + 1e-300)


def _stacked(cells: list[tuple[list[float], float]]) -> Polynomials:
    coefficients = np.ascontiguousarray(np.array([floats for floats, _ in cells]).T)
    return Polynomials(coefficients, np.array([error for _, error in cells]))


def _interval(low: float, high: float) -> arb:
    return arb(low).union(arb(high))


def _up(x: arb) -> float:
    """A float above the upper end of an interval."""
    return float(np.nextafter(float(x.upper()), np.inf))


def _down(x: arb) -> float:
    return float(np.nextafter(float(x.lower()), -np.inf))
