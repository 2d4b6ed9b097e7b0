"""All boxes that may hold a solution of f(x) = y: branch and cut, thousands at a time.

Bounds on f over the *surroundings* of a box, a little larger than it, shrink the box to where solutions may be, or
leave nothing of it (`engines/boxes/enclosures/fibres.py`). Where no secant of the surroundings has a kernel
(`contractions`), they have at most one solution: a proved one in them is the only one of the box. Because the
surroundings are larger, a solution on a side of the box is inside of them. All else is halved, until it is too narrow.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ircert.analysis.smooth.fold_boxes import outside
from ircert.analysis.smooth.maps import SmoothMap
from ircert.analysis.smooth.roots import Equations, Root, Value
from ircert.bounds.rounding import UNIT
from ircert.engines.boxes.enclosures.contractions import Slopes, contractions
from ircert.engines.boxes.enclosures.enclosures import enclose
from ircert.engines.boxes.enclosures.fibres import Aim
from ircert.engines.boxes.problem.boxes import Boxes, joined
from ircert.geometry.ball import Ball
from ircert.ir.arrays import Array, Mask
from ircert.limits import checkpoint

LARGER = 0.125
"""What the surroundings reach further than a box, in parts of its half sides."""
RIM = 2.0**-40
"""… and in parts of the whole, at least."""
NARROW = 2.0**-24
"""Boxes of this share of the whole are not halved …"""
MOST = 1 << 17
"""… and none are after so many."""
SHRUNK = 0.6
"""A side that became shorter than this share of what it was: the box is looked at again before it is halved."""
ROUNDS = 8
"""Of Newton's method in floats."""


@dataclass
class Found:
    """Solutions, each the only one of its surroundings, and boxes that were left over."""

    roots: list[Root] = field(default_factory=list)
    around: list[tuple[Array, Array]] = field(default_factory=list)
    undecided: list[Array] = field(default_factory=list)


class PreimageSearch:
    """Solutions of f(x) = y in a ball, or in the box around it where its own border is not met."""

    def __init__(self, smooth: SmoothMap, equations: Equations, value: Value, ball: Ball) -> None:
        self.smooth, self.equations, self.ball = smooth, equations, ball
        self.aim = Aim.between(*value.bounds)
        below, above = ball.box
        self.least_rim = RIM * (above - below) + 128 * UNIT * np.maximum(np.abs(below), np.abs(above))
        self.found = Found()
        self.looked = 0

    def run(self) -> Found:
        """Box by box, until none is left."""
        low, high = (side[None] for side in self.ball.box)
        least = NARROW * (high - low)
        while len(low):
            parts = [self._step(low[part], high[part]) for part in self.smooth.batches(len(low))]
            low, high = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
            narrow = np.asarray((high - low <= least).all(axis=1) | (self.looked > MOST))
            self.found.undecided += list(np.stack([low, high], axis=1)[narrow])
            low, high = low[~narrow], high[~narrow]
        self._forget_settled()
        return self.found

    def _step(self, low: Array, high: Array) -> tuple[Array, Array]:
        """What is left of boxes: shrunk ones, and halves."""
        checkpoint()
        self.looked += len(low)
        keep = ~outside(self.ball, low, high) & ~self._known(low, high)
        low, high = low[keep], high[keep]
        if not len(low):
            return low, high
        boxes = Boxes(low, high)
        wide = self._surroundings(boxes)
        new, single = self._shrunk(boxes, wide)
        left = np.asarray((new.low <= new.high).all(axis=1))
        for k in np.flatnonzero(left & single).tolist():
            one = np.array([k])
            left[k] = not self._solved(wide.take(one), new.take(one))
        boxes, new = boxes.take(left), new.take(left)
        again = np.asarray((new.widths < SHRUNK * boxes.widths).any(axis=1))
        rest = new.take(~again)
        whole = self.ball.box[1] - self.ball.box[0]
        parts = joined([new.take(again), *rest.halves(np.argmax(rest.widths / whole, axis=1))])
        return parts.low, parts.high

    def _surroundings(self, boxes: Boxes) -> Boxes:
        """A box that was shrunk to a point has some as well: proved solutions are boxes."""
        more = LARGER * boxes.widths / 2 + self.least_rim
        return Boxes(boxes.low - more, boxes.high + more)

    def _shrunk(self, boxes: Boxes, wide: Boxes) -> tuple[Boxes, Mask]:
        """Boxes cut to where solutions may be, and whether the surroundings have at most one."""
        network = self.smooth.network
        with np.errstate(all="ignore"):
            known = enclose(network, wide.low, wide.high, np.inf)
        found = self.aim.shrunk(network, known, boxes)
        found.high[self.aim.misses(network, known)] = -np.inf
        still = np.zeros((network.size, len(boxes)), dtype=bool)
        slopes = Slopes.within(known.least, known.most, self.smooth.setting.curved, still)
        return found, contractions(network, slopes).proved

    # --- solutions ---------------------------------------------------------------------------------------------------

    def _solved(self, wide: Boxes, box: Boxes) -> bool:
        """Whether the only solution of surroundings was found, so that the box needs no further look."""
        around = wide.low[0], wide.high[0]
        start = self._newton(box.low[0] / 2 + box.high[0] / 2, *around)
        root = None if start is None else self.equations.root(start)
        if root is None or not root.lies_in(*around):
            return False
        for other, place in zip(self.found.roots, self.found.around, strict=True):
            if root.lies_in(*place) or other.lies_in(*around):  # places with one solution: it is the same
                return True
            if not root.misses(other):
                return False
        self.found.roots.append(root)
        self.found.around.append(around)
        return True

    def _newton(self, point: Array, low: Array, high: Array) -> Array | None:
        """A point near a solution in floats, or None if the way leads out of the box."""
        for _ in range(ROUNDS):
            miss = self.smooth.setting.outputs(point[None])[0] - self.aim.middle
            try:
                step = np.linalg.solve(self.smooth.jacobians(point[None])[0], miss)
            except np.linalg.LinAlgError:
                return None
            point = point - step
            if not ((low <= point) & (point <= high)).all():
                return None
            if np.abs(step).max() <= 1e-9 * (np.abs(point).max() + (high - low).max()):
                return point
        return point

    def _known(self, low: Array, high: Array) -> Mask:
        """Whether boxes lie in surroundings whose only solution is known."""
        found = np.zeros(len(low), dtype=bool)
        for below, above in self.found.around:
            found |= ((low >= below) & (high <= above)).all(axis=1)
        return found

    def _forget_settled(self) -> None:
        """Boxes that were left over before the solution of their surroundings was known."""
        if self.found.undecided:
            boxes = np.array(self.found.undecided)
            self.found.undecided = list(boxes[~self._known(boxes[:, 0], boxes[:, 1])])
