"""One tree of phases for balls of all sizes: the pairs nearest to the centre come first.

A node stands for all pairs with some phases, and knows a distance from the centre within which none of them is a
violation; the ball within the least of these distances is good. A node is closed for good where no secant with its
phases has a kernel, or unknown outputs read nothing but neurons that are off for both points. What is shown of it in
one ball (that its relaxation is empty there, or the phases that follow from bounds on that ball) is a larger distance:
so no work is lost when another ball is asked about.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field, replace
from itertools import count

import numpy as np

from ircert.bounds.slope_minors import Tangent
from ircert.engines.boxes.effort.portfolio import Stop
from ircert.engines.boxes.problem.outcome import Outcome, Stopped, Violated
from ircert.engines.boxes.problem.setting import Phases, first_layer
from ircert.engines.boxes.trees.parts import Part, center_part, part_of
from ircert.engines.boxes.trees.phase_tree import Examined, PhaseTree, Tools, slopes, split
from ircert.engines.boxes.trees.relaxation import Relaxation
from ircert.engines.boxes.trees.strong_branching import best_children
from ircert.errors import ProgramError
from ircert.ir.arrays import Array
from ircert.limits import OutOfTime, left

HALVES = 8
"""How often the interval is halved in which the largest ball lies for which the phases that follow from bounds do."""
LONG = 1.0
"""Seconds in which tests of secants leave nothing out."""


@dataclass(frozen=True, order=True)
class Node:
    """Pairs with some phases (0: any), none of which is a violation nearer than a distance; the newest first.

    measured: the radius of the ball in whose relaxation the distance was measured; nearest: where it is reached
    signs:    of z(x) - z(y) (0: any), where a tree knows some; then also a direction that kernels may have
    """

    distance: float
    number: int
    first: Phases = field(compare=False)
    second: Phases = field(compare=False)
    start: int = field(compare=False, default=0)
    measured: float = field(compare=False, default=0.0)
    nearest: Array | None = field(compare=False, default=None)
    signs: Phases | None = field(compare=False, default=None)
    tangent: Tangent | None = field(compare=False, default=None)


class GrowingTree:
    """All pairs of all balls; `reached` is the radius of the largest closed ball that is good."""

    signed = False
    """Whether nodes know signs of differences."""

    def __init__(self, tools: Tools) -> None:
        self.tools = tools
        self.reached = 0.0
        self._numbers = count(0, -1)
        self._at: PhaseTree | None = None
        self._guessed: set[bytes] = set()
        self._injective: dict[bytes, bool] = {}
        self._relaxation = Relaxation(tools.setting, measured=True, signed=self.signed)
        is_deep = not (first_layer(tools.setting) | ~tools.matter).all()
        self._tries = is_deep and tools.setting.constrained > tools.setting.size
        """Whether phases are tried: with more outputs than inputs tests of secants take longer than programs, and with
        more layers than one a relaxation says less about which phase matters."""
        self._center = center_part(tools.setting) if tools.setting.pseudo else None
        any_phase = np.zeros(tools.setting.neurons, dtype=np.int8)
        second = any_phase if self._center is None else self._center.phases
        self._heap = [self._root(any_phase, second)]
        self._undecided: list[tuple[float, Node]] = []
        """Nodes that exact programs could not decide in balls of some radii."""
        self.tools.counts.trees += 1

    def _root(self, first: Phases, second: Phases) -> Node:
        return Node(0.0, next(self._numbers), first, second)

    def advance(self, radius: float, stop: Stop) -> Outcome:
        """Go on until the closed ball is good; gives up where exact programs cannot decide."""
        if self.reached >= radius:
            return "closed"
        if stop():
            return "stopped"
        self._take_up(radius)
        try:
            if self._heap and self._heap[0].number == 0:
                self._reach_by_bounds(radius)
            self._reach(radius, stop)
        except Violated:
            return "violated"
        except (Stopped, OutOfTime, ProgramError):  # the last: numbers of this ball that no program takes
            return "stopped"
        return "closed" if self.reached >= radius else "stopped"

    def _take_up(self, radius: float) -> None:
        """What could not be decided in another ball may be in this one."""
        for node in (node for asked, node in self._undecided if asked != radius):
            heapq.heappush(self._heap, node)
        self._undecided = [(asked, node) for asked, node in self._undecided if asked == radius]

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
        while self._heap and self._heap[0].distance <= radius:
            if stop():
                raise Stopped
            self.tools.counts.nodes += 1
            nodes = self._visited(at, self._heap[0])
            heapq.heappop(self._heap)  # not before: what interrupts a visit leaves the node open
            for node in nodes:
                heapq.heappush(self._heap, node)
            self._note(radius)
        self._note(radius)

    def _note(self, radius: float) -> None:
        """The balls before all open nodes are good."""
        open_ = [*self._heap[:1], *(node for _, node in self._undecided)]
        least = min((node.distance for node in open_), default=math.inf)
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
        node = self._measured(at, node)
        if self._can_wait(at, node):
            return [node]
        first, second = self._known(at, node)
        if self.tools.unknown.agree_with(first, second):
            agree = self.tools.unknown.agree_with(node.first, node.second)
            return [] if agree else [replace(node, distance=beyond)]
        if self._is_injective(first, second):
            self.tools.counts.secants += 1
            return [] if self._is_injective(node.first, node.second) else [replace(node, distance=beyond)]
        examined = at.examined(node.first, node.second, node.start)
        if examined is None:
            return [replace(node, distance=beyond)]
        if examined.point is not None:
            self._guess(at, node, examined.point, examined.start)
        return self._children(at, node, (first, second), examined)

    def _measured(self, at: PhaseTree, node: Node) -> Node:
        """A node with the distance that the relaxation in a ball shows."""
        if node.measured == at.radius:
            return node
        self.tools.counts.programs += 1
        found, point = self._relaxation.least_distance(node.first, node.second, node.signs)
        distance = min(found, math.nextafter(at.radius, math.inf))
        return replace(node, distance=max(node.distance, distance), measured=at.radius, nearest=point)

    def _can_wait(self, at: PhaseTree, node: Node) -> bool:
        """Whether others are nearer than the one that is visited, or it is out of the ball."""
        return node.distance > min([at.radius, *(other.distance for other in self._heap[1:3])])

    def _known(self, at: PhaseTree, node: Node) -> tuple[Phases, Phases]:
        """The phases of a node, and those that follow from bounds on a ball, which say nothing about larger ones."""
        first, second = (
            np.where(phases == 0, part.phases, phases).astype(np.int8)
            for phases, part in zip((node.first, node.second), at.parts, strict=True)
        )
        return first, second

    def _children(self, at: PhaseTree, node: Node, known: tuple[Phases, Phases], examined: Examined) -> list[Node]:
        beyond = math.nextafter(at.radius, math.inf)
        symmetric = self._center is None and bool((node.first == node.second).all())
        if self._tries:
            found = best_children(at, (node.first, node.second), known, examined, symmetric=symmetric)
            if found:
                distances = [beyond if child.empty else node.distance for child in found]
                return [self._child(child.phases, examined, d) for child, d in zip(found, distances, strict=True)]
        i = at.choice(*known, examined.point)
        if i is None:
            if at.leaf(*known):
                return [replace(node, distance=beyond)]
            self._undecided.append((at.radius, node))
            return []
        # a phase that follows from bounds stays as it is, perhaps any: it need not be so in a larger ball
        fixed = (
            int(node.first[i]) if known[0][i] else None,
            int(node.second[i]) if known[1][i] or self._center is not None else None,
        )
        pairs = split(node.first, node.second, i, fixed, symmetric=symmetric)
        return [self._child(phases, examined, node.distance) for phases in pairs]

    def _child(self, phases: tuple[Phases, Phases], examined: Examined, distance: float) -> Node:
        return Node(distance, next(self._numbers), *phases, examined.start)

    def _is_injective(self, first: Phases, second: Phases) -> bool:
        """Whether no secant of pairs with these phases has a kernel, for sure; children often have the same slopes."""
        pattern = slopes(self.tools.setting, self.tools.matter, first, second)
        key = np.concatenate([pattern.on, pattern.free, pattern.sides]).astype(np.int8).tobytes()
        found = self._injective.get(key)
        if found is None:
            found = self.tools.secants.injective(pattern)
            if found or left() > LONG:  # else it may have been for want of time
                self._injective[key] = found
        return found

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
            at.look_for(first, second, start)
            self._guessed.add(key)
