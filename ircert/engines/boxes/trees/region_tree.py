"""A tree over the phases of single points: something is shown of all linear regions that meet the inside of a part.

A node fixes the sides of some neurons. It is closed when its relaxation is proved empty, when what is to be shown holds
for all slopes of its open neurons, or, with every neuron decided, for that region exactly, or because the region has no
interior in the box around the ball.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.contractions import Slopes
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.engines.boxes.linear_regions.interior import deepest
from ircert.engines.boxes.problem.outcome import Counts, Stopped, TooLarge
from ircert.engines.boxes.problem.setting import Phases, first_layer
from ircert.engines.boxes.trees.branching import close_all
from ircert.engines.boxes.trees.parts import Part
from ircert.engines.boxes.trees.relaxation import Relaxation
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array, Mask
from ircert.ir.rational import Integers, integer_array
from ircert.limits import OutOfTime, Undecided

GAP = 1e-9
ROUNDS = 40


class RegionTree(ABC):
    """All regions that meet a part."""

    def __init__(self, network: Batches, maps: ExactMaps, counts: Counts) -> None:
        self.network = network
        self.setting = network.setting
        self.maps = maps
        self.counts = counts
        self.relaxation = Relaxation(network.setting, alone=True)
        self.first = first_layer(network.setting)

    def close(self, part: Part, budget: int, stop: Callable[[], bool], stack: list[Phases] | None = None) -> None:
        """Work until every node is closed; raises Violated, TooLarge or Stopped.

        stack: the nodes that are open, all of the part at first; what is left there can be gone on with
        """
        if stop():
            raise Stopped
        self.relaxation.stop = stop
        self.relaxation.fit(part, part)
        if stack is None:
            self.counts.trees += 1
            stack = [part.phases]
        close_all(stack, lambda phases: self._visit(part, phases), self.counts, budget, stop)

    def _visit(self, part: Part, phases: Phases) -> list[Phases]:
        """The children of a node; none if it is closed."""
        if self._holds_for(self._slopes(phases)):
            self.counts.secants += 1
            return []
        cost = np.zeros(self.relaxation.matrix.shape[1])
        self.counts.programs += 1
        solved = self.relaxation.solve_rounded(phases, phases, cost)
        if solved.empty:
            self.counts.empty += 1
            return []
        if (phases != 0).all():
            self._leaf(part, phases)
            return []
        if self._is_flat(part, phases):
            self.counts.leaves += 1
            return []
        gaps = np.zeros(len(phases)) if solved.point is None else self.relaxation.gaps(solved.point).max(axis=0)
        return self._split(part, phases, gaps)

    def _is_flat(self, part: Part, phases: Phases) -> bool:
        """Whether the planes of the first layer leave no interior, for sure: many may go through one point.

        Closed sides of planes through a point all meet there, so that no relaxation of them is empty.
        """
        decided = self.first & (phases != 0)
        if int((decided & (part.phases == 0)).sum()) < 2:
            return False
        try:
            return self._interior(part, phases, decided) is None
        except Undecided:
            return False

    def _slopes(self, phases: Phases) -> Slopes:
        """The cube of slopes of a node."""
        on, free = (phases > 0)[:, None], (phases == 0)[:, None]
        return Slopes.of(on, free, np.zeros((self.network.size, 1), dtype=bool))

    def _split(self, part: Part, phases: Phases, gaps: Array) -> list[Phases]:
        """Decide the neuron where the relaxation is worst, or that splits best; those of the first layer first."""
        width = np.maximum(part.high - part.low, 1e-300)
        open_ = phases == 0
        if (open_ & self.first).any():
            open_ = open_ & self.first
        scaled = np.where(open_, gaps / width, -1.0)
        if scaled.max() <= GAP:
            scaled = np.where(open_, np.minimum(-part.low, part.high) / width, -1.0)
        i = int(np.argmax(scaled))
        children = [phases.copy(), phases.copy()]
        children[0][i], children[1][i] = 1, -1
        return children

    # --- leaves ------------------------------------------------------------------------------------------------------

    @abstractmethod
    def _holds_for(self, slopes: Slopes) -> bool:
        """Whether it holds for all slopes of a cube, for sure."""

    @abstractmethod
    def _holds_in(self, phases: Phases) -> bool:
        """Whether it holds in one region, exactly."""

    @abstractmethod
    def _fails(self, part: Part, phases: Phases, point: list[Fraction]) -> None:
        """Do what is to be done about a region where it does not hold, with a point u = x - c inside; may raise
        Violated."""

    def _leaf(self, part: Part, phases: Phases) -> None:
        """Close a region, or raise Violated; TooLarge where exact programs are too large: smaller boxes may help."""
        self.counts.leaves += 1
        if self._holds_in(phases):
            return
        try:
            point = self._interior(part, phases, np.ones(len(phases), dtype=bool))
        except OutOfTime:
            raise
        except Undecided:
            raise TooLarge from None
        if point is not None:
            self._fails(part, phases, point)
            raise TooLarge

    def _interior(self, part: Part, phases: Phases, chosen: Mask) -> list[Fraction] | None:
        """A point u = x - c inside the sides of some neurons, the box of the part and the ball; None if there is none.

        max t with every row at least t; norms 1 and 2 add planes between the ball and points outside.
        """
        rows = (self.maps.of(phases).z * phases.astype(object)[:, None])[chosen]
        still = np.array([not any(row[:-1]) for row in rows], dtype=bool)
        if any(row[-1] < 0 for row in rows[still]):
            return None
        table = np.concatenate([rows[~still], _box_rows(part, self.setting.exact_center)])
        radius, norm = Fraction(part.ball.radius), self.setting.norm
        for _ in range(ROUNDS):
            u = deepest(table, part.ball.radius)
            if u is None:
                return None
            outside = norm.measure(u) - radius**norm.power
            if outside < 0 or norm == "inf":
                return u
            table = np.concatenate([table, _plane(u, radius, norm)[None]])
        raise Undecided


def _box_rows(part: Part, center: list[Fraction]) -> Integers:
    """Forms over (u, 1), u = x - c, that are positive inside the box of a part."""
    low, high = part.ball.box
    rows = []
    for j, c in enumerate(center):
        for bound, sign in ((low[j], 1), (high[j], -1)):
            terms = [Fraction(0)] * len(center)
            terms[j] = Fraction(sign)
            rows.append(_integers([*terms, sign * (c - Fraction(float(bound)))]))
    return np.array(rows, dtype=object)


def _plane(u: list[Fraction], radius: Fraction, norm: Norm) -> Integers:
    """A form over (u, 1) that is not negative on the ball of norm 1 or 2, but at a point outside."""
    if norm == "1":
        return _integers([*(Fraction(-1 if a > 0 else 1 if a < 0 else 0) for a in u), radius])
    top = max(abs(a) for a in u)
    way = [float(a / top) for a in u]  # squares of u itself may vanish, or be too large for floats
    g = [Fraction(a / math.hypot(*way)) * radius for a in way]
    return _integers([*(-2 * a for a in g), radius * radius + sum(a * a for a in g)])


def _integers(numbers: list[Fraction]) -> Integers:
    common = math.lcm(*(v.denominator for v in numbers))
    return integer_array([int(v * common) for v in numbers])
