"""Boxes of points, many at once, and where they lie in a ball cut with a domain; every answer is safe in floats."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array, Indices, Mask

SAFE = 1e-14


@dataclass(frozen=True)
class Boxes:
    """Corners (boxes, inputs)."""

    low: Array
    high: Array

    def __len__(self) -> int:
        return len(self.low)

    def take(self, chosen: Indices | Mask) -> Boxes:
        """Some of them."""
        return Boxes(self.low[chosen], self.high[chosen])

    def halves(self, sides: Indices) -> tuple[Boxes, Boxes]:
        """Both halves across the middle of one side each."""
        where = np.arange(len(self)), sides
        middle = (self.low[where] + self.high[where]) / 2
        left, right = self.high.copy(), self.low.copy()
        left[where] = right[where] = middle
        return Boxes(self.low, left), Boxes(right, self.high)

    @property
    def widths(self) -> Array:
        """The lengths of the sides."""
        return self.high - self.low

    @property
    def flat(self) -> Mask:
        """Which boxes have no inside."""
        return np.asarray((self.low == self.high).any(axis=1))


def joined(parts: list[Boxes]) -> Boxes:
    """All of them."""
    return Boxes(np.concatenate([p.low for p in parts]), np.concatenate([p.high for p in parts]))


def nearest(setting: Setting, boxes: Boxes) -> Array:
    """A lower bound on the distance of each box from the centre: less than it, unless that is 0."""
    gaps = np.clip(setting.center, boxes.low, boxes.high) - setting.center
    # a factor changes nothing where floats are subnormal; what is no number is no distance
    return np.fmax(np.nextafter(setting.norm.lengths(gaps) * (1 - SAFE), -np.inf), 0.0)


def farthest(setting: Setting, boxes: Boxes) -> Array:
    """An upper bound on the distance of the farthest point of each box, more than it."""
    gaps = np.maximum(np.abs(boxes.low - setting.center), np.abs(boxes.high - setting.center))
    lengths = np.nextafter(setting.norm.lengths(gaps) * (1 + SAFE), np.inf)
    return np.where(np.isnan(lengths), np.inf, lengths)  # the middle of a side may overflow


def trimmed(setting: Setting, boxes: Boxes, radius: float) -> Boxes:
    """Boxes that hold all points of the given ones in the ball: as far as a coordinate may go, given the others.

    With d_i the least of |x_i - c_i| on a box, |x_j - c_j| is at most r - sum of the other d_i in norm 1, and the root
    of r² - the sum of their squares in norm 2. On a box that meets the ball these sums are at most 1 in parts of it,
    so that floats get them wrong by a few units for each input; that is added.
    """
    if setting.norm == Norm.INF or not np.isfinite(radius):
        return boxes
    power = setting.norm.power
    with np.errstate(all="ignore"):
        gaps = (np.abs(np.clip(setting.center, boxes.low, boxes.high) - setting.center) / radius) ** power
        left = 1.0 - gaps.sum(axis=1, keepdims=True) + gaps
        far = np.maximum(left + SAFE * (1.0 + len(setting.center)), SAFE) ** (1 / power) * radius
        far = np.nextafter(far * (1 + SAFE), np.inf)
        low, high = np.nextafter(setting.center - far, -np.inf), np.nextafter(setting.center + far, np.inf)
    # where nothing is left the box misses the ball, and whoever asks for its distance will know
    good = np.isfinite(far) & (low <= boxes.high) & (high >= boxes.low)
    low, high = np.where(good, low, -np.inf), np.where(good, high, np.inf)
    return Boxes(np.fmax(boxes.low, low), np.fmin(boxes.high, high))


def beyond(setting: Setting, boxes: Boxes, radius: float) -> Boxes:
    """Boxes that hold all points of the given ones outside of the ball: an end of a side that lies in it is cut off.

    With D_i the most of |x_i - c_i| on a box, its points with |x_j - c_j| <= t lie in the ball where t is at most r and
    no other D_i more (norm inf), r - the sum of the other D_i (norm 1), or the root of r² - that of their squares.
    """
    if not 0 < radius < np.inf:
        return boxes
    center, norm = setting.center, setting.norm
    with np.errstate(all="ignore"):
        most = np.maximum(np.abs(boxes.low - center), np.abs(boxes.high - center)) / radius
        if norm == Norm.INF:
            over = most > 1.0 - SAFE
            left = (over.sum(axis=1, keepdims=True) <= over).astype(np.float64)
        else:
            sizes = np.minimum(most**norm.power, 2.0)  # more would take digits from the others, and says nothing else
            left = 1.0 - sizes.sum(axis=1, keepdims=True) + sizes - SAFE * (1.0 + len(center))
        far = np.nan_to_num(np.maximum(left, 0.0)) ** (1 / norm.power) * radius * (1 - 2 * SAFE)
        first, last = np.nextafter(center - far, np.inf), np.nextafter(center + far, -np.inf)
    before, after = boxes.low < first, boxes.high > last
    low = np.where((far > 0) & after & ~before, np.maximum(boxes.low, last), boxes.low)
    high = np.where((far > 0) & before & ~after, np.minimum(boxes.high, first), boxes.high)
    return Boxes(low, high)


def inside(setting: Setting, boxes: Boxes, radius: float) -> Mask:
    """Which boxes lie in the interior of the ball cut with the domain, for sure."""
    free = ((boxes.low > setting.low) & (boxes.high < setting.high)).all(axis=1)
    return np.asarray(free & (farthest(setting, boxes) < radius))


def around(setting: Setting, radius: float) -> Boxes:
    """One box that holds the ball, cut with the domain: exactly the box of norm inf where floats can hold it."""
    with np.errstate(over="ignore"):
        low, high = setting.center - radius, setting.center + radius
    exact = Fraction(radius)
    for j, c in enumerate(setting.exact_center):
        if Fraction(float(low[j])) > c - exact:
            low[j] = np.nextafter(low[j], -np.inf)
        if Fraction(float(high[j])) < c + exact:
            high[j] = np.nextafter(high[j], np.inf)
    return Boxes(np.maximum(low, setting.low)[None], np.minimum(high, setting.high)[None])


def faces(box: Boxes) -> Boxes:
    """The faces of one box, each a box that is flat on one side."""
    n = box.low.shape[1]
    lows, highs = (np.repeat(side, 2 * n, axis=0) for side in (box.low, box.high))
    for j in range(n):
        highs[2 * j, j] = box.low[0, j]
        lows[2 * j + 1, j] = box.high[0, j]
    return Boxes(lows, highs)


def reach_of_box(setting: Setting, radius: float) -> float:
    """The radius itself where floats hold center ± radius, or the domain ends before; else one that reaches further."""
    box = around(setting, radius)
    exact, most = Fraction(radius), Fraction(radius)
    for c, low, high in zip(setting.exact_center, box.low[0].tolist(), box.high[0].tolist(), strict=True):
        most = max(most, c - Fraction(low), Fraction(high) - c)
    return radius if most <= exact else math.nextafter(float(most), math.inf) * (1 + 8 * SAFE)
