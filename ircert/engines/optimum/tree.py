"""Branch and bound over the phases of both points and the bounds of gaps, best first; every bound is proved.

The pairs of a ball are split in parts: a neuron of x or of y is on or off, a gap (norms 1 and 2) lies left or right of
a number. Each part's bound is that of its linear program with checked multipliers, or that of the part it comes from
where that is less. At any time the largest bound of the parts that are left is one of p*.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ircert.engines.optimum.linear_bounds import Limits, LinearBounds, Solved
from ircert.engines.optimum.objectives import Chords, length_up
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array

EXACT = 1e-9
"""An excess below that is none, in parts of the largest size of what is read or measured."""
ROUNDING = 2.0**-50
"""More than what one product and one sum may get wrong, relatively."""
AGAIN = 1e-6
"""A part is bounded again where that gains at least this share."""
RIM = 0.2
"""A gap is split no nearer to its bounds than this, in parts of their distance."""


@dataclass(frozen=True, eq=False)
class Part:
    """Some of the pairs: bounds of columns; in norm inf with the gap that is maximised, and its sign.

    bound:  on the measure of its gaps; solved: what its program said, None before it was asked
    split:  a column and where to split it; None if nothing is left to split
    """

    limits: Limits
    bound: float
    axis: tuple[int, float] | None = None
    solved: Solved | None = None
    split: tuple[int, float, float] | None = None


class Tree:
    """The parts that are left, of which the one with the largest bound is split.

    symmetric: whether x and y may be swapped, so that one sign of a gap is enough
    """

    def __init__(self, bounds: LinearBounds, norm: Norm, *, symmetric: bool) -> None:
        self.bounds, self.norm, self.symmetric = bounds, norm, symmetric
        self.gaps = bounds.relaxation.gaps
        self.closed = 0.0
        self.nodes = 0
        self.splits = 0
        self._order = itertools.count()
        self._open: list[tuple[float, int, Part]] = []
        for part in self._roots():
            self._keep(part)

    @property
    def bound(self) -> float:
        """No pair's gaps have a larger length."""
        most = max(self.closed, -self._open[0][0] if self._open else 0.0)
        return length_up(self.norm, most)

    @property
    def finished(self) -> bool:
        """Whether no part is left that could be split."""
        return not self._open

    def _roots(self) -> Iterator[Part]:
        """The first parts, with the bounds of gaps alone."""
        lower, upper = (side[self.gaps] for side in self.bounds.columns({}))
        if self.norm != "inf":
            chords = Chords.of(self.norm, lower, upper)
            most = [max(s * a, s * b) for s, a, b in zip(chords.slopes, lower, upper, strict=True)]
            size = float(np.abs(most).sum()) + abs(chords.constant)
            yield Part({}, float(np.sum(most) + chords.constant + ROUNDING * len(most) * size))
            return
        for j in range(len(self.gaps)):
            for sign in (1.0,) if self.symmetric else (1.0, -1.0):
                yield Part({}, float(upper[j] if sign > 0 else -lower[j]), (j, sign))

    def step(self, enough: float) -> Part | None:
        """Bound or split the part with the largest bound; a new part, or None when no bound exceeds `enough`."""
        while self._open:
            bound, _, part = self._open[0]
            if length_up(self.norm, -bound) <= enough:
                return None
            if part.solved is None:
                made = self._made(part.limits, part.bound, part.axis)
                heapq.heappop(self._open)
                self._keep(made)
                return made
            heapq.heappop(self._open)
            if part.split is not None:
                return self._halved(part, part.split)
            again = self._once_more(part)
            if again is not None:
                return again
            self.closed = max(self.closed, part.bound)
            return part  # its point may be a pair
        return None

    def _once_more(self, part: Part) -> Part | None:
        """A part that cannot be split, with a lesser bound: its last point may have brought planes around a ball."""
        try:
            made = self._made(part.limits, part.bound, part.axis)
        except BaseException:
            self._keep(part)
            raise
        if not made.bound < part.bound - AGAIN * abs(part.bound):
            return None
        self._keep(made)
        return made

    def _halved(self, part: Part, split: tuple[int, float, float]) -> Part:
        """Two parts instead of one; that with the larger bound."""
        column, below, above = split
        lower, upper = self.bounds.columns(part.limits)
        halves = [(lower[column], below), (above, upper[column])]
        mirrored = self.symmetric and not part.limits and column in set(self.gaps.tolist())
        if mirrored and below == 0.0 and -lower[column] == upper[column]:
            halves = halves[1:]  # the other half is this one with x and y swapped
        made: list[Part] = []
        try:
            for low, high in halves:
                made.append(self._made({**part.limits, column: (float(low), float(high))}, part.bound, part.axis))
        except BaseException:
            self._keep(part)  # nothing is lost where time ends in the middle
            raise
        self.splits += 1
        for child in made:
            self._keep(child)
        return max(made, key=lambda child: child.bound)

    def _keep(self, part: Part) -> None:
        if part.bound > -math.inf:
            heapq.heappush(self._open, (-part.bound, next(self._order), part))

    def _made(self, limits: Limits, most: float, axis: tuple[int, float] | None) -> Part:
        """A part with its bound, which is at most that of the part it comes from."""
        self.nodes += 1
        if axis is not None:
            column, sign = int(self.gaps[axis[0]]), axis[1]
            solved = self.bounds.most({column: sign}, limits)
            return Part(limits, min(most, solved.bound), axis, solved, self._split(limits, solved, None))
        lower, upper = (side[self.gaps] for side in self.bounds.columns(limits))
        chords = Chords.of(self.norm, lower, upper)
        solved = self.bounds.most(dict(zip(self.gaps.tolist(), chords.slopes.tolist(), strict=True)), limits)
        bound = min(most, float(np.nextafter(solved.bound + chords.constant, math.inf)))
        return Part(limits, bound, None, solved, self._split(limits, solved, chords))

    def _split(self, limits: Limits, solved: Solved, chords: Chords | None) -> tuple[int, float, float] | None:
        """The phase or gap whose relaxation costs most at the point that was found."""
        if solved.point is None or solved.prices is None:
            return None
        neurons = self.bounds.relaxation.neurons
        excess = np.maximum(neurons.excess(solved.point), 0.0)
        excess[excess <= EXACT * np.abs(solved.point[neurons.given]).max(initial=0.0)] = 0.0
        fixed = np.array([int(column) in limits for column in neurons.phases.tolist()], dtype=bool)
        scores = np.where(fixed, 0.0, excess * (solved.prices + EXACT))
        best = int(np.argmax(scores)) if len(scores) else -1
        phase = (int(neurons.phases[best]), 0.0, 1.0) if best >= 0 and scores[best] > 0 else None
        if chords is None:
            return phase
        gap, score = self._gap_split(limits, solved.point, chords)
        return phase if phase is not None and scores[best] > score else gap or phase

    def _gap_split(self, limits: Limits, point: Array, chords: Chords) -> tuple[tuple[int, float, float] | None, float]:
        lower, upper = (side[self.gaps] for side in self.bounds.columns(limits))
        excess = chords.excess(self.norm, lower, upper, point[self.gaps])
        best = int(np.argmax(excess))
        if not excess[best] > EXACT * max(
            float(np.abs(excess).max()), float(np.abs(chords.slopes).max(initial=0.0)) ** 2
        ):
            return None, 0.0
        low, high = float(lower[best]), float(upper[best])
        inside = float(np.clip(point[self.gaps[best]], low + RIM * (high - low), high - RIM * (high - low)))
        at = 0.0 if low < 0 < high and (self.norm == "1" or -low == high) else inside
        if not low < at < high:
            return None, 0.0
        return (int(self.gaps[best]), at, at), float(excess[best])
