"""One tree of phases for balls of all sizes: the pairs nearest to the centre come first.

A node stands for all pairs with some phases, and knows a distance from the centre within which none of them is a
violation; the ball within the least of these distances is good. A node is closed for good where no secant with its
phases has a kernel. What is shown of it in one ball (that its relaxation is empty there, or the phases that follow from
bounds on that ball) is a larger distance: so no work is lost when another ball is asked about.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field, replace
from itertools import count

import numpy as np

from ircert.engines.boxes.effort.portfolio import Stop
from ircert.engines.boxes.problem.outcome import Outcome, Stopped, Violated
from ircert.engines.boxes.problem.setting import Phases
from ircert.engines.boxes.trees.parts import Part, center_part, part_of
from ircert.engines.boxes.trees.phase_tree import PhaseTree, Tools, slopes, split
from ircert.engines.boxes.trees.relaxation import Relaxation
from ircert.ir.arrays import Array
from ircert.limits import OutOfTime

HALVES = 8
"""How often the interval is halved in which the largest ball lies for which the phases that follow from bounds do."""


@dataclass(frozen=True, order=True)
class Node:
    """Pairs with some phases (0: any), none of which is a violation nearer than a distance; the newest first.

    measured: the radius of the ball in whose relaxation the distance was measured
    """

    distance: float
    number: int
    first: Phases = field(compare=False)
    second: Phases = field(compare=False)
    start: int = field(compare=False, default=0)
    measured: float = field(compare=False, default=0.0)


class GrowingTree:
    """All pairs of all balls; `reached` is the radius of the largest closed ball that is good."""

    def __init__(self, tools: Tools) -> None:
        self.tools = tools
        self.reached = 0.0
        self._numbers = count(0, -1)
        self._at: PhaseTree | None = None
        self._guessed: set[bytes] = set()
        self._relaxation = Relaxation(tools.setting, measured=True)
        self._center = center_part(tools.setting) if tools.setting.pseudo else None
        any_phase = np.zeros(tools.setting.neurons, dtype=np.int8)
        second = any_phase if self._center is None else self._center.phases
        self._heap = [Node(0.0, next(self._numbers), any_phase, second)]
        self._undecided = math.inf
        """The least distance of a node that exact programs could not decide."""
        self.tools.counts.trees += 1

    def advance(self, radius: float, stop: Stop) -> Outcome:
        """Go on until the closed ball is good; gives up where exact programs could not decide."""
        if self.reached >= radius:
            return "closed"
        if stop() or self._undecided <= radius:
            return "stopped"
        try:
            if self._heap and self._heap[0].number == 0:
                self._reach_by_bounds(radius)
            self._reach(radius, stop)
        except Violated:
            return "violated"
        except (Stopped, OutOfTime):
            return "stopped"
        return "closed" if self.reached >= radius else "stopped"

    def _reach_by_bounds(self, radius: float) -> None:
        """A ball as large as the phases that follow from bounds on it allow, before any others are looked at."""
        for _ in range(HALVES):
            tried = (self.reached + radius) / 2
            first, second = self._parts(tried)
            if self._is_injective(first.phases, second.phases):
                self.reached = tried
            else:
                radius = tried

    def _reach(self, radius: float, stop: Stop) -> None:
        """Work on all nodes within a ball; raises Violated or Stopped."""
        at = self._fitted(radius, stop)
        while self._least <= radius and self._undecided > radius:
            if stop():
                raise Stopped
            self.tools.counts.nodes += 1
            node = heapq.heappop(self._heap)
            nodes = [node]
            try:
                nodes = self._visited(at, node)
            finally:  # what interrupts a visit leaves the node open
                for other in nodes:
                    heapq.heappush(self._heap, other)
            self._note(radius)
        self._note(radius)

    @property
    def _least(self) -> float:
        return self._heap[0].distance if self._heap else math.inf

    def _note(self, radius: float) -> None:
        least = min(self._least, self._undecided)
        self.reached = max(self.reached, min(radius, math.nextafter(least, 0.0)))

    def _parts(self, radius: float) -> tuple[Part, Part]:
        setting = self.tools.setting
        part = part_of(setting, radius, *setting.ball(radius).box)
        return part, part if self._center is None else self._center

    def _fitted(self, radius: float, stop: Stop) -> PhaseTree:
        """The tree of one ball, whose tests of nodes are used."""
        if self._at is None or self._at.radius != radius:
            self._at = None  # whatever interrupts what follows leaves no tree with another one's relaxation
            first, second = self._parts(radius)
            given = slopes(self.tools.setting, self.tools.matter, first.phases, second.phases)
            at = PhaseTree(self.tools, first, second, self.tools.secants.effects(given), self._relaxation)
            at.fit(stop)
            self._at = at
        self._relaxation.stop = stop
        return self._at

    def _visited(self, at: PhaseTree, node: Node) -> list[Node]:
        """What takes the place of a node: itself at a larger distance, its children, or nothing."""
        beyond = math.nextafter(at.radius, math.inf)
        if node.measured != at.radius:
            self.tools.counts.programs += 1
            distance = min(self._relaxation.least_distance(node.first, node.second), beyond)
            node = replace(node, distance=max(node.distance, distance), measured=at.radius)
            if node.distance > min(at.radius, self._least):
                return [node]
        # phases that follow from bounds on this ball, which say nothing about larger ones
        first, second = (
            np.where(phases == 0, part.phases, phases).astype(np.int8)
            for phases, part in zip((node.first, node.second), at.parts, strict=True)
        )
        if self._is_injective(first, second):
            self.tools.counts.secants += 1
            return [] if self._is_injective(node.first, node.second) else [replace(node, distance=beyond)]
        examined = at.examined(node.first, node.second, node.start)
        if examined is None:
            return [replace(node, distance=beyond)]
        if examined.point is not None:
            self._guess(at, node, examined.point, examined.start)
        i = at.choice(first, second, examined.point)
        if i is None:
            if not at.leaf(first, second):
                self._undecided = min(self._undecided, node.distance)
            return [replace(node, distance=beyond)]
        fixed = (
            int(node.first[i]) if first[i] else None,
            int(node.second[i]) if second[i] or self._center is not None else None,
        )
        symmetric = self._center is None and bool((node.first == node.second).all())
        return [
            Node(node.distance, next(self._numbers), *phases, examined.start)
            for phases in split(node.first, node.second, i, fixed, symmetric=symmetric)
        ]

    def _is_injective(self, first: Phases, second: Phases) -> bool:
        """Whether no secant of pairs with these phases has a kernel, for sure."""
        return self.tools.secants.injective(slopes(self.tools.setting, self.tools.matter, first, second))

    def _guess(self, at: PhaseTree, node: Node, point: Array, start: int) -> None:
        """Look for a violation with all the phases that a point of the relaxation has; raises Violated.

        What is nearest to the centre comes first, so that decided nodes come last: without this, violations do.
        """
        first, second = (
            np.where(phases == 0, side, phases).astype(np.int8)
            for phases, side in zip((node.first, node.second), self._relaxation.sides(point), strict=True)
        )
        key = np.concatenate([first, second]).tobytes()
        if key not in self._guessed:
            self._guessed.add(key)
            at.look_for(first, second, start)
