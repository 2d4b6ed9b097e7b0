"""Branch and bound on the phases of two relu networks at one point, for networks with many inputs.

norm inf:  the largest of 2 m linear objectives, ± each output of the difference: the one with the largest bound is
           worked on
norms 1, 2: one search; on every node the sum of |d_j|, or of d_j^2, lies below its chords over the ranges of d there
           (`objectives`), and is branched on phases or on these ranges, whichever the bound misses more by
"""

from __future__ import annotations

import math

import numpy as np

from ircert.bounds.rounding import slack
from ircert.bounds.symbolic import symbolic_bounds
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array
from ircert.limits import is_over
from ircert.relational.branching import Attained, Branching, Cuts, Sides
from ircert.relational.differential_bounds import Intervals, Limits, Pair
from ircert.relational.objectives import Length
from ircert.relational.pair_program import PairProgram, finished, pair_program
from ircert.relational.points import Points
from ircert.relational.safe_relaxation import SafeRelaxation

NARROW = 1e-9
"""Ranges of outputs that are not cut further, as a share of their size."""
STORED = 10**8
"""Bounds of variables in memory at most, about."""
TIGHTEN = 64
"""Nodes of each search for which bounds are propagated anew; later ones are small, and many."""


class ChordBranching(Branching):
    """The largest sum of |d_j|, or of d_j^2 (whose root is wanted), over the columns of a difference."""

    length: Length
    where: slice

    def objective(self, sides: Sides) -> tuple[Array, float]:
        """Chords over the ranges of the node."""
        slope, top = self.length.chords(sides[0][self.where], sides[1][self.where])
        cost = np.zeros(self.relaxation.program.columns)
        cost[self.where] = slope
        return cost, float(top.sum() + slack(len(top), np.abs(top).sum()))

    def parts(self, sides: Sides, point: Array | None) -> Cuts:
        """A phase, or an output whose chord is far above the curve."""
        low, high = sides[0][self.where], sides[1][self.where]
        if point is None:
            return super().parts(sides, point)
        d = np.clip(point[self.where], low, high)
        slope, top = self.length.chords(low, high)
        missed = slope * d + top - (np.abs(d) if self.length.norm is Norm.ONE else d * d)
        wide = high - low > NARROW * np.maximum(np.abs(low), np.abs(high))
        missed = np.where(wide & ~((self.length.norm is Norm.ONE) & ((low >= 0) | (high <= 0))), missed, 0.0)
        j, phases = int(missed.argmax()), super().parts(sides, point)
        size = float((slope * d + top).sum())
        if missed[j] <= 0 or (phases and missed.sum() < size - max(self.value, 0.0) - missed.sum()):
            return phases
        at = 0.0 if self.length.norm is Norm.ONE else 0.25 * (low[j] + high[j]) + 0.5 * d[j]
        column = self.where.start + j
        return (column, float(low[j]), float(at)), (column, float(at), float(high[j]))


class PhaseBranching:
    """max |f(x) - g(x)| over a ball in a norm: `value` <= max <= `bound` after any number of steps.

    attained: what a point leads to, in the norm
    ProgramError where the program does not exist
    """

    def __init__(self, pair: Pair, ball: Ball, length: Length, attained: Attained, *, tol: float) -> None:
        self.length, self.points = length, Points.of(ball)
        self._attained = attained
        self.made: PairProgram = pair_program(pair, ball, shared=True, limits=symbolic_limits(pair, ball))
        self.program = finished(self.made)
        self.relaxation = SafeRelaxation(self.program)
        block = self.made.outputs[2]
        largest = np.maximum(-self.program.lower[block.where], self.program.upper[block.where])
        self._root = np.maximum(largest, 0.0)
        self.searches = self._searches(block.where, tol)

    def _searches(self, where: slice, tol: float) -> list[Branching]:
        common = {"attained": self._value_at, "tighten": self._tighten}
        if self.length.norm is not Norm.INF:
            power = self.length.norm.power
            cost = np.zeros(self.program.columns)
            chord = ChordBranching(self.relaxation, cost, **common, tol=power * tol)  # type: ignore[arg-type]
            chord.length, chord.where = self.length, where
            return [chord]
        found = []
        for column in range(where.start, where.stop):
            for sign, most in ((1.0, self.program.upper[column]), (-1.0, -self.program.lower[column])):
                cost = np.zeros(self.program.columns)
                cost[column] = sign
                search = Branching(self.relaxation, cost, **common, most=float(most), tol=tol)  # type: ignore[arg-type]
                found.append(search)
        return found

    def _value_at(self, point: Array) -> float:
        found: float = self._attained(point[self.made.points[0].where])
        return found**self.length.norm.power

    def _tighten(self, lower: Array, upper: Array) -> Sides | None:
        if sum(search.nodes for search in self.searches) > TIGHTEN * len(self.searches):
            return lower, upper
        return self.made.tightened(lower, upper, self.points)

    @property
    def nodes(self) -> int:
        """Relaxations so far."""
        return sum(search.nodes for search in self.searches)

    @property
    def outputs(self) -> Array:
        """Bounds on the size of the difference, output by output."""
        if self.length.norm is not Norm.INF:
            return self._root
        bounds = np.array([search.bound for search in self.searches]).reshape(-1, 2).max(axis=1)
        return np.minimum(self._root, np.maximum(bounds, 0.0))

    @property
    def bound(self) -> float:
        """No point of the ball has a longer difference."""
        bound = max(0.0, *(search.bound for search in self.searches))
        if self.length.norm is Norm.TWO:
            return math.nextafter(math.sqrt(bound), math.inf) if bound < math.inf else math.inf
        return bound

    @property
    def done(self) -> bool:
        """Whether all searches are."""
        return all(search.done for search in self.searches)

    @property
    def full(self) -> bool:
        """Whether there are too many open nodes to go on: each two have bounds of all variables."""
        return sum(search.waiting for search in self.searches) * self.program.columns >= STORED

    def learn(self, value: float) -> None:
        """A value that is attained."""
        for search in self.searches:
            search.value = max(search.value, value**self.length.norm.power)

    def run(self, steps: float = math.inf) -> None:
        """Work on the search with the largest bound, for so many relaxations or until the time is over."""
        end = self.nodes + steps
        while self.nodes < end and not is_over():
            open_ = [search for search in self.searches if not search.done]
            if not open_:
                return
            worst = max(open_, key=lambda search: search.bound)
            worst.run(1)
            if worst.value > 0:
                self.learn(worst.value ** (1 / self.length.norm.power))


def symbolic_limits(pair: Pair, ball: Ball) -> Limits:
    """What bounds by linear functions of the input say about each network alone."""
    sides: list[Intervals] = []
    for graph in (pair.first, pair.second):
        found = symbolic_bounds(graph, ball)
        names = {*found.preactivations(), graph.output}
        sides.append({name: (found.low[name], found.high[name]) for name in names})
    return Limits(sides[0], sides[1])
