"""Where points lie: boxes, many at once, each cut with one ball; one point that two networks share, or two."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ircert.bounds.rounding import TINY, midpoint, slack
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array, Indices, Mask


@dataclass(frozen=True, eq=False)
class Points:
    """Boxes low <= x <= high (boxes, columns), of which the points in the ball count.

    copies: 1 where both networks see one point x; 2 where the first sees x and the second y, each in the ball: the
            columns are those of x, then those of y
    """

    ball: Ball
    low: Array
    high: Array
    copies: int = 1

    @staticmethod
    def of(ball: Ball, copies: int = 1) -> Points:
        """The whole ball, as one box."""
        low, high = (np.tile(side, copies)[None] for side in ball.box)
        return Points(ball, low, high, copies)

    @property
    def count(self) -> int:
        """Boxes."""
        return len(self.low)

    @property
    def columns(self) -> int:
        """Coordinates of all points together."""
        return self.low.shape[1]

    @cached_property
    def middles(self) -> tuple[Array, Array]:
        """(middle, half): |x - middle| <= half in every coordinate, for sure."""
        middle, half = midpoint(self.low, self.high)
        point = self.low == self.high  # halves of the smallest floats are not exact
        return np.where(point, self.low, middle), np.where(point, 0.0, half)

    def take(self, chosen: Indices | Mask) -> Points:
        """Some of the boxes."""
        return Points(self.ball, self.low[chosen], self.high[chosen], self.copies)

    def extremes(self, weights: Array) -> tuple[Array, Array]:
        """Bounds on weights · (x - middle), weights (boxes, rows, columns), at all points that count.

        Over the box that is ± |weights| · half; over the ball weights · (center - middle) ± radius times the dual norm,
        one point after the other. The better of both holds. What floats lose is bounded by `slack`, with one more term
        for weights and norms below the smallest float, which the sizes of ball and box multiply.
        """
        middle, half = self.middles
        size = self.columns // self.copies
        low, high = np.zeros(weights.shape[:2]), np.zeros(weights.shape[:2])
        for start in range(0, self.columns, size):
            here = slice(start, start + size)
            part, center, reach = weights[:, :, here], middle[:, here], half[:, here]
            absolute = np.abs(part)
            most = (absolute @ reach[:, :, None])[:, :, 0]
            error = slack(size + 2, most) + 4.0 * (size + 2) * TINY * (1.0 + reach.sum(axis=1))[:, None]
            least, most = -most - error, most + error
            if self.ball.norm is not Norm.INF:
                round_low, round_high = self._over_ball(part, absolute, center)
                least, most = np.fmax(least, round_low), np.fmin(most, round_high)
            error = slack(2, np.abs(low) + np.abs(least) + np.abs(high) + np.abs(most))
            low, high = low + least - error, high + most + error
        return low, high

    def _over_ball(self, part: Array, absolute: Array, middle: Array) -> tuple[Array, Array]:
        center, radius = self.ball.center, self.ball.radius
        size = len(center)
        shift = (part @ (center - middle)[:, :, None])[:, :, 0]
        reach = radius * self.ball.norm.dual.lengths(part)
        far = np.abs(center) + np.abs(middle)
        total = (absolute @ far[:, :, None])[:, :, 0] + reach
        error = slack(size + 4, total) + 4.0 * (size + 2) * TINY * (1.0 + radius + far.sum(axis=1))[:, None]
        return shift - reach - error, shift + reach + error

    def missing_ball(self) -> Mask:
        """Boxes that surely hold no point of the ball: distances are computed with room for rounding."""
        center, radius = self.ball.center, self.ball.radius
        size, missing = len(center), np.zeros(self.count, dtype=bool)
        if self.ball.norm is Norm.INF:
            return missing
        for start in range(0, self.columns, size):
            low, high = self.low[:, start : start + size], self.high[:, start : start + size]
            gaps = np.maximum(np.maximum(low - center, center - high), 0.0)
            missing |= self.ball.norm.lengths(gaps) * (1 - 2.0**-40 - size * 2.0**-50) > radius
        return missing
