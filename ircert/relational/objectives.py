"""What is maximised about two networks: the length of their difference, or by how much their largest outputs disagree.

An objective is bounded on boxes from forms of the outputs, and evaluated at points. Convex functions h of one number d
in [l, u] lie below any line that is above them at both ends (chords):

    norm 1:  sum |d_j|  <=  sum s_j d_j + t_j,      norm 2:  sum d_j^2  <=  sum s_j d_j + t_j,

and the right sides are single forms, in which the outputs' common symbols cancel or add up with their signs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from ircert.bounds.interval import Interval
from ircert.bounds.rounding import UNIT, slack
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array, Indices, Mask, nonzeros
from ircert.ir.graph import Graph
from ircert.ir.ops import Affine
from ircert.relational.differential_bounds import DifferentialBounds
from ircert.relational.forms import Forms, Symbols

MANY = 40
"""With more outputs than this only those that may be largest are compared …"""
LARGEST = 50_000_000
"""… and nothing is shown where this takes arrays of more numbers."""


@dataclass(frozen=True, eq=False)
class Bounded:
    """bounds (boxes,): the objective is at most that in each box; -inf where nothing is left to be shown.

    guide: a number for each box that grows where the objective does, about `rate` times as fast
    """

    bounds: Array
    guide: Forms
    rate: Array | float = 1.0


class Bounding(ABC):
    """A function of f(x) and g(y)."""

    @abstractmethod
    def bounded(self, found: DifferentialBounds, output: str) -> Bounded:
        """Its bounds on boxes; `output` names the difference of the outputs."""


class Objective(Bounding):
    """A function of f(x) and g(x), which is evaluated at points, too."""

    @abstractmethod
    def values(self, first: Array, second: Array) -> Array:
        """What it is at points, about, from their outputs (points, outputs)."""

    @abstractmethod
    def rates(self, first: Array, second: Array) -> tuple[Array, Array]:
        """Its derivatives by the outputs of both networks there, or of one of the functions that it is the least or
        largest of."""


@dataclass(frozen=True)
class Length(Objective):
    """The norm of f(x) - g(x)."""

    norm: Norm

    def values(self, first: Array, second: Array) -> Array:
        return self.norm.lengths(first - second)

    def rates(self, first: Array, second: Array) -> tuple[Array, Array]:
        found = self.norm.slopes(first - second)
        return found, -found

    def bounded(self, found: DifferentialBounds, output: str) -> Bounded:
        return self.of_forms(found.symbols, found.forms[2], found.difference[output])

    def of_forms(self, symbols: Symbols, gaps: Forms, ranges: Interval) -> Bounded:
        """Bounds on the norm of numbers from their forms and ranges."""
        low, high = ranges
        with np.errstate(all="ignore"):
            largest = np.maximum(-low, high)
            if self.norm is Norm.INF:
                return self._largest(symbols, gaps, low, high, largest)
            return self._sum(symbols, gaps, low, high, largest)

    def _largest(self, symbols: Symbols, gaps: Forms, low: Array, high: Array, largest: Array) -> Bounded:
        where = np.arange(len(low)), largest.argmax(axis=1)
        weights = np.zeros(low.shape)
        weights[where] = np.where(high[where] >= -low[where], 1.0, -1.0)
        return Bounded(np.maximum(largest[where], 0.0), symbols.weighed(gaps, weights))

    def _sum(self, symbols: Symbols, gaps: Forms, low: Array, high: Array, largest: Array) -> Bounded:
        """The better of the sum of the largest and of that of chords; all sums are rounded up by `slack`."""
        slope, top = self.chords(low, high)
        parts = largest if self.norm is Norm.ONE else largest * largest * (1 + 4 * UNIT)
        plain = _up(parts)
        guide = symbols.weighed(gaps, slope)
        chord = _up(np.concatenate([symbols.ranges(guide)[1], top], axis=1))
        most = np.maximum(np.fmin(plain, chord), 0.0)
        bounds = most if self.norm is Norm.ONE else np.sqrt(most) * (1 + 4 * UNIT)
        rate = 1.0 if self.norm is Norm.ONE else 2 * bounds
        return Bounded(np.where(np.isnan(bounds), np.inf, bounds), guide, rate)

    def chords(self, low: Array, high: Array) -> tuple[Array, Array]:
        """(s, t) with |d| <= s d + t (norm 1), or d^2 <= s d + t (norm 2), for low <= d <= high: at both ends."""
        if self.norm is Norm.TWO:
            slope, ends = low + high, (low * low, high * high)
        else:
            with np.errstate(all="ignore"):
                across = np.clip((high + low) / (high - low), -1.0, 1.0)
            slope = np.where(low >= 0, 1.0, np.where(high <= 0, -1.0, np.where(np.isfinite(across), across, 0.0)))
            ends = np.abs(low), np.abs(high)
        rest = [end - slope * side for end, side in zip(ends, (low, high), strict=True)]
        size = [end + np.abs(slope * side) for end, side in zip(ends, (low, high), strict=True)]
        exact = (self.norm is Norm.ONE) & ((low >= 0) | (high <= 0))  # d or -d itself
        return slope, np.where(exact, 0.0, np.maximum(*rest) + slack(4, np.maximum(*size)))


def _at(shape: tuple[int, ...], columns: Indices) -> Array:
    """1 at one entry of each row."""
    found = np.zeros(shape)
    found[np.arange(shape[0]), columns] = 1.0
    return found


def _up(parts: Array) -> Array:
    """Sums along the last axis, rounded up."""
    return np.asarray(parts.sum(axis=1) + slack(parts.shape[1], np.abs(parts).sum(axis=1)))


@dataclass(frozen=True, eq=False)
class Disagreement(Objective):
    """By how much a class i is ahead of j in f while j is ahead of i in g, at least: positive where no class is a
    largest output of both.

    If the sets of largest outputs of f(x) and g(x) have nothing in common, take i of the first and j of the second:
    p = f_i - f_j > 0 and q = g_j - g_i > 0, and no class is ahead of i in f, or of j in g. So a box has no such x if
    for all i != j one of these holds on it: p <= 0; q <= 0; p + q = (f - g)_i - (f - g)_j <= 0; another class is ahead
    of i in f, or of j in g. The bound is the largest min(p, q, (p + q) / 2) of the pairs that are left.

    alike: of f and of g, numbers of outputs, the same only for those that are one function (`equal_outputs`): their
           p or q is 0
    """

    alike: tuple[Indices, Indices] | None = None

    def values(self, first: Array, second: Array) -> Array:
        rows = np.arange(len(first))
        i, j = first.argmax(axis=1), second.argmax(axis=1)
        apart = np.minimum(first[rows, i] - first[rows, j], second[rows, j] - second[rows, i])
        return np.where(i == j, -self._lead(first, second), apart)

    def rates(self, first: Array, second: Array) -> tuple[Array, Array]:
        """Of the network whose classes are more easily swapped: the class that should be ahead, minus the other one."""
        i, j = first.argmax(axis=1), second.argmax(axis=1)
        found = []
        for values, top, wanted in ((first, i, j), (second, j, i)):
            second_best = np.where(_at(values.shape, top) > 0, -np.inf, values).argmax(axis=1)
            other = np.where(i == j, second_best, wanted)
            ahead = np.where(i == j, -1.0, 1.0)[:, None]
            found.append(ahead * (_at(values.shape, top) - _at(values.shape, other)))
        leads = [np.abs((rates * values).sum(axis=1)) for rates, values in zip(found, (first, second), strict=True)]
        less = (leads[0] <= leads[1])[:, None]
        return np.where(less, found[0], 0.0), np.where(less, 0.0, found[1])

    @staticmethod
    def _lead(first: Array, second: Array) -> Array:
        """How far the largest output is ahead of the second one, in the network where that is less."""
        if first.shape[1] == 1:
            return np.full(len(first), np.inf)
        ahead = [np.sort(values, axis=1) for values in (first, second)]
        return np.minimum(*(values[:, -1] - values[:, -2] for values in ahead))

    def bounded(self, found: DifferentialBounds, output: str) -> Bounded:
        count, size = found.forms[0].center.shape
        i, j = _contested(found)
        if len(i) * (size + found.forms[0].symbols.shape[2]) * count > LARGEST:
            start = np.zeros(count, dtype=np.intp)
            return Bounded(np.full(count, np.inf), self._guide(found, start, start + 1))
        rows = np.arange(len(i))
        ahead = np.zeros((len(i), size))
        ahead[rows, i], ahead[rows, j] = 1.0, -1.0
        nothing = np.zeros(ahead.shape)
        p = found.bound(ahead, nothing, nothing)
        q = found.bound(nothing, -ahead, nothing)
        if self.alike is not None:
            p, q = (_tied(ends, same[i] == same[j]) for ends, same in zip((p, q), self.alike, strict=True))
        both = found.bound(nothing, nothing, ahead)[1] / 2
        beaten = [np.zeros((count, size), dtype=bool) for _ in range(2)]
        for k in rows.tolist():
            beaten[0][:, i[k]] |= p[1][:, k] < 0
            beaten[1][:, j[k]] |= q[1][:, k] < 0
        most = np.minimum(np.minimum(p[1], q[1]), both)
        gone: Mask = (most <= 0) | beaten[0][:, i] | beaten[1][:, j]
        most = np.where(gone, -np.inf, most)
        if not len(i):
            return Bounded(np.full(count, -np.inf), found.symbols.numbers(np.zeros((count, 1))))
        best = most.argmax(axis=1)
        return Bounded(most[np.arange(count), best], self._guide(found, i[best], j[best]))

    @staticmethod
    def _guide(found: DifferentialBounds, i: Indices, j: Indices) -> Forms:
        """f_i - f_j or g_j - g_i, whichever is less in the middle of the box."""
        rows = np.arange(len(i))
        weights = np.zeros(found.forms[0].center.shape)
        weights[rows, i], weights[rows, j] = 1.0, -1.0
        first = found.symbols.weighed(found.forms[0], weights)
        second = found.symbols.weighed(found.forms[1], -weights)
        less = first.center < second.center
        parts = [(first, np.where(less, 1.0, 0.0)), (second, np.where(less, 0.0, 1.0))]
        return found.symbols.added([found.symbols.weighed(forms, share) for forms, share in parts])


def equal_outputs(graph: Graph) -> Indices:
    """A number for each output; two have the same only if the last affine map computes both from the same row."""
    last = graph[graph.output].op
    if not isinstance(last, Affine):
        return np.arange(graph.output_dim)
    rows = np.column_stack([nonzeros(last.weight).toarray(), last.bias])
    return np.asarray(np.unique(rows, axis=0, return_inverse=True)[1]).reshape(-1)


def _contested(found: DifferentialBounds) -> tuple[Indices, Indices]:
    """Pairs i != j; of many outputs those that may be largest in some box, i of f and j of g: no others count."""
    size = found.forms[0].center.shape[1]
    pairs = ~np.eye(size, dtype=bool)
    if size > MANY:
        first, second = (_may_be_largest(found.symbols.ranges(forms)) for forms in found.forms[:2])
        pairs &= first[:, None] & second
    i, j = np.nonzero(pairs)
    return i, j


def _may_be_largest(ranges: Interval) -> Mask:
    """Of numbers in ranges (boxes, entries), those that are below no other for sure in all boxes."""
    low, high = ranges
    return np.asarray((~(high < low.max(axis=1, keepdims=True))).any(axis=0))


def _tied(ends: Interval, same: Mask) -> Interval:
    """Ranges of differences, 0 where both numbers are the same."""
    return np.where(same, 0.0, ends[0]), np.where(same, 0.0, ends[1])
