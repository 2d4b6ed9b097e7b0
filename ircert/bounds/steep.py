"""Curves whose slopes have no bound, on intervals: of slopes that are steeper than a given number nothing is said."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from ircert.bounds.curves import CurveBounds, Range
from ircert.ir.arrays import Array


class SteepBounds(CurveBounds):
    """A curve of the entries (first axis) of a node, which needs no table.

    most:    how steep a slope of each entry is followed; without it, all are
    farther: how much steeper slopes than those that are met at points are worth following
    """

    farther: ClassVar[float] = 16.0

    def __init__(self, most: Array | None = None) -> None:
        self.least, self.most = -np.inf, np.inf
        self.farthest: float | Array = np.inf if most is None else most[:, None]
        self.steepest = np.inf if most is None else most[:, None, None]

    @abstractmethod
    def rates(self, low: Array, high: Array) -> Range:
        """Bounds on its slopes, however steep they are."""

    def slopes(self, low: Array, high: Array) -> Range:
        """Bounds on its slopes; no numbers where it is too steep."""
        with np.errstate(all="ignore"):
            least, most = self.rates(low, high)
            steep = ~(np.maximum(np.abs(least), np.abs(most)) <= self.farthest)
        return np.where(steep, np.nan, least), np.where(steep, np.nan, most)
