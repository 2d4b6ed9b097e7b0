"""A tree over the phases of the points of pairs x in X, y in Y, complete by itself.

A node fixes the sides of some neurons for x and for y. It is closed when its relaxation is proved empty, when the
secants of its pairs are proved to have no kernel, when unknown outputs read nothing but neurons that are off for both,
or, with every neuron decided, by the exact polytope K(P, Q), which either is free of violations or contains one.
Nothing here rests on a tolerance: floats only choose what to try.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from ircert.engines.boxes.enclosures.secants import Secants, SlopePattern
from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.boxes.linear_regions.coincidence import Coincidence
from ircert.engines.boxes.linear_regions.interior import FlatSides
from ircert.engines.boxes.problem.outcome import Counts, Stopped, Violated
from ircert.engines.boxes.problem.setting import Phases, Setting, neurons_that_matter
from ircert.engines.boxes.problem.unknown_outputs import UnknownOutputs
from ircert.engines.boxes.trees.branching import close_all
from ircert.engines.boxes.trees.parts import Part, part_of
from ircert.engines.boxes.trees.relaxation import Relaxation
from ircert.ir.arrays import Array, Mask
from ircert.limits import OutOfTime, Undecided, checkpoint

Node = tuple[Phases, Phases, int]
"""Phases of x and of y, and which objective to try first."""

GAP = 1e-9


@dataclass(frozen=True)
class Examined:
    """A node that is open: a point of its relaxation, if there is one, and which objective led to it."""

    point: Array | None
    start: int


@dataclass
class Tools:
    """What all trees of a question share."""

    setting: Setting
    descent: Descent
    secants: Secants
    matter: Mask
    counts: Counts

    def __post_init__(self) -> None:
        self.flat = FlatSides(self.descent.maps)
        self.unknown = UnknownOutputs(self.setting)

    @cached_property
    def relaxation(self) -> Relaxation:
        """Made when a tree first needs it: for wide networks that takes a while."""
        return Relaxation(self.setting)

    @cached_property
    def has_no_kernel_anywhere(self) -> bool:
        """Whether no secant has one, whatever its slopes are."""
        return self.secants.injective(SlopePattern(np.zeros_like(self.matter), self.matter, np.zeros(len(self.matter))))

    def all_open(self, radius: float) -> bool:
        """Whether all neurons that matter have both phases in a ball: then no ball is much harder."""
        return bool((part_of(self.setting, radius, *self.setting.ball(radius).box).phases[self.matter] == 0).all())

    @staticmethod
    def of(setting: Setting, descent: Descent, counts: Counts) -> Tools:
        """Those for a setting."""
        matter = neurons_that_matter(setting)
        return Tools(setting, descent, Secants(setting), matter, counts)


class PhaseTree:
    """All pairs of two parts, until they are excluded or one of them is a violation.

    effects: how far a unit of every neuron moves the outputs, in units of inputs, where a tree is worth looking at that
    """

    def __init__(
        self,
        tools: Tools,
        first: Part,
        second: Part,
        effects: Array | None = None,
        relaxation: Relaxation | None = None,
    ) -> None:
        self.tools = tools
        self.setting = tools.setting
        self.counts = tools.counts
        self.counts.trees += 1
        self.parts = first, second
        self.radius = first.ball.radius
        self.undecided = 0
        self.stack: list[Node] = [(first.phases, second.phases, 0)]
        self.pseudo = self.setting.pseudo
        self.same = first is second
        self.low = np.minimum(first.low, second.low)
        self.high = np.maximum(first.high, second.high)
        self.relaxation = tools.relaxation if relaxation is None else relaxation
        with np.errstate(invalid="ignore", divide="ignore"):
            self.balance = np.minimum(-self.low, self.high) / (self.high - self.low)
            self.weights = 1 / np.maximum(self.high - self.low, 1e-300) if effects is None else effects / self.radius
        self.balance = np.where(np.isfinite(self.balance), np.maximum(self.balance, 0.0), 0.0)

    def close(self, budget: int, stop: Callable[[], bool]) -> None:
        """Work until every node is closed; raises Violated, TooLarge or Stopped. After the last two it can go on."""
        if stop():
            raise Stopped
        self.fit(stop)
        close_all(self.stack, lambda node: self._visit(*node), self.counts, budget, stop)

    def fit(self, stop: Callable[[], bool]) -> None:
        """Take the relaxation to the parts of this tree."""
        self.relaxation.stop = stop
        self.relaxation.fit(*self.parts)
        self.costs = self.relaxation.costs()

    def _visit(self, first: Phases, second: Phases, start: int) -> list[Node]:
        """The children of a node; none if it is closed."""
        if self.tools.unknown.agree_with(first, second):
            return []
        if self.tools.secants.injective(slopes(self.setting, self.tools.matter, first, second)):
            self.counts.secants += 1
            return []
        found = self.examined(first, second, start)
        if found is None:
            return []
        i = self.choice(first, second, found.point)
        if i is None:
            self.leaf(first, second)
            return []
        symmetric = self.same and not self.pseudo and bool((first == second).all())
        fixed = (int(first[i]) or None, int(second[i]) if second[i] or self.pseudo else None)
        return [(here, there, found.start) for here, there in split(first, second, i, fixed, symmetric=symmetric)]

    def examined(self, first: Phases, second: Phases, start: int) -> Examined | None:
        """A node whose secants may have a kernel; None if it is closed."""
        point, best = None, start
        for turn in range(len(self.costs)):
            checkpoint()
            best = (start + turn) % len(self.costs)
            cost = self.costs[best]
            self.counts.programs += 1
            solved = self.relaxation.solve_rounded(first, second, cost)
            if solved.empty:
                self.counts.empty += 1
                return None
            point = solved.point
            if point is None or self._is_apart(cost, point):
                break
        if point is not None:
            self.look_at(first, second, point)
        if self._is_flat(first, second):
            self.counts.leaves += 1
            return None
        return Examined(point, best)

    def _is_flat(self, first: Phases, second: Phases) -> bool:
        """Whether x or y have only patterns without an interior: such pairs have others as well."""
        sides = zip((first,) if self.pseudo else (first, second), self.parts, strict=False)
        return any(self.tools.flat.have_none(phases, part.phases, self.radius) for phases, part in sides)

    def _is_apart(self, cost: Array, point: Array) -> bool:
        return bool(cost @ point - self._base(cost) > 1e-9 * self.radius)

    def _base(self, cost: Array) -> float:
        """The objective at x = y (for `pseudo`, at the centre)."""
        return float(cost[self.relaxation.x.where] @ self.setting.center) if self.pseudo else 0.0

    # --- violations --------------------------------------------------------------------------------------------------

    def look_at(self, first: Phases, second: Phases, point: Array) -> None:
        """Raise Violated if a point of the relaxation leads to a violation in the ball."""
        gaps = self.relaxation.gaps(point)
        if gaps.max(initial=0.0) > 1e-7 * (1.0 + np.abs(self.high).max(initial=0.0)):
            return
        x, y = self.relaxation.points(point)
        if np.abs(x - y).max() <= 1e-7 * self.radius:
            return
        self.tools.descent.improve(*self._completed(first, second, x, y))
        self._raise_if_inside()

    def _completed(self, first: Phases, second: Phases, x: Array, y: Array) -> tuple[Phases, Phases]:
        """Phases, and those of two points where they are open."""
        sides = np.where(self.setting.preactivations(np.stack([x, y])) > 0, 1, -1)
        here, there = (
            np.where(given == 0, side, given).astype(np.int8)
            for given, side in zip((first, second), sides, strict=True)
        )
        return here, there

    def look_for(self, first: Phases, second: Phases, start: int) -> None:
        """Raise Violated if pairs with these phases, all of which are decided, lead to a violation in the ball."""
        self.counts.programs += 1
        point = self.relaxation.solve_rounded(first, second, self.costs[start]).point
        if point is not None and self._is_apart(self.costs[start], point):
            self.look_at(first, second, point)

    def _raise_if_inside(self) -> None:
        if self.tools.descent.has_within(self.radius):
            raise Violated

    def leaf(self, first: Phases, second: Phases) -> bool:
        """Whether a node with all phases decided is free of violations, or that takes too much; raises Violated."""
        self.counts.leaves += 1
        descent = self.tools.descent
        there = np.where(second == 0, 1, second).astype(np.int8)
        try:
            polytope = Coincidence(self.setting, descent.maps, first, there, self.radius)
            found = polytope.violation(Fraction(self.radius))
        except OutOfTime:
            raise
        except Undecided:
            self.undecided += 1
            self.counts.undecided += 1
            return False
        if found is not None:
            size = found.measure(self.setting.norm)
            if descent.best is None or size < descent.best[0]:
                descent.best = size, found
            descent.improve(first, there, found)
            raise Violated
        return True

    # --- splitting ---------------------------------------------------------------------------------------------------

    def choice(self, first: Phases, second: Phases, point: Array | None) -> int | None:
        """The neuron to decide: where the relaxation is worst, for the outputs if effects are known, else one that
        splits well."""
        open_ = first == 0 if self.pseudo else (first == 0) | (second == 0)
        if not open_.any():
            return None
        if point is not None and self.setting.unknowns:
            open_ = self._telling(first, second, open_, point)
        if point is not None:
            gaps = self.relaxation.gaps(point).max(axis=0)
            scaled = np.where(open_, gaps * self.weights, 0.0)
            if scaled.max() > GAP:
                return int(np.argmax(scaled))
        return int(np.argmax(np.where(open_, self.balance + 1e-3 + self.tools.matter, -1.0)))

    def _telling(self, first: Phases, second: Phases, open_: Mask, point: Array) -> Mask:
        """The open neurons, or those alone that would show that unknown outputs agree, where they do at a point."""
        here, there = self._completed(first, second, *self.relaxation.points(point))
        telling = open_ & (here < 0) & (there < 0) & self.tools.unknown.read
        return telling if telling.any() and self.tools.unknown.agree_with(here, there) else open_


def split(
    first: Phases, second: Phases, i: int, fixed: tuple[int | None, int | None], *, symmetric: bool
) -> list[tuple[Phases, Phases]]:
    """Phases of x and y with those of a neuron decided: fixed ones, or both sides.

    symmetric: x and y are alike, so that one of two mirrored choices is enough
    """
    sides = [
        (a, b)
        for a in ((1, -1) if fixed[0] is None else (fixed[0],))
        for b in ((1, -1) if fixed[1] is None else (fixed[1],))
        if not (symmetric and a < b)
    ]
    sides.sort(key=lambda ab: ab[0] == ab[1])  # pairs on one side last: they are looked at first
    found = []
    for a, b in sides:
        here, there = first.copy(), second.copy()
        here[i], there[i] = a, b
        found.append((here, there))
    return found


def slopes(setting: Setting, matter: Mask, first: Phases, second: Phases) -> SlopePattern:
    """What the phases of a pair say about its secant."""
    on, off = (first > 0) & (second > 0), (first < 0) & (second < 0)
    if setting.pseudo:  # a neuron that is 0 at the centre has the slope of x's side
        on = on | ((second == 0) & (first > 0))
        off = off | ((second == 0) & (first < 0))
    apart = np.where(first * second < 0, first, 0).astype(np.float64)
    return SlopePattern(on & matter, ~on & ~off & matter, apart)
