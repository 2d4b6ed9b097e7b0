"""Branch and bound on boxes of inputs, best first, many boxes at once, for any objective of two networks.

The ball's box is cut until the bounds of all parts are below a value that is attained, up to a tolerance. What was
bounded once stays so: the largest bound of all parts, open and closed, is a bound of the whole at any time.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field

import numpy as np

from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array
from ircert.limits import OutOfTime, is_over
from ircert.relational.differential_bounds import Limits, Pair
from ircert.relational.forms import FEW, Forms
from ircert.relational.objectives import Bounding, Objective
from ircert.relational.points import Points

PRODUCTS = 100_000_000
"""Multiplications of one batch, about …"""
LARGEST = 128
"""… which has no more boxes than this."""
STORED = 400_000
"""Open boxes at most: then the search ends."""


@dataclass(order=True)
class _Part:
    key: float
    number: int
    low: Array = field(compare=False)
    high: Array = field(compare=False)
    cut: int = field(compare=False)
    outputs: Array = field(compare=False)


class InputBranching:
    """max of an objective over a ball, `value` (about) <= max <= `bound` after any number of steps.

    value, point: the best that was met, in floats
    peaks:        of each output the largest |f_j(x) - g_j(x)| met, about, and where
    outputs:      a bound on |f_j(x) - g_j(x)| for each output
    enough:       bounds up to that need not be improved
    """

    def __init__(self, pair: Pair, ball: Ball, objective: Objective, *, tol: float = 0.0) -> None:
        self.objective = objective
        self._begin(pair, Points.of(ball), objective, None, tol)

    def _begin(self, pair: Pair, points: Points, bounding: Bounding, limits: Limits | None, tol: float) -> None:
        """limits: what is known besides of all points that count."""
        ball = points.ball
        self.pair, self.ball, self.bounding, self.tol = pair, ball, bounding, tol
        self.copies, self.limits = points.copies, limits
        self.value, self.point = -math.inf, ball.center
        self.peaks = np.zeros(pair.first.output_dim), np.tile(ball.center, (pair.first.output_dim, 1))
        self.enough = -math.inf
        self.boxes = 0
        self._open: list[_Part] = []
        self._closed = -math.inf
        self._settled = np.zeros(pair.first.output_dim)
        self._symbols = 4 * pair.first.input_dim
        self._bound(points)

    @property
    def bound(self) -> float:
        """At no point of the ball the objective is larger."""
        return max(self._closed, -self._open[0].key if self._open else -math.inf)

    @property
    def outputs(self) -> Array:
        """Bounds on the size of the difference, output by output."""
        return np.max([self._settled, *(part.outputs for part in self._open)], axis=0)

    @property
    def done(self) -> bool:
        """Whether nothing is left to be cut."""
        return not self._open or self._good_enough(-self._open[0].key)

    @property
    def full(self) -> bool:
        """Whether there are too many parts to go on."""
        return len(self._open) >= STORED

    def offer(self, x: Array, value: float) -> None:
        """A point that somebody else found."""
        if value > self.value:
            self.value, self.point = value, x

    def run(self, batches: float = math.inf) -> None:
        """Cut until done, for so many batches or until the time is over."""
        while batches > 0 and not self.done and not self.full and not is_over():
            self.step()
            batches -= 1

    def step(self) -> None:
        """Cut the parts with the largest bounds, and bound their halves."""
        count = max(1, min(LARGEST, PRODUCTS // (2 * self.pair.work * self._symbols + 1)))
        taken = [heapq.heappop(self._open) for _ in range(min(count, len(self._open)))]
        halves: list[tuple[Array, Array]] = []
        parents: list[_Part] = []
        for part in taken:
            if self._good_enough(-part.key):
                self._settle(-part.key, part.outputs)
                continue
            made = self._halves(part)
            halves += made
            parents += [part] * len(made)
        if not halves:
            return
        try:
            low, high = (np.array(side) for side in zip(*halves, strict=True))
            self._bound(Points(self.ball, low, high, self.copies), parents)
        except BaseException as error:
            for part in taken:  # they stay open
                heapq.heappush(self._open, part)
            if not isinstance(error, OutOfTime):
                raise

    def _good_enough(self, bound: float) -> bool:
        return bound <= max(self.value + self.tol * abs(self.value), self.enough)

    def _settle(self, bound: float, outputs: Array) -> None:
        self._closed, self._settled = max(self._closed, bound), np.maximum(self._settled, outputs)

    def _halves(self, part: _Part) -> list[tuple[Array, Array]]:
        j = part.cut
        middle = part.low[j] / 2 + part.high[j] / 2
        if not part.low[j] < middle < part.high[j]:
            self._settle(-part.key, part.outputs)
            return []
        low, high = part.low.copy(), part.high.copy()
        low[j] = high[j] = middle
        return [(part.low, high), (low, part.high)]

    def _bound(self, points: Points, parents: list[_Part] | None = None) -> None:
        """Bound parts, no worse than what they are parts of."""
        found = self.pair.bounds(points, self.limits)
        output = self.pair.first.output
        bounded = self.bounding.bounded(found, output)
        self.boxes += points.count
        self._symbols = max(1, found.symbols.count)
        low, high = found.difference[output]
        outputs = np.where(found.empty[:, None], 0.0, np.maximum(np.maximum(-low, high), 0.0))
        bounds = bounded.bounds
        if parents is not None:
            bounds = np.minimum(bounds, [-parent.key for parent in parents])
            outputs = np.minimum(outputs, [parent.outputs for parent in parents])
        met = self._look(points, bounded.guide)
        with np.errstate(all="ignore"):
            missed = (bounds - met) * bounded.rate
        cuts = self._cuts(points, found.symbols.blame(bounded.guide), bounded.guide, missed)
        for k in range(points.count):
            bound = -math.inf if found.empty[k] else float(bounds[k])
            if bound == -math.inf or self._good_enough(bound):
                self._settle(bound, outputs[k])
            else:
                part = _Part(-bound, self.boxes + k, points.low[k], points.high[k], int(cuts[k]), outputs[k])
                heapq.heappush(self._open, part)

    def _cuts(self, points: Points, blame: Array, guide: Forms, missed: Array) -> Array:
        """The coordinate that is to blame for most of what a bound misses: through lines around activations, and for
        the rest (chords, boxes that reach out of the ball) as much as the guide depends on it."""
        half = points.middles[1]
        slopes = np.zeros(half.shape)
        if guide.symbols.shape[2]:
            slopes = np.abs(guide.symbols[:, 0, : points.columns])
        shares = np.nan_to_num(slopes, nan=0.0, posinf=0.0) * half + 1e-9 * half + 1e-300
        shares = shares / shares.sum(axis=1, keepdims=True)
        scores = shares
        if points.columns <= FEW:
            blame = np.nan_to_num(blame, nan=0.0, posinf=0.0)
            rest = np.nan_to_num(missed, nan=0.0, posinf=0.0) - 2 * blame.sum(axis=1)
            scores = 2 * blame + np.maximum(rest, 1e-12 * np.abs(blame).sum(axis=1) + 1e-300)[:, None] * shares
        return np.asarray(np.where(half > 0, scores, -1.0).argmax(axis=1))

    def _look(self, points: Points, guide: Forms) -> Array:
        """Evaluate the middle of each box, and the corner to which the guide points; the larger value of both."""
        middle, half = points.middles
        slopes = guide.symbols[:, 0, : points.columns]
        signs = np.sign(slopes) if slopes.shape[1] else np.zeros(half.shape)
        corners = np.clip(middle + half * np.nan_to_num(signs), points.low, points.high)
        return np.maximum(*np.split(self.try_points(np.concatenate([middle, corners])), 2))

    def try_points(self, tried: Array) -> Array:
        """The values at points of the ball's box, moved into the ball."""
        tried = into(self.ball, tried)
        with np.errstate(all="ignore"):
            ends = self.pair.first(tried), self.pair.second(tried)
            values = self.objective.values(*ends)
            self._keep_peaks(tried, np.nan_to_num(np.abs(ends[0] - ends[1]), nan=0.0, posinf=0.0))
        values = np.where(np.isfinite(values), values, -np.inf)
        best = int(values.argmax())
        self.offer(tried[best], float(values[best]))
        return values

    def _keep_peaks(self, tried: Array, sizes: Array) -> None:
        """Of each output, the point where both networks differ most."""
        best = sizes.argmax(axis=0)
        most = sizes[best, np.arange(sizes.shape[1])]
        better = most > self.peaks[0]
        self.peaks[0][better], self.peaks[1][better] = most[better], tried[best[better]]


def into(ball: Ball, points: Array) -> Array:
    """Points of a ball and its domain near given ones, but for rounding."""
    offsets = points - ball.center
    if ball.norm is not Norm.INF:
        lengths = ball.norm.lengths(offsets)[:, None]
        offsets = offsets * np.where(lengths > ball.radius, ball.radius / np.maximum(lengths, 1e-300), 1.0)
    else:
        offsets = np.clip(offsets, -ball.radius, ball.radius)
    return np.clip(ball.center + offsets, ball.low, ball.high)
