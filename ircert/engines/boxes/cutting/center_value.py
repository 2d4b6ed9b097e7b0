"""How far around the centre no other point has its output (`pseudo`): boxes, cut and shrunk, the nearest first.

Boxes are left out or shrunk by bounds on outputs (`enclosures/fibres.py`). Boxes inside a ball that is known to be good
are left out, too. What remains is halved; every other point with the centre's output lies in one of the boxes that are
left, so no nearer to the centre than the nearest of these.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.enclosures import Enclosures, enclose
from ircert.engines.boxes.enclosures.fibres import Aim
from ircert.engines.boxes.problem.boxes import Boxes, around, farthest, joined, nearest
from ircert.engines.boxes.problem.outcome import Counts, Outcome
from ircert.ir.arrays import Array, Indices
from ircert.ir.enclosure import enclosed
from ircert.limits import checkpoint

NARROW = 2.0**-32
"""A box of this share of its distance from 0 is not halved: there is a solution, or one nearly."""
SHRUNK = 0.5
"""A box that lost so much of a side is looked at again before it is halved."""


@dataclass
class CenterValue:
    """The search; no other point within `reached` of the centre, the rim included, has its output.

    suspect: a point that seems to have it
    """

    network: Batches
    counts: Counts
    report: Callable[[], None]
    reached: float = 0.0
    suspect: Array | None = None
    _boxes: Boxes | None = None
    _root: float = 0.0
    _value: Aim = field(init=False)

    def __post_init__(self) -> None:
        balls = enclosed(self.network.setting.graph, self.network.setting.center.tolist())
        ends = [(float(ball.lower()), float(ball.upper())) for ball in balls[: self.network.setting.constrained]]
        low, high = (np.array(side) for side in zip(*ends, strict=True))
        self._value = Aim.between(low, high)

    def advance(self, radius: float, good: float, stop: Callable[[], bool]) -> Outcome:
        """Boxes until a ball is clear; the closed ball of radius `good` is known to be."""
        if self._boxes is None or radius > self._root:
            self._boxes, self._root = around(self.network.setting, radius), radius
        self._reach(good, radius)
        while self.reached < radius:
            if stop():
                return "stopped"
            checkpoint()
            keys = nearest(self.network.setting, self._boxes)
            chosen = np.argsort(keys, kind="stable")[: self.network.batch]
            if self._is_narrow(self._boxes.take(chosen[:1])):
                return "stopped"
            rest = np.ones(len(keys), dtype=bool)
            rest[chosen] = False
            here, others = self._boxes.take(chosen), self._boxes.take(rest)
            self._boxes = joined([self._worked(here, good), others])
            self._reach(good, radius)
            self.report()
        return "closed"

    def _is_narrow(self, box: Boxes) -> bool:
        """Whether the nearest box cannot be closed; then its middle is a suspect."""
        self.suspect = None
        size = np.maximum(np.abs(box.low), np.abs(box.high)).max()
        if box.widths.max() <= NARROW * size:
            self.suspect = (box.low[0] + box.high[0]) / 2
        return self.suspect is not None

    def _reach(self, good: float, radius: float) -> None:
        """Up to the nearest box that is left."""
        assert self._boxes is not None
        left = nearest(self.network.setting, self._boxes).min(initial=math.inf)
        clear = min(max(float(np.nextafter(left, 0.0)), good), radius)
        self.reached = max(self.reached, clear)

    def _worked(self, here: Boxes, good: float) -> Boxes:
        """What is left of some boxes."""
        here = here.take(farthest(self.network.setting, here) > good)
        self.counts.waves += 1
        self.counts.boxes += len(here)
        if not len(here):
            return here
        known = enclose(self.network, here.low, here.high, math.inf)
        left = ~self._value.misses(self.network, known)
        shrunk = self._value.shrunk(self.network, known, here)
        left &= (shrunk.low <= shrunk.high).all(axis=1)
        again = left & (shrunk.widths < SHRUNK * here.widths).any(axis=1)
        cut = np.flatnonzero(left & ~again)
        halves = shrunk.take(cut).halves(self._sides(known, shrunk)[cut])
        return joined([shrunk.take(again), *halves])

    def _sides(self, known: Enclosures, boxes: Boxes) -> Indices:
        """Which side moves outputs most, each in parts of how much all sides move it."""
        moves = np.abs(known.output) * boxes.widths.T[None]
        shares = moves / np.maximum(moves.sum(axis=1, keepdims=True), 1e-300)
        scores = np.where(boxes.widths.T > 0, np.nan_to_num(shares).max(axis=0), -1.0)
        wide = boxes.widths.T / np.maximum(boxes.widths.max(axis=1), 1e-300)
        return np.asarray(np.argmax(scores + 0.1 * wide, axis=0))
