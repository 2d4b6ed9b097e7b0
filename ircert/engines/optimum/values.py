"""Exact pairs of a ball with equal outputs that lie far apart: looked for in floats, made exact in rationals.

From any two points linear programs over the linear regions of both find the pair of these regions that is furthest
apart, and climb on through neighbouring regions (`climb`). Where the regions of two points have no pair with equal
outputs, the points are drawn towards their middle, where they share one region and any direction of its kernel will do.
What is better than all pairs before is moved onto an exact pair (`witnesses.repair`) and evaluated exactly.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from ircert.engines.optimum.climb import climbed
from ircert.engines.optimum.round_start import round_start
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph
from ircert.limits import Deadline, OutOfTime, left, until
from ircert.questions.query import Query
from ircert.witnesses.near_program import NearProgram
from ircert.witnesses.repair import MARGIN, Box, Pair, Regions
from ircert.witnesses.replay import judge

SHARES = (1.0, 0.5, 0.2, 0.05, 0.0)
"""How far two points are apart that a start is looked for at, in parts of the way between them."""
WHOLE = 2.0
"""Room for all of a region, in parts of the radius."""
BETTER = 1 + 1e-7
CLIMB = 0.4
"""The part of the time that is left which one climb may take."""
ROUND_ROOM = 0.05
"""How far around a start in a round ball a pair is looked for, in parts of the radius."""
SHRUNK = (2.0**-24, 2.0**-17)
"""Parts of the way to the centre that a pair is moved by where there is no exact one next to it."""
NEAR = 1e-7
"""Outputs that differ by no more than this, absolutely and relatively, may be those of a pair."""


class Values:
    """The best exact pair so far. The graph must be lowered, and so is the query's other one.

    value: its separation, rounded down; seconds: what looking took
    """

    def __init__(self, graph: Graph, query: Query, most: float = math.inf) -> None:
        self.graph, self.query, self.most = graph, query, most
        self.box = Box.of(query)
        self.pair: Pair | None = None
        self.value = 0.0
        self.seconds = 0.0
        self.tries = 0

    def offer(self, pair: Pair) -> bool:
        """Take an exact pair if it is further apart than that which is known."""
        value = self.separation(pair)
        if value <= self.value:
            return False
        self.pair, self.value = pair, value
        return True

    def separation(self, pair: Pair) -> float:
        """How far apart a pair is in the norm of the objective, rounded down."""
        norm: Norm = self.query.objective_norm
        other = self.query.other
        ends = pair if other is None else (list(other.exact(pair[0])), list(other.exact(pair[1])))
        return norm.length_down(norm.distance(*ends))

    def look(self, x: Array, y: Array, axis: tuple[int, float] | None = None) -> bool:
        """Climb from two points of the ball, whatever their outputs; whether a better pair was found.

        axis: the gap that is to grow first, and its sign
        """
        begin = time.monotonic()
        self.tries += 1
        try:
            with np.errstate(all="ignore"):
                found = self._is_near(x, y) and self._exact(([Fraction(v) for v in x], [Fraction(v) for v in y]))
                start = self._start(x, y, axis)
                return (start is not None and self._climbed(start)) or found
        except ArithmeticError as error:
            if isinstance(error, OutOfTime):
                raise
            return False
        finally:
            self.seconds += time.monotonic() - begin

    def _climbed(self, start: list[Array]) -> bool:
        """Whether a climb from offsets of a pair, or the start itself, gives a better pair."""
        before, points = self.value, [self.box.point(offsets) for offsets in start]
        known = (points[0], points[1] if len(points) > 1 else self.box.center)
        if self.tries == 1 or self._is_enough(self._about(known)):  # exact pairs first, where time may be short
            self._exact(known)
        if not self._is_enough(self.value):
            with until(Deadline(CLIMB * left())):  # the rest is for making the end exact
                end = climbed(self.graph, self.query, known, self.most)
            if not self._exact(end):
                self._exact(known)
        return self.value > before

    def _is_enough(self, value: float) -> bool:
        return value * BETTER >= self.most

    def _is_near(self, x: Array, y: Array) -> bool:
        """Whether two points have one output, about: then they are a pair as they are."""
        return bool(np.allclose(self.graph(x), self.graph(y), rtol=NEAR, atol=NEAR))

    def _exact(self, pair: Pair) -> bool:
        """Take the exact pair next to one that has equal outputs about, if it is better than that which is known."""
        if self._about(pair) <= self.value * BETTER:
            return False
        for nearer in self._nearer(pair):
            found, _ = judge(self.graph, self.query, *nearer)
            if found is not None and self.offer((found.x, found.y)):
                return True
        return False

    def _nearer(self, pair: Pair) -> Iterator[Pair]:
        """A pair, and moved a little towards the centre: on faces of a ball that are not those of a box it may have no
        room to be made exact."""
        yield pair
        for share in () if self.query.norm == "inf" else SHRUNK:
            keep = 1 - Fraction(share)
            x, y = ([c + keep * (v - c) for v, c in zip(p, self.box.center, strict=True)] for p in pair)
            yield x, y

    def _about(self, pair: Pair) -> float:
        ends = [np.array([float(v) for v in point]) for point in pair]
        other = self.query.other
        gap = ends[0] - ends[1] if other is None else other(ends[0]) - other(ends[1])
        return float(np.linalg.norm(gap, ord=self.query.objective_norm.order))

    def _start(self, x: Array, y: Array, axis: tuple[int, float] | None) -> list[Array] | None:
        """Offsets of a pair with equal outputs, about, on the regions of these points or nearer ones."""
        if self.query.norm == "2":
            found = self._in_round_ball(axis)
            if found is not None:
                return found
        if self.query.problem == "pseudo":
            return self._on_regions([x], axis) or self._on_regions([self.query.center], axis)
        middle = (x + y) / 2
        for share in SHARES:
            found = self._on_regions([middle + share * (point - middle) for point in (x, y)], axis)
            if found is not None:
                return found
        return None

    def _in_round_ball(self, axis: tuple[int, float] | None) -> list[Array] | None:
        """Offsets of a pair across the ball, in the direction that the region of the centre says."""
        count, size = (1 if self.query.problem == "pseudo" else 2), len(self.query.center)
        middle: NearProgram = Regions(self.graph, self.query, self.box, [self.box.center] * count).program
        way = round_start(middle.rows[:, :size], middle.apart[:, :size], self.query.objective_norm, axis)
        if way is None:
            return None
        steps = [sign * way for sign in (1.0, -1.0)[:count]]
        share = min(1.0, *(float(_room(middle.low, middle.high, step)) for step in steps))
        for part in (share, share / 4):
            exact = [self.box.point(part * step) for step in steps]
            program: NearProgram = Regions(self.graph, self.query, self.box, exact).program
            found = program.best(MARGIN, room=ROUND_ROOM / np.sqrt(size))
            if found is not None:
                return found
        return None

    def _on_regions(self, points: list[Array], axis: tuple[int, float] | None) -> list[Array] | None:
        exact = [self.box.clipped([Fraction(v) for v in point.tolist()]) for point in points]
        program: NearProgram = Regions(self.graph, self.query, self.box, exact).program
        cost = None if axis is None else axis[1] * program.apart[axis[0]]
        room = WHOLE if self.query.norm != "2" else 1.0
        found = program.best(MARGIN, room=room, cost=cost)
        return program.best(0.0, room=room, cost=cost) if found is None else found


def _room(low: Array, high: Array, step: Array) -> float:
    """How often a step fits between bounds around 0."""
    with np.errstate(divide="ignore"):
        fits = np.where(step > 0, high / step, np.where(step < 0, low / step, np.inf))
    return float(fits.min(initial=np.inf))
