"""One matrix for many balls of norm inf at once: each is a box, and a wave has boxes of all of them.

A ball of few boxes takes about as long as ten of them together: arrays are long enough then.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ircert.engines.boxes.enclosures.contractions import Slopes
from ircert.engines.boxes.enclosures.enclosures import Enclosures, enclose
from ircert.engines.boxes.one_matrix.cover import (
    ENOUGH,
    LOOKED_AT,
    Frontier,
    suspicious_points,
    wrong_at,
)
from ircert.engines.boxes.one_matrix.cuts import cuts_at_once, gains_of, halves
from ircert.engines.boxes.one_matrix.domination import OneMatrix
from ircert.engines.boxes.one_matrix.points import Points
from ircert.engines.boxes.problem.boxes import Boxes, joined, nearest
from ircert.engines.boxes.problem.outcome import Counts
from ircert.engines.boxes.problem.setting import Setting
from ircert.ir.arrays import Array, Indices, Mask

AHEAD = 4
"""What an open box is expected to take, in boxes."""


@dataclass
class ManyBalls:
    """Covers of boxes, `roots`, each of which is a ball cut with the domain, or holds one, and stands for itself.

    spent:   how many boxes were looked at for each root
    failing: points where C is wrong, and in which root each lies
    """

    matrix: OneMatrix
    points: Points
    counts: Counts
    roots: Boxes
    spent: Indices = field(init=False)
    failing: list[tuple[Array, Indices]] = field(default_factory=list)

    def __post_init__(self) -> None:
        count = len(self.roots)
        self.spent = np.zeros(count, dtype=np.int64)
        self._wrong = np.zeros(count, dtype=np.int64)
        self._boxes, self._owners, self._depths = self.roots, np.arange(count), np.zeros(count, dtype=np.int64)

    @property
    def closed(self) -> Mask:
        """Which roots are covered: C J is positive definite on all their linear regions."""
        return np.asarray(self.open == 0)

    @property
    def open(self) -> Indices:
        """How many boxes of each root are not closed."""
        return np.bincount(self._owners, minlength=len(self.roots))

    def advance(self, most: int, stop: Callable[[], bool]) -> None:
        """Work on each root until it is covered, C turns out to be wrong in it, or it is expected to take more than so
        many boxes in all."""
        while not stop():
            going = (self.spent + AHEAD * self.open < most) & (self._wrong < ENOUGH)
            here = np.flatnonzero(going[self._owners])[: self.matrix.network.batch]
            if not len(here):
                return
            self._wave(here)

    def left_of(self, root: int, setting: Setting) -> Frontier:
        """The boxes of a root that are open, for a cover of the ball alone."""
        mine = self._owners == root
        boxes = self._boxes.take(mine)
        return Frontier.fresh(boxes, nearest(setting, boxes), self._depths[mine])

    def failing_in(self, root: int) -> list[Array]:
        """Points of a root where C is wrong."""
        return [points[owners == root] for points, owners in self.failing]

    def _wave(self, here: Indices) -> None:
        """Look at some boxes; those that are not closed are cut."""
        boxes, owners = self._boxes.take(here), self._owners[here]
        network = self.matrix.network
        self.counts.waves += 1
        self.counts.boxes += len(here)
        np.add.at(self.spent, owners, 1)
        known = enclose(network, boxes.low, boxes.high, np.inf, tilted=True)
        still = np.zeros((network.size, len(here)), dtype=bool)
        found = self.matrix.closed(Slopes.on_boxes(known, still), known)
        self.counts.slopes += found.cut
        rest = np.flatnonzero(~found.closed)
        boxes, owners, known, weights = boxes.take(rest), owners[rest], known.take(rest), found.weights[:, rest]
        self._look(boxes, owners, known, weights)
        depths, cuts = self._depths[here][rest], cuts_at_once(network.batch, len(rest))
        parts, which = halves(boxes, known, gains_of(known, weights, found.sides, rest), cuts)
        others = np.ones(len(self._owners), dtype=bool)
        others[here] = False
        self._boxes = joined([self._boxes.take(others), parts])
        self._owners = np.concatenate([self._owners[others], owners[which]])
        self._depths = np.concatenate([self._depths[others], depths[which] + cuts])

    def _look(self, boxes: Boxes, owners: Indices, known: Enclosures, weights: Array) -> None:
        """Look for points where C is wrong, in some of the boxes."""
        if not len(owners):
            return
        chosen = self.points.chosen(len(owners), LOOKED_AT)
        looked = suspicious_points(self.points, boxes.take(chosen), known.take(chosen), weights[:, chosen])
        bad = wrong_at(self.points, self.matrix.matrix, looked)
        if bad.any():
            of = np.tile(owners[chosen], len(looked) // len(chosen))[bad]
            self.failing.append((looked[bad], of))
            np.add.at(self._wrong, of, 1)
