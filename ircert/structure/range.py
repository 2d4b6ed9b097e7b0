"""Between which numbers entries lie: ends that may be ones that are never attained, and what operations do to them.

All ends are rounded outward. A lower end that is never attained is one that all values lie above: 0 for exp.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from ircert.bounds.directed import product_down, quotient_down, sum_down
from ircert.ir.arrays import Array, Indices, Mask


@dataclass(frozen=True)
class Range:
    """low <= entry <= high; `above` and `below` where equality never holds."""

    low: Array
    high: Array
    above: Mask
    below: Mask

    @staticmethod
    def between(size: int, low: float = -np.inf, high: float = np.inf, *, strictly: bool = False) -> Range:
        """The same for all entries."""
        return Range(np.full(size, low), np.full(size, high), *(np.full(size, strictly) for _ in range(2)))

    @staticmethod
    def closed(low: Array, high: Array) -> Range:
        """With ends that may be attained."""
        nowhere = np.zeros(len(low), dtype=bool)
        return Range(low, high, nowhere, nowhere)

    @staticmethod
    def beside(parts: Sequence[Range]) -> Range:
        """One after the other."""
        ends = ([getattr(x, name) for x in parts] for name in ("low", "high", "above", "below"))
        return Range(*(np.concatenate(end) for end in ends))

    def take(self, chosen: Indices) -> Range:
        """Some entries."""
        return Range(self.low[chosen], self.high[chosen], self.above[chosen], self.below[chosen])

    def __neg__(self) -> Range:
        return Range(-self.high, -self.low, self.below, self.above)

    @property
    def positive(self) -> Mask:
        """Which entries are more than 0."""
        return np.asarray((self.low > 0) | ((self.low == 0) & self.above))

    @property
    def negative(self) -> Mask:
        """Which entries are less than 0."""
        return np.asarray((self.high < 0) | ((self.high == 0) & self.below))

    @property
    def never_zero(self) -> Mask:
        """Which entries are certainly not 0."""
        return np.asarray(self.positive | self.negative)

    @property
    def greatest(self) -> Array:
        """What no absolute value exceeds."""
        return np.maximum(np.abs(self.low), np.abs(self.high))

    @property
    def least(self) -> Array:
        """What no absolute value is less than."""
        return np.maximum(np.maximum(self.low, -self.high), 0.0)

    def within(self, other: Range) -> Range:
        """What two ranges leave, if both hold."""
        low, high = np.maximum(self.low, other.low), np.minimum(self.high, other.high)
        above = (self.above & (self.low == low)) | (other.above & (other.low == low))
        below = (self.below & (self.high == high)) | (other.below & (other.high == high))
        return Range(low, high, above, below)


def total(parts: Sequence[Range]) -> Range:
    """Of sums: an end is not attained if one part does not attain its own."""
    low = reduce(sum_down, (x.low for x in parts))
    high = -reduce(sum_down, (-x.high for x in parts))
    above, below = (np.logical_or.reduce([getattr(x, name) for x in parts]) for name in ("above", "below"))
    return Range(low, high, above, below)


def largest(parts: Sequence[Range]) -> Range:
    """Of the largest of several: one with the best lower end that lies above it is enough, of upper ends all must."""
    low, high = (np.maximum.reduce([getattr(x, name) for x in parts]) for name in ("low", "high"))
    above = np.logical_or.reduce([x.above & (x.low == low) for x in parts])
    below = np.logical_and.reduce([x.below | (x.high < high) for x in parts])
    return Range(low, high, above, below)


def one_of(parts: Sequence[Range]) -> Range:
    """What holds for each of several."""
    up, down = largest(parts), largest([-x for x in parts])
    return Range(-down.high, up.high, down.below, up.below)


def product(a: Range, b: Range) -> Range:
    """Of products: the ends of a bilinear function are those at the corners.

    A factor that attains neither of its ends keeps the product from an end that is not 0: for a fixed other factor,
    not 0, the product is strictly monotone; and it has the sign that both factors' signs give.
    """
    corners = [(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    low = np.minimum.reduce([product_down(x, y) for x, y in corners])
    high = np.maximum.reduce([-product_down(-x, y) for x, y in corners])
    inside = (a.above & a.below) | (b.above & b.below)
    positive = (a.positive & b.positive) | (a.negative & b.negative)
    negative = (a.positive & b.negative) | (a.negative & b.positive)
    low = np.maximum(low, np.where(positive, 0.0, -np.inf))
    high = np.minimum(high, np.where(negative, 0.0, np.inf))
    above, below = np.where(low == 0, positive, inside), np.where(high == 0, negative, inside)
    return Range(low, high, above, below)


def square(x: Range) -> Range:
    """Of squares."""
    size = absolute(x)
    low = np.maximum(product_down(size.low, size.low), 0.0)
    high = -product_down(-size.high, size.high)
    return Range(low, high, np.where(low == 0, x.never_zero, size.above), size.below)


def reciprocal(x: Range) -> Range:
    """Of 1/x, where x has a sign; quotients are always moved, so that they are not attained."""
    one = np.ones(len(x.low))
    up, down = _reciprocal_of_positive(one, x), -_reciprocal_of_positive(one, -x)
    plus, minus = x.positive, x.negative
    return Range(
        np.where(plus, up.low, np.where(minus, down.low, -np.inf)),
        np.where(plus, up.high, np.where(minus, down.high, np.inf)),
        plus | (minus & down.above),
        minus | (plus & up.below),
    )


def _reciprocal_of_positive(one: Array, x: Range) -> Range:
    high = np.where(x.low > 0, -quotient_down(-one, x.low), np.inf)
    return Range(np.maximum(quotient_down(one, x.high), 0.0), high, np.ones(len(one), dtype=bool), x.above)


def rectified(x: Range) -> Range:
    """Of max(x, 0)."""
    return Range(np.maximum(x.low, 0.0), np.maximum(x.high, 0.0), x.above & (x.low >= 0), x.below & (x.high > 0))


def clipped(x: Range, low: Array | None, high: Array | None) -> Range:
    """Of min(max(x, low), high)."""
    size = len(x.low)
    if low is not None:
        x = largest([x, Range.closed(*(np.broadcast_to(low, size),) * 2)])
    return x if high is None else -largest([-x, Range.closed(*(np.broadcast_to(-high, size),) * 2)])


def absolute(x: Range) -> Range:
    """Of |x|."""
    size = x.greatest
    strictly = (x.above | (x.low > -size)) & (x.below | (x.high < size))
    above = (x.above & (x.low >= 0)) | (x.below & (x.high <= 0))
    return Range(x.least, size, above, strictly)
