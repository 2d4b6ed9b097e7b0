"""What a curve does on intervals, many at once: ranges of its values and slopes, and lines around it.

Everything is computed from `curve_tables` by additions, products and comparisons of floats, with room for their
rounding: whatever exp, tanh or erf a platform has plays no part in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TypeAlias

import numpy as np

from ircert.bounds.curve_tables import CELLS, Marks, Polynomials, Tables, slope_tables, tables
from ircert.bounds.rounding import UNIT
from ircert.bounds.whole_turns import ROOM, moved
from ircert.ir.arrays import Array, Indices, Mask
from ircert.ir.ops import Curve

Range: TypeAlias = tuple[Array, Array]
"""Low and high, entry by entry."""
LARGEST = 1e300
"""Lines far out are computed up to here."""


@dataclass(frozen=True)
class Lines:
    """A curve is within `error` of slope * z + shift."""

    slope: Array
    shift: Array
    error: Array

    @staticmethod
    def between(slope: Array, bottom: Array, top: Array) -> Lines:
        """From bounds on what a curve is more than slope * z; nothing is known where they are no numbers."""
        shift = bottom / 2 + top / 2
        error = np.maximum(top - shift, shift - bottom) * (1 + 4 * UNIT) + 4 * UNIT * np.abs(shift) + 1e-300
        known = np.isfinite(shift) & np.isfinite(error)
        return Lines(slope, np.where(known, shift, 0.0), np.where(known, error, np.inf))


class CurveBounds:
    """A curve with its tables."""

    def __init__(self, curve: Curve, given: Tables) -> None:
        self.curve, self.tables = curve, given
        self.least, self.most = -np.inf, np.inf
        everything = self.slopes(np.array([-np.inf]), np.array([np.inf]))
        self.least, self.most = float(everything[0][0]), float(everything[1][0])
        self.steepest: float | Array = max(abs(self.least), abs(self.most))
        """A bound on |slope| everywhere."""

    @cached_property
    def derivative(self) -> CurveBounds:
        """The derivative as a curve: good on intervals without kinks."""
        return type(self)(self.curve, slope_tables(self.curve))

    def slope_lines(self, low: Array, high: Array) -> Lines:
        """Two parallel lines around the derivative; where there are kinks, they say nothing."""
        found = self.derivative.around(low, high)[1]
        for kink in self.curve.kinks:
            found.error[(low <= kink) & (high >= kink)] = np.inf
        return found

    # --- at points ---------------------------------------------------------------------------------------------------

    def at(self, x: Array) -> tuple[Range, Range]:
        """Ranges of value and slope at points (one axis), which may be infinite; at a kink, of one of the slopes."""
        t, count = self.tables, self.tables.values.errors.size
        with np.errstate(over="ignore", invalid="ignore"):
            places = np.floor(x * CELLS) - t.start  # the product with a power of two rounds nothing
        inside = (places >= 0) & (places < count)
        outside = None if inside.all() else np.flatnonzero(~inside)
        if outside is not None:
            places[outside] = 0.0
        h = x - (places + (t.start + 0.5)) / CELLS
        if outside is not None:
            h[outside] = 0.0
        cells = places.astype(np.intp)
        low, off = _polynomial(t.values, cells, h)
        least, slope_off = _polynomial(t.slopes, cells, h)
        high, most = low + off, least + slope_off
        low -= off
        least -= slope_off
        if outside is not None:
            low[outside], high[outside], least[outside], most[outside] = self._in_tails(x[outside])
        return (low, high), (least, most)

    def _in_tails(self, x: Array) -> tuple[Array, Array, Array, Array]:
        """On the lines; nothing is known at what is no number."""
        side = (x > 0).astype(np.int64)
        _, slope, offset, value, rate = (column[side] for column in np.array(self.tables.tails).T)
        line = np.where(slope == 0.0, offset, slope * np.clip(x, -LARGEST, LARGEST) + offset)
        off = (value + 4 * UNIT * (np.abs(line) + np.abs(offset))) * (1 + 8 * UNIT)
        beyond = np.where(slope == 0.0, 0.0, np.sign(slope) * np.where(np.abs(x) > LARGEST, np.sign(x), 0.0))
        low = np.where(beyond < 0, -np.inf, line - off)
        high = np.where(beyond > 0, np.inf, line + off)
        unknown = np.isnan(x)
        room = rate * (1 + 8 * UNIT) + 2 * UNIT * np.abs(slope)
        return (
            np.where(unknown, -np.inf, low),
            np.where(unknown, np.inf, high),
            np.where(unknown, -np.inf, slope - room),
            np.where(unknown, np.inf, slope + room),
        )

    # --- on intervals ------------------------------------------------------------------------------------------------

    def values(self, low: Array, high: Array) -> Range:
        """Bounds on the curve between two numbers each."""
        shape, low, high = low.shape, low.ravel(), high.ravel()
        marks = self.tables.value_marks
        found = _hull(self.at(low)[0], self.at(high)[0], marks.values, _meeting(marks, low, high))
        return found[0].reshape(shape), found[1].reshape(shape)

    def slopes(self, low: Array, high: Array) -> Range:
        """Bounds on its derivative (on both one-sided ones at kinks)."""
        shape, low, high = low.shape, low.ravel(), high.ravel()
        marks = self.tables.slope_marks
        least, most = _hull(self.at(low)[1], self.at(high)[1], marks.slopes, _meeting(marks, low, high))
        return np.maximum(least, self.least).reshape(shape), np.minimum(most, self.most).reshape(shape)

    def around(self, low: Array, high: Array) -> tuple[Range, Lines]:
        """Bounds on its slopes, and two parallel lines around it.

        With F(z) = g(z) - s z: between marks of the slope g is convex or concave, and so is F; there F lies between its
        values at both ends of an interval [p, q] and its tangent at a point c of it, so that

            F  within  hull(F(p), F(q), F(c) ± |g'(c) - s| max(c - p, q - c)).

        With one mark inside, that is said of both sides, and what F is on the mark is added. With more of them, F is
        within max |g' - s| |z - c| of F(c).
        """
        shape, low, high = low.shape, low.ravel(), high.ravel()
        with np.errstate(all="ignore"):
            (at_low, slope_low), (at_high, slope_high) = self.at(low), self.at(high)
            marks = self.tables.slope_marks
            first, last = _meeting(marks, low, high)
            least, most = _hull(slope_low, slope_high, marks.slopes, (first, last))
            least, most = np.maximum(least, self.least), np.minimum(most, self.most)
            slope = (at_high[0] - at_low[0]) / (high - low)
            slope = np.where(np.isfinite(slope), slope, (least + most) / 2)
            slope = np.minimum(np.maximum(slope, least), most)
            ends = _hull(less_line(at_low, slope, low), less_line(at_high, slope, high))
            self._between(low, high, slope, (least, most), (first, last), ends)
            bottom, top = ends
            shift = bottom / 2 + top / 2
            error = np.maximum(top - shift, shift - bottom) * (1 + 4 * UNIT) + 4 * UNIT * np.abs(shift) + 1e-300
            error[np.isnan(error)] = np.inf
        least, most, slope, shift, error = (part.reshape(shape) for part in (least, most, slope, shift, error))
        return (least, most), Lines(slope, shift, error)

    def _between(
        self, low: Array, high: Array, slope: Array, rates: Range, meeting: tuple[Indices, Indices], ends: Range
    ) -> None:
        """Widen the range of F at both ends of intervals to that between them."""
        first, last = meeting
        count = last - first
        plain = np.flatnonzero(count <= 0)
        if len(plain) == len(low):
            c = low / 2 + high / 2
            _widen(ends, slice(None), self._tangent(c, np.maximum(c - low, high - c), slope))
            return
        c = low[plain] / 2 + high[plain] / 2
        _widen(ends, plain, self._tangent(c, np.maximum(c - low[plain], high[plain] - c), slope[plain]))
        one = np.flatnonzero(count == 1)
        marks, k, s = self.tables.slope_marks, first[one], slope[one]
        for place in (marks.low[k], marks.high[k]):
            _widen(ends, one, less_line((marks.values[0][k], marks.values[1][k]), s, place))
        for p, q in (
            (low[one], np.maximum(marks.low[k], low[one])),
            (np.minimum(marks.high[k], high[one]), high[one]),
        ):
            c = p / 2 + q / 2
            _widen(ends, one, self._tangent(c, np.maximum(c - p, q - c), s))
        many = np.flatnonzero(count > 1)
        p, q, s = low[many], high[many], slope[many]
        c = p / 2 + q / 2
        lean = np.maximum(rates[1][many] - s, s - rates[0][many])
        _widen(ends, many, _wider(less_line(self.at(c)[0], s, c), lean * np.maximum(c - p, q - c)))

    def _tangent(self, c: Array, reach: Array, slope: Array) -> Range:
        """F(c) ± |g'(c) - s| times the reach."""
        value, rate = self.at(c)
        lean = np.maximum(np.abs(rate[0] - slope), np.abs(rate[1] - slope))
        return _wider(less_line(value, slope, c), lean * reach)


class PeriodicBounds(CurveBounds):
    """sin and cos, and their derivatives: far out intervals are moved by whole turns; all lie in [-1, 1]."""

    def at(self, x: Array) -> tuple[Range, Range]:
        found = moved(x, x, self._reach)
        value, slope = super().at(np.where(found.lost, x, found.low / 2 + found.high / 2))
        room = np.where(found.turns == 0.0, 0.0, 2 * ROOM)
        return (value[0] - room, value[1] + room), (slope[0] - room, slope[1] + room)

    def values(self, low: Array, high: Array) -> Range:
        """Bounds on the curve between two numbers each."""
        found = moved(low, high, self._reach)
        return self._bounded(found.lost, super().values(found.low, found.high))

    def slopes(self, low: Array, high: Array) -> Range:
        """Bounds on its derivative."""
        found = moved(low, high, self._reach)
        return self._bounded(found.lost, super().slopes(found.low, found.high))

    def around(self, low: Array, high: Array) -> tuple[Range, Lines]:
        """With z = z' + t, t a number of turns: s z' + shift = s z + (shift - s t); 0 is a line that is off by 1."""
        found = moved(low, high, self._reach)
        slopes, lines = super().around(found.low, found.high)
        line = lines.slope * found.distances
        error = lines.error + np.where(found.turns == 0.0, 0.0, 16 * UNIT * (np.abs(line) + np.abs(lines.shift) + 1))
        flat = found.lost | (error > self._most) & ~(np.isnan(low) | np.isnan(high))
        slope, shift = np.where(flat, 0.0, lines.slope), np.where(flat, 0.0, lines.shift - line)
        return self._bounded(found.lost, slopes), Lines(slope, shift, np.where(flat, self._most, error))

    @property
    def _reach(self) -> float:
        return self.tables.tails[1][0]

    @property
    def _most(self) -> float:
        """1, rounded up."""
        return self.tables.tails[1][3]

    def _bounded(self, lost: Mask, known: Range) -> Range:
        """[-1, 1] where nothing else is known."""
        return np.where(lost, -self._most, known[0]), np.where(lost, self._most, known[1])


def _wider(given: Range, room: Array) -> Range:
    """A range and a product of two rounded numbers on both sides; nothing is known where that is no number."""
    room = room * (1 + 16 * UNIT) + 1e-300
    low, high = given[0] - room, given[1] + room
    low = low - 2 * UNIT * np.abs(low)
    high = high + 2 * UNIT * np.abs(high)
    return np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)


def _widen(ends: Range, where: Indices | slice, more: Range) -> None:
    ends[0][where] = np.minimum(ends[0][where], more[0])
    ends[1][where] = np.maximum(ends[1][where], more[1])


@lru_cache(maxsize=64)
def bounds_of(curve: Curve) -> CurveBounds:
    """The bounds of a curve that has a table; made once in a process."""
    return (PeriodicBounds if curve.periodic else CurveBounds)(curve, tables(curve))


def _polynomial(table: Polynomials, cells: Indices, h: Array) -> tuple[Array, Array]:
    """Horner's rule, and what the result is off by."""
    rows, part = table.coefficients, np.empty(len(h))
    total = rows[-1].take(cells, mode="clip")
    for row in rows[-2::-1]:
        total *= h
        total += row.take(cells, out=part, mode="clip")
    return total, table.errors.take(cells, mode="clip")


def less_line(value: Range, slope: Array, z: Array) -> Range:
    """Bounds on g - s z from those on g; everything where that is no number."""
    line = slope * z
    room = 4 * UNIT * (np.abs(line) + np.maximum(np.abs(value[0]), np.abs(value[1]))) + 1e-300
    low, high = value[0] - line - room, value[1] - line + room
    low[np.isnan(low)], high[np.isnan(high)] = -np.inf, np.inf
    return low, high


def _meeting(marks: Marks, low: Array, high: Array) -> tuple[Indices, Indices]:
    """The marks from the first to before the last meet each interval."""
    first: Indices = np.zeros(low.shape, dtype=np.int64)
    last: Indices = np.zeros(low.shape, dtype=np.int64)
    for a, b in zip(marks.low.tolist(), marks.high.tolist(), strict=True):
        first += low > b
        last += high >= a
    return first, last


def _hull(at_low: Range, at_high: Range, ranges: Range | None = None, meeting: tuple[Indices, ...] = ()) -> Range:
    """The range on intervals from those at both ends and at the marks between: elsewhere it is monotone.

    What is no number at an end is unknown there, and so is the range.
    """
    least, most = np.minimum(at_low[0], at_high[0]), np.maximum(at_low[1], at_high[1])
    if ranges is None:
        return least, most
    first, last = meeting
    where = np.flatnonzero(last > first)
    if len(where):
        a, b = first[where], last[where]
        level = np.frexp((b - a).astype(np.float64))[1] - 1  # 2^level <= b - a
        for k in np.unique(level).tolist():
            here, (lows, highs) = level == k, _windows(ranges, k)
            i, j = a[here], b[here] - (1 << k)
            least[where[here]] = np.minimum(least[where[here]], np.minimum(lows[i], lows[j]))
            most[where[here]] = np.maximum(most[where[here]], np.maximum(highs[i], highs[j]))
    return least, most


def _windows(ranges: Range, level: int) -> Range:
    """Hulls of 2^level neighbouring marks."""
    low, high = ranges
    for k in range(level):
        low, high = np.minimum(low[: -1 << k], low[1 << k :]), np.maximum(high[: -1 << k], high[1 << k :])
    return low, high
