"""One tree for balls of all sizes whose nodes know signs of differences, where there are more outputs than inputs.

A pair x, y has a sign at every neuron, that of z(x) - z(y). With the signs of all of them, the secants of all pairs
that have a kernel are a cone of directions, whatever the points are, and with more outputs than inputs few of these
cones are more than {0}: signs come first, phases after them. With a sign the differences below a neuron, behind it and
of both have it too: so relaxations show much of how far out a pair is.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ircert.bounds.slope_minors import Tangent
from ircert.engines.boxes.effort.portfolio import Stop
from ircert.engines.boxes.enclosures.secants import SlopePattern
from ircert.engines.boxes.problem.outcome import Outcome
from ircert.engines.boxes.problem.setting import Phases
from ircert.engines.boxes.trees.growing_tree import GrowingTree, Node
from ircert.engines.boxes.trees.phase_tree import PhaseTree, Tools, slopes, split
from ircert.engines.boxes.trees.whole import FEW_BEYOND
from ircert.ir.arrays import Array, Mask
from ircert.limits import OutOfTime

GROWTH, FAR = 2.0, 16.0
"""How much larger the next ball is, and once all neurons are open, so that balls are alike."""
HALVES = 64
"""How often a first ball is halved at most."""
BETWEEN = 1e-9
"""A slope that is less than this within [0, 1] is one of its ends: in units of the largest derivatives, which are 1."""


class SignedTree(GrowingTree):
    """All pairs of all balls, by signs of differences and phases."""

    signed = True
    _begun = False

    @staticmethod
    def suits(tools: Tools) -> bool:
        """Whether the directions of kernels can be asked about, few neurons matter, and x and y may change places."""
        few = int(tools.matter.sum()) <= FEW_BEYOND
        return few and tools.setting.problem == "local" and tools.secants.has_tangents

    def advance(self, radius: float, stop: Stop) -> Outcome:
        """By balls that double, because relaxations in large ones say little about what is near."""
        outcome: Outcome = "closed"
        while outcome == "closed" and self.reached < radius:
            try:
                outcome = super().advance(self._next(radius), stop)
            except OutOfTime:
                outcome = "stopped"
        return outcome

    def _next(self, radius: float) -> float:
        if not self._begun:
            self._begun = True
            self._begin(radius)
        growth = FAR if self.reached and self.tools.all_open(self.reached) else GROWTH
        return min(radius, growth * self.reached or radius)

    def _begin(self, radius: float) -> None:
        """A first ball, of which bounds on it say all."""
        for _ in range(HALVES):
            first, second = (part.phases for part in self._parts(radius))
            if self._is_injective(first, second):
                self.reached = radius
                break
            radius /= GROWTH

    def _reach_by_bounds(self, radius: float) -> None:
        """That was done before."""

    def _root(self, first: Phases, second: Phases) -> Node:
        return replace(super()._root(first, second), signs=np.zeros_like(first))

    def _visited(self, at: PhaseTree, node: Node) -> list[Node]:
        beyond = math.nextafter(at.radius, math.inf)
        tangent = node.tangent or self._tangent(node.first, node.second, node.signs)
        if tangent is None:
            self.tools.counts.secants += 1
            return []
        node = self._measured(at, replace(node, tangent=tangent))
        if self._can_wait(at, node):
            return [node]
        first, second = known = self._known(at, node)
        if (first != node.first).any() or (second != node.second).any():
            tangent = self._tangent(first, second, node.signs)
            if tangent is None:
                self.tools.counts.secants += 1
                return [replace(node, distance=beyond)]
        sides = self._pattern(*known, node.signs).sides
        assert sides is not None
        unsure = self.tools.matter & (sides == 0) & ~_agree(*known)
        if not (unsure & (tangent.between < -BETWEEN)).any():
            self._guess_along(at, known, tangent)
        return self._by_sign(node, unsure, at, tangent) if unsure.any() else self._by_phase(at, node, known, tangent)

    # --- kernels -----------------------------------------------------------------------------------------------------

    def _pattern(self, first: Phases, second: Phases, signs: Phases | None) -> SlopePattern:
        """What phases and signs say about a secant."""
        assert signs is not None
        pattern = slopes(self.tools.setting, self.tools.matter, first, second)
        apart = pattern.sides if pattern.sides is not None else np.zeros(len(signs))
        return replace(pattern, sides=np.where(apart == 0, signs, apart) * pattern.free)

    def _tangent(self, first: Phases, second: Phases, signs: Phases | None) -> Tangent | None:
        return self.tools.secants.tangent(self._pattern(first, second, signs))

    # --- splitting ---------------------------------------------------------------------------------------------------

    def _by_sign(self, node: Node, unsure: Mask, at: PhaseTree, tangent: Tangent) -> list[Node]:
        """Both signs of the neuron at which a direction is least that of a secant; of pairs and mirrored ones one."""
        assert node.signs is not None
        i = _worst(unsure, -tangent.between, at.balance)
        mirrored = not node.signs.any() and bool((node.first == node.second).all())
        children = []
        for side in (1,) if mirrored else (1, -1):
            signs = node.signs.copy()
            signs[i] = side
            children.append(self._with(node, node.first, node.second, signs))
        return children

    def _by_phase(self, at: PhaseTree, node: Node, known: tuple[Phases, Phases], tangent: Tangent) -> list[Node]:
        """The phases of the neuron at which the slope of a direction is farthest from 0 and 1; where all are 0 or 1, of
        that below which it changes most."""
        assert node.signs is not None
        first, second = known
        open_ = (first == 0) | (second == 0)
        if not open_.any():
            if at.leaf(first, second):
                return [replace(node, distance=math.nextafter(at.radius, math.inf))]
            self._undecided.append((at.radius, node))
            return []
        width = np.maximum(at.high - at.low, np.finfo(np.float64).tiny)
        i = _worst(open_, np.where(self.tools.matter, tangent.between, -1.0), np.abs(tangent.below) / width)
        # a phase that follows from bounds stays as it is, perhaps any: it need not be so in a larger ball
        fixed = int(node.first[i]) if first[i] else None, int(node.second[i]) if second[i] else None
        mirrored = not node.signs.any() and bool((node.first == node.second).all())
        pairs = split(node.first, node.second, i, fixed, symmetric=mirrored)
        # x on and y off is not said of z(x) <= z(y): where both are 0, the pair has other phases as well
        fitting = [(a, b) for a, b in pairs if not (a[i] * b[i] < 0 and a[i] != node.signs[i] != 0)]
        return [self._with(node, a, b, node.signs) for a, b in fitting]

    def _with(self, node: Node, first: Phases, second: Phases, signs: Phases) -> Node:
        """A child, which is not measured again where the nearest point of its parent is one of it."""
        child = Node(node.distance, next(self._numbers), first, second, signs=signs)
        if node.nearest is None or not self._relaxation.has(node.nearest, first, second, signs):
            return child
        return replace(child, measured=node.measured, nearest=node.nearest)

    # --- violations --------------------------------------------------------------------------------------------------

    def _guess_along(self, at: PhaseTree, known: tuple[Phases, Phases], tangent: Tangent) -> None:
        """Look for a violation along a direction of a kernel, with the phases that its slopes say; raises Violated."""
        rising, between = np.sign(tangent.below), tangent.between
        on = np.abs(tangent.behind) > np.abs(tangent.below) / 2
        crossed = between > BETWEEN
        first, second = (
            np.where(phases != 0, phases, np.where(crossed, side * rising, np.where(on, 1, -1))).astype(np.int8)
            for phases, side in zip(known, (1, -1), strict=True)
        )
        key = np.concatenate([first, second, [at.radius]]).tobytes()
        if key in self._guessed or not rising.any():
            return
        self._guessed.add(key)
        self.tools.counts.programs += 1
        point = self._relaxation.solve_rounded(first, second, self._relaxation.rising(rising)).point
        if point is not None:
            at.look_at(first, second, point)


def _agree(first: Phases, second: Phases) -> Mask:
    """Where both phases are known and alike: there the slope of a secant is."""
    return (first == second) & (first != 0)


def _worst(mask: Mask, first: Array, second: Array) -> int:
    """The place of a mask where a number is largest, or another one if those are all nearly 0."""
    usable = np.where(mask, first, -np.inf)
    return int(np.argmax(usable if usable.max() > BETWEEN else np.where(mask, second, -np.inf)))
