"""Chords of a sphere: for two points x, y at one distance from the centre, rows that x - y is orthogonal to.

The difference of their lengths is the mean of the norm's slope on the segment times x - y, and is 0. So f(x) = f(y) is
J (x - y) = 0 with one row more, and where a fold touches a ball from outside J alone has nearly a kernel there, J with
the row has none: folds are crossed along their kernels, spheres that touch them are not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ircert.bounds.rounding import TINY, UNIT
from ircert.engines.boxes.enclosures.enclosures import Enclosures
from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array, Mask

LEAST = 0.2
"""Rows that are shorter than this part of what they may be off by say nothing."""


@dataclass(frozen=True)
class Chords:
    """Rows g for pairs of points of boxes: entry i is middle_i + sum over j of rates_ij t_j, off by at most spare_i, at
    every place m + h t of a box; (inputs, boxes) and (inputs, inputs, boxes). Rows of 0 say nothing."""

    middle: Array
    rates: Array
    spare: Array

    @staticmethod
    def of(setting: Setting, boxes: Enclosures, low: Array, high: Array) -> Chords:
        """On boxes (boxes, inputs) that hold both points. In norms 1 and 2 these lie on the sphere where a box does not
        meet the boundary of the domain; in norm inf on one side of the ball where the box is flat."""
        flat: Mask = np.asarray(low == high).T
        rows, still = np.zeros(flat.shape), np.zeros((len(flat), *flat.shape))
        if setting.norm == Norm.INF:
            return Chords(flat.astype(np.float64), still, rows)
        center = setting.center[:, None]
        free = ((low > setting.low) & (high < setting.high)).all(axis=1)
        if setting.norm == Norm.ONE:  # where a sign is not known the row may be anything, and does not help
            signs = (center <= low.T).astype(np.float64) - (center >= high.T)
            return Chords(signs * (free & (signs != 0).all(axis=0)), still, rows)
        # half the square of the length has the slope x - c
        spare = 4 * UNIT * (np.abs(boxes.middle) + np.abs(center)) + TINY
        return Chords((boxes.middle - center) * free, np.eye(len(flat))[:, :, None] * boxes.half * free, spare * free)

    @staticmethod
    def of_patches(setting: Setting, boxes: Enclosures, low: Array, high: Array) -> Chords:
        """On pieces of the sphere behind boxes of one side of the cube, in which no coordinate changes its sign."""
        patches, center = boxes.patches, setting.center[:, None]
        assert patches is not None
        if setting.norm == Norm.ONE:
            signs = np.sign(low + high).T
            return Chords(signs, np.zeros((len(signs), *signs.shape)), np.zeros(signs.shape))
        spare = patches.errors + 4 * UNIT * (np.abs(boxes.middle) + np.abs(center)) + TINY
        rates = patches.slopes * boxes.half
        return Chords(boxes.middle - center, rates, spare + 4 * UNIT * np.abs(rates).sum(axis=1))

    def scaled(self, sizes: Array) -> Chords:
        """Rows about as long as some numbers (boxes); 0 where they say nothing."""
        lengths = np.sqrt((self.middle**2).sum(axis=0))
        room = np.sqrt(((np.abs(self.rates).sum(axis=1) + self.spare) ** 2).sum(axis=0))
        # powers of two round nothing
        factor = np.exp2(np.round(np.log2(np.maximum(sizes, 1e-150) / np.maximum(lengths, 1e-150))))
        factor = np.where(np.isfinite(factor) & (lengths > LEAST * room), factor, 0.0)
        tiny = 4 * (len(self.middle) + 1) * TINY
        return Chords(self.middle * factor, self.rates * factor, self.spare * factor + tiny)
