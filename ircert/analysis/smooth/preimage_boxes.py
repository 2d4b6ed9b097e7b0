"""All boxes that may hold a solution of f(x) = y: branch and cut, thousands at a time.

On the *surroundings* of a box, a little larger than it, f lies between parallel planes, C f(x) = v + L d ± s with
C about the inverse of Df. A solution x = m + d of the surroundings has

    d_i  within  s_i + sum over j of |L_ij - δ_ij| half_j  of  (C y - v)_i,

which shrinks the box, or leaves nothing of it. Where no secant of the surroundings has a kernel (`contractions`), they
have at most one solution: a proved one in them is the only one of the box. Because the surroundings are larger, a
solution on a side of the box is inside of them. All else is halved, until it is too narrow.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ircert.analysis.smooth.fold_boxes import outside
from ircert.analysis.smooth.maps import SmoothMap
from ircert.analysis.smooth.roots import Equations, Root, Value
from ircert.bounds.rounding import UNIT, slack
from ircert.engines.boxes.enclosures.batches import inverses
from ircert.engines.boxes.enclosures.contractions import Slopes, contractions
from ircert.engines.boxes.enclosures.enclosures import enclose, planes, ranges
from ircert.geometry.ball import Ball
from ircert.ir.arrays import Array, Mask
from ircert.limits import checkpoint

LARGER = 0.125
"""What the surroundings reach further than a box, in parts of its half sides."""
RIM = 2.0**-40
"""… and in parts of the whole, at least."""
NARROW = 2.0**-24
"""Boxes of this share of the whole are not halved …"""
MOST = 1 << 18
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
        low, high = value.bounds
        self.middle = low / 2 + high / 2
        self.off = 2 * (high - low) + 8 * UNIT * np.abs(self.middle) + 1e-300
        """y is within `off` of `middle`, with room for a few roundings."""
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
        wide_low, wide_high = self._surroundings(low, high)
        new_low, new_high, single = self._shrunk(low, high, wide_low, wide_high)
        left = np.asarray((new_low <= new_high).all(axis=1))
        for k in np.flatnonzero(left & single).tolist():
            left[k] = not self._solved(wide_low[k], wide_high[k], new_low[k], new_high[k])
        low, high, new_low, new_high = (side[left] for side in (low, high, new_low, new_high))
        again = ((new_high - new_low) < SHRUNK * (high - low)).any(axis=1)
        halves = _halves(new_low[~again], new_high[~again], self.ball)
        return np.concatenate([new_low[again], halves[0]]), np.concatenate([new_high[again], halves[1]])

    def _surroundings(self, low: Array, high: Array) -> tuple[Array, Array]:
        """A box that was shrunk to a point has some as well: proved solutions are boxes."""
        more = LARGER * (high - low) / 2 + self.least_rim
        return low - more, high + more

    def _shrunk(self, low: Array, high: Array, wide_low: Array, wide_high: Array) -> tuple[Array, Array, Mask]:
        """Boxes cut to where solutions may be, and whether the surroundings have at most one."""
        network = self.smooth.network
        known = enclose(network, wide_low, wide_high, np.inf)
        size, count = network.size, len(low)
        y, off = self.middle, self.off
        with np.errstate(all="ignore"):
            unit = np.broadcast_to(np.eye(size)[:, :, None], (size, size, count))
            value, reach = ranges(network, known, np.ascontiguousarray(unit))
            beside = np.abs(value - y[:, None]) * (1 - 4 * UNIT)
            gone = (beside > reach * (1 + 4 * UNIT) + off[:, None]).any(axis=0)
            inverse, good = inverses(known.output)
            tilt, value, error = planes(network, known, np.ascontiguousarray(np.swapaxes(inverse, 0, 1)))
            target = np.einsum("imb,m->ib", inverse, y) - value
            absolute = np.einsum("imb,m->ib", np.abs(inverse), np.abs(y)) + np.abs(value)
            error = error + np.einsum("imb,m->ib", np.abs(inverse), off) + slack(size + 4, absolute)
            error = error + (np.abs(np.swapaxes(tilt, 0, 1) - np.eye(size)[:, :, None]) * known.half[None]).sum(axis=1)
            error = error * (1 + 64 * (size + 2) * UNIT) + 8 * UNIT * (np.abs(known.middle) + np.abs(target))
            error = np.where(good & np.isfinite(error) & np.isfinite(target), error, np.inf)
            target = np.where(np.isfinite(error), target, 0.0)
            new_low = np.maximum(low, (known.middle + target - error).T)
            new_high = np.minimum(high, (known.middle + target + error).T)
        new_high[gone] = -np.inf
        still = np.zeros((size, count), dtype=bool)
        slopes = Slopes.within(known.least, known.most, self.smooth.setting.curved, still)
        return new_low, new_high, contractions(network, slopes).proved

    # --- solutions ---------------------------------------------------------------------------------------------------

    def _solved(self, wide_low: Array, wide_high: Array, low: Array, high: Array) -> bool:
        """Whether the only solution of surroundings was found, so that the box needs no further look."""
        start = self._newton((low + high) / 2, wide_low, wide_high)
        root = None if start is None else self.equations.root(start)
        if root is None or not root.lies_in(wide_low, wide_high):
            return False
        around = wide_low, wide_high
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
            miss = self.smooth.setting.outputs(point[None])[0] - self.middle
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


def _halves(low: Array, high: Array, ball: Ball) -> tuple[Array, Array]:
    """Boxes cut across the side that is longest, in parts of the whole."""
    whole = ball.box[1] - ball.box[0]
    axis = np.argmax((high - low) / whole, axis=1)
    rows = np.arange(len(low))
    middle = low[rows, axis] / 2 + high[rows, axis] / 2
    lower, upper = high.copy(), low.copy()
    lower[rows, axis] = upper[rows, axis] = middle
    return np.concatenate([low, upper]), np.concatenate([lower, high])
