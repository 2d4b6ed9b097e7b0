"""How far around the centre all linear regions have one orientation: a best-first search over boxes.

The distance to the nearest region whose determinant has another sign, or none, is dist(c, J0): up to there, and as far
as f tells the points of the ball's boundary apart, f is injective (`spec/engines.md`, degree). A box is closed when all
slopes that its points may have give determinants of the reference sign.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ircert.engines.boxes.effort.divisible import Divisible, Processes, Subject, ViolationSearch
from ircert.engines.boxes.effort.scheduling import PATIENCE, Schedule
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.contractions import Slopes, contractions
from ircert.engines.boxes.enclosures.cubes import MOST_FREE, kernel_free
from ircert.engines.boxes.enclosures.enclosures import Enclosures, enclose
from ircert.engines.boxes.enclosures.splitting import scores, sides
from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.boxes.falsification.falsifier import Falsifier
from ircert.engines.boxes.linear_regions.exact_signs import signs_of_floats
from ircert.engines.boxes.problem.boxes import Boxes, around, farthest, joined, nearest, trimmed
from ircert.engines.boxes.problem.outcome import Counts, TooLarge
from ircert.engines.boxes.trees.cell_tree import CellTree
from ircert.engines.boxes.trees.parts import part_of
from ircert.ir.arrays import Array, Indices, Mask

FEW_OPEN = 12
"""Boxes with at most this many open neurons may go to a tree of phases."""
DEEPEST = 100
"""Cuts of every side after which floats are used up."""


@dataclass
class OrientationFrontier:
    """Boxes that are not closed, as far as `keys`: below that radius nothing is wrong in them."""

    boxes: Boxes
    keys: Array
    opens: Indices
    ages: Indices

    def take(self, chosen: Indices | Mask) -> OrientationFrontier:
        return OrientationFrontier(self.boxes.take(chosen), self.keys[chosen], self.opens[chosen], self.ages[chosen])

    def plus(self, *others: OrientationFrontier) -> OrientationFrontier:
        all_ = (self, *others)
        rest = (np.concatenate([getattr(f, name) for f in all_]) for name in ("keys", "opens", "ages"))
        return OrientationFrontier(joined([f.boxes for f in all_]), *rest)


class OrientationSearch(Divisible):
    """The search; `reached` is the radius up to which determinants have the reference sign."""

    network: Batches
    _frontier: OrientationFrontier | None

    @property
    def _batch(self) -> int:
        return self.network.batch

    def begin(self, radius: float) -> None:
        """Start from the box around a larger ball; what lies in the ball that was reached is not looked at again."""
        if self._frontier is None or radius > self._root:
            root = around(self.network.setting, radius)
            nothing = np.zeros(1, dtype=np.int64)
            # small networks may go to a tree of phases at once
            self._frontier = OrientationFrontier(root, np.zeros(1), nothing, nothing + PATIENCE * self.network.size)
            self._root = radius

    def _popped(self, radius: float, count: int) -> OrientationFrontier:
        """The boxes nearest to the centre."""
        assert self._frontier is not None
        keys = self._frontier.keys
        order = np.argpartition(keys, count)[:count] if len(keys) > count else np.arange(len(keys))
        chosen = np.zeros(len(keys), dtype=bool)
        chosen[order] = keys[order] < radius
        here, self._frontier = self._frontier.take(chosen), self._frontier.take(~chosen)
        return here.take(farthest(self.network.setting, here.boxes) > self.reached)

    def _worked(self, here: OrientationFrontier, radius: float, stop: Callable[[], bool]) -> OrientationFrontier:
        """What is left of some boxes: their halves, or themselves where they are good within the radius."""
        self.counts.waves += 1
        self.counts.boxes += len(here.keys)
        known = enclose(self.network, here.boxes.low, here.boxes.high, radius, tilted=True)
        closed, weights = self._closed(known)
        done = self._beyond(here.take(closed), radius)
        rest = np.flatnonzero(~closed)
        here, known = here.take(rest), known.take(rest)
        if not len(rest):
            return done
        gains = self._gains(known, weights[:, rest], rest)
        opens = (~known.on & ~known.off).sum(axis=0)
        ages = np.where(opens < here.opens, 0, here.ages + 1)
        self._look((here.boxes.low + here.boxes.high) / 2, radius)
        good = self._in_trees(here, opens, ages, radius, stop)
        done = done.plus(self._beyond(here.take(good), radius))
        return done.plus(self._halves(here, known, gains, opens, ages, ~good))

    def _beyond(self, good: OrientationFrontier, radius: float) -> OrientationFrontier:
        """Boxes that are good within the radius, as far as they go further: there they are not closed."""
        good = good.take(farthest(self.network.setting, good.boxes) > radius)
        good.keys[:] = radius
        return good

    @abstractmethod
    def _closed(self, known: Enclosures) -> tuple[Mask, Array]:
        """Which boxes have determinants of the reference sign alone, and how much each neuron costs."""

    def _look(self, points: Array, radius: float) -> None:
        """Look for violations around some points; raises Violated."""

    def _in_trees(
        self, here: OrientationFrontier, opens: Indices, ages: Indices, radius: float, stop: Callable[[], bool]
    ) -> Mask:
        """Boxes that are closed by other means."""
        return np.zeros(len(opens), dtype=bool)

    def _gains(self, known: Enclosures, weights: Array, rest: Indices) -> Array:
        """How much is gained by cutting each side of the boxes that are left; `rest` of all in the wave."""
        return scores(known, weights)

    def _halves(
        self, here: OrientationFrontier, known: Enclosures, gains: Array, opens: Indices, ages: Indices, cut: Mask
    ) -> OrientationFrontier:
        chosen = np.flatnonzero(cut)
        wanted = np.argmax(sides(gains[:, chosen], known.half[:, chosen]), axis=0)
        halves = trimmed(self.network.setting, joined(list(here.boxes.take(chosen).halves(wanted))), self._root)
        keys = np.maximum(np.tile(here.keys[chosen], 2), nearest(self.network.setting, halves))
        return OrientationFrontier(halves, keys, np.tile(opens[chosen], 2), np.tile(ages[chosen], 2))


@dataclass
class Orientation(OrientationSearch, ViolationSearch):
    """The search over linear regions."""

    network: Batches
    falsifier: Falsifier
    counts: Counts
    report: Callable[[], None]
    reached: float = 0.0
    processes: Processes | None = None
    _frontier: OrientationFrontier | None = None
    _root: float = 0.0
    _trees: CellTree | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.schedule = Schedule(self.counts)

    @property
    def descent(self) -> Descent:
        """That of the falsifier."""
        return self.falsifier.descent

    @property
    def subject(self) -> Subject:
        """The setting."""
        return Subject("inside", (self.network.setting,), (self.descent.setting,))

    def _closed(self, known: Enclosures) -> tuple[Mask, Array]:
        count = known.on.shape[1]
        still = np.zeros((self.network.size, count), dtype=bool)
        slopes = Slopes.on_boxes(known, still)
        found = contractions(self.network, slopes)
        # with det(C J) > 0 in the cube, the sign of C is that of all J
        closed = found.proved & found.positive
        few = np.flatnonzero(~closed & (slopes.free.sum(axis=0) <= MOST_FREE) & found.positive)
        if len(few):
            self.counts.slopes += len(few)
            closed[few] = kernel_free(self.network, slopes.take(few), found.take(few))
        good = np.flatnonzero(closed)
        closed[good] = signs_of_floats(found.fixed[..., good]) == self.falsifier.reference
        return closed, found.weights

    def _look(self, points: Array, radius: float) -> None:
        self.falsifier.look(points, radius)

    def _in_trees(
        self, here: OrientationFrontier, opens: Indices, ages: Indices, radius: float, stop: Callable[[], bool]
    ) -> Mask:
        """Boxes that stay as they are: by phases, inside the ball."""
        good = np.zeros(len(opens), dtype=bool)
        for i in self.schedule.turns(opens <= FEW_OPEN, ages, self.network.size, DEEPEST, stop):
            if self._trees is None:
                self._trees = CellTree(self.network, self.falsifier, self.counts)
            part = part_of(self.network.setting, radius, here.boxes.low[i], here.boxes.high[i])
            try:
                self._trees.close(part, self.schedule.nodes, stop)
                good[i] = True
            except TooLarge:
                self.schedule.was_too_large()
        return good
