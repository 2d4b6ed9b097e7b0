"""Points of boxes with a given value: boxes that have none are left out, others are shrunk to where they may be.

On a box x = m + d, |d| <= half, outputs lie between parallel planes: rows C of them are C f(x) = v + L d ± e. If
f(x) = y, the unit rows show that y is within their range, and rows C for which L is about 1 that

    d_i  is within  e_i + sum over j of |L_ij - δ_ij| half_j  of  (C y - v)_i.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ircert.bounds.rounding import UNIT, slack
from ircert.engines.boxes.enclosures.batches import Batches, inverses
from ircert.engines.boxes.enclosures.enclosures import Enclosures, planes, ranges
from ircert.engines.boxes.problem.boxes import Boxes
from ircert.ir.arrays import Array, Mask


@dataclass(frozen=True)
class Aim:
    """A value y of the constrained outputs, within `off` of `middle`, with room for a few roundings."""

    middle: Array
    off: Array

    @staticmethod
    def between(low: Array, high: Array) -> Aim:
        """y lies between these, about: ends that were rounded to the nearest float will do."""
        off = 2 * (high - low) + 16 * UNIT * (np.abs(low) + np.abs(high)) + 1e-300
        return Aim(low / 2 + high / 2, off)

    def misses(self, network: Batches, known: Enclosures) -> Mask:
        """Which boxes have no point with the value, by the range of some output."""
        m, count = len(self.middle), known.half.shape[1]
        rows = np.ascontiguousarray(np.broadcast_to(np.eye(m)[:, :, None], (m, m, count)))
        with np.errstate(all="ignore"):
            value, reach = ranges(network, known, rows)
            beside = np.abs(value - self.middle[:, None]) * (1 - 4 * UNIT)
            return np.asarray((beside > reach * (1 + 4 * UNIT) + self.off[:, None]).any(axis=0))

    def shrunk(self, network: Batches, known: Enclosures, boxes: Boxes) -> Boxes:
        """Boxes that hold all points of the given ones that have the value; empty ones have low > high.

        known: enclosures of the boxes, or of larger ones
        """
        y, off, size = self.middle, self.off, network.size
        with np.errstate(all="ignore"):
            inverse, good = inverses(known.output)
            tilt, value, error = planes(network, known, np.ascontiguousarray(np.swapaxes(inverse, 0, 1)))
            target = np.einsum("imb,m->ib", inverse, y) - value
            absolute = np.einsum("imb,m->ib", np.abs(inverse), np.abs(y)) + np.abs(value)
            error = error + np.einsum("imb,m->ib", np.abs(inverse), off) + slack(len(y) + 4, absolute)
            error = error + (np.abs(np.swapaxes(tilt, 0, 1) - np.eye(size)[:, :, None]) * known.half[None]).sum(axis=1)
            error = error * (1 + 64 * (size + len(y) + 2) * UNIT) + 8 * UNIT * (np.abs(known.middle) + np.abs(target))
            sure = good & np.isfinite(error) & np.isfinite(target)
            error, target = np.where(sure, error, np.inf), np.where(sure, target, 0.0)
            # what is no number (beyond the range of floats) cuts nothing off
            low = np.fmax(boxes.low, (known.middle + target - error).T)
            high = np.fmin(boxes.high, (known.middle + target + error).T)
        return Boxes(low, high)
