"""det Df = 0 enclosed by boxes of one grid: branch and cut.

Boxes on which the determinant has a sign for sure hold no point of the fold set. The others are halved until they are
as narrow as asked for. The grid's lines are floats, so that neighbours share their corners, and no point is between.
A box in which both signs occur for sure, at corners or on parts, is *crossed*: the determinant vanishes in it, or
jumps over 0 at a kink. Boxes of which neither is known are cut a little further: whoever has no part left is no box of
the fold set.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ircert.analysis.smooth.maps import SmoothMap
from ircert.bounds.rounding import UNIT
from ircert.geometry.ball import Ball
from ircert.ir.arrays import Array, Indices, Mask

FINEST = 30
"""Halvings of a side at most: the grid's lines are floats."""
BEFORE, BEHIND = 0.371, 0.213
"""What the grid is larger than its box, in narrow cells."""
DEEPER, PARTS = 7, 1 << 14
"""Halvings of narrow boxes that are not crossed, to settle them, and how many parts they may have together."""
MOST = 1 << 17
"""Boxes from which on they are not halved: the answer is wider than asked for then."""


@dataclass(frozen=True)
class Grid:
    """start + (end - start) i / 2^level, for i from 0 to 2^level, along each axis; cut to the box from low to high.

    The grid is a little larger than the box, and its lines are at odd places: folds are often at round numbers, and a
    fold along a line of the grid would cross no box.
    """

    low: Array
    high: Array
    start: Array
    end: Array
    levels: Indices

    @staticmethod
    def of(low: Array, high: Array, levels: Indices) -> Grid:
        """A single cell, which will have narrow ones after so many halvings."""
        step = (high - low) / (np.exp2(levels) - BEFORE - BEHIND)
        return Grid(low, high, low - BEFORE * step, high + BEHIND * step, np.zeros_like(levels))

    def lines(self, numbers: Indices) -> Array:
        """The coordinates of corners, given by their numbers (rows); they grow with them, and none is left out."""
        share = numbers / np.exp2(self.levels)  # exact
        inside = np.clip(self.start + (self.end - self.start) * share, self.low, self.high)
        return np.where(share <= 0, self.low, np.where(share >= 1, self.high, inside))

    @property
    def widths(self) -> Array:
        """The sides of cells, about."""
        return np.asarray(np.minimum((self.end - self.start) / np.exp2(self.levels), self.high - self.low))

    def boxes(self, cells: Indices) -> tuple[Array, Array]:
        """The corners of cells, given by the numbers of their lower corners."""
        return self.lines(cells), self.lines(cells + 1)

    def finer(self, axes: Mask) -> Grid:
        """Every cell halved along some axes."""
        return replace(self, levels=self.levels + axes)


def halves(cells: Indices, axes: Mask) -> Indices:
    """The parts of cells that are halved along some axes, part by part."""
    parts = cells * np.where(axes, 2, 1)
    for axis in np.flatnonzero(axes).tolist():
        unit = np.arange(cells.shape[1]) == axis
        parts = np.concatenate([parts, parts + unit])
    return np.asarray(parts, dtype=np.int64)


@dataclass(frozen=True)
class FoldBoxes:
    """Cells of a grid that hold all points of the fold set; corner_signs: (cells, 2^n), 0 where they are not settled.

    The corners of a cell are counted with the first axis fastest.
    """

    grid: Grid
    cells: Indices
    corner_signs: Indices
    crossed: Mask


def corners(size: int) -> Indices:
    """The corners of a unit cell, in order."""
    return np.array([[k >> axis & 1 for axis in range(size)] for k in range(1 << size)], dtype=np.int64)


def fold_boxes(smooth: SmoothMap, ball: Ball, width: float) -> FoldBoxes:
    """The boxes of a ball, or of a larger one where it is round, whose sides are at most `width` long."""
    low, high = ball.box
    wanted = np.ceil(np.log2((high - low) / width + BEFORE + BEHIND)).astype(np.int64)
    wanted = np.clip(wanted, 0, FINEST)
    grid, cells = Grid.of(low, high, wanted), np.zeros((1, len(low)), dtype=np.int64)
    for left in range(int(wanted.max()), -1, -1):
        cells = cells[~outside(ball, *grid.boxes(cells))]
        cells = cells[smooth.signs(*grid.boxes(cells)) == 0]
        axes = wanted - grid.levels >= left
        if left == 0 or len(cells) > MOST:
            break
        grid, cells = grid.finer(axes), halves(cells, axes)
    return _settled(smooth, grid, cells[np.lexsort(cells.T[::-1])])


def _settled(smooth: SmoothMap, grid: Grid, cells: Indices) -> FoldBoxes:
    signs = _at_corners(smooth, grid, cells)
    plus, minus = (np.asarray((sign * signs > 0).any(axis=1)) for sign in (1, -1))
    kept = np.ones(len(cells), dtype=bool)
    open_ = np.flatnonzero(~(plus & minus))
    owners, parts, fine = open_, cells[open_], grid
    every = np.ones(len(grid.levels), dtype=bool)
    for _ in range(DEEPER):
        owners, parts, fine = np.tile(owners, 1 << len(every)), halves(parts, every), fine.finer(every)
        if len(parts) > PARTS:
            break
        found = smooth.signs(*fine.boxes(parts))
        np.logical_or.at(plus, owners, found > 0)
        np.logical_or.at(minus, owners, found < 0)
        left = found == 0
        owners, parts = owners[left], parts[left]
        still = np.zeros(len(cells), dtype=bool)
        still[owners] = True
        kept[open_] = still[open_] | (plus & minus)[open_]
        left = ~(plus & minus)[owners]
        owners, parts = owners[left], parts[left]
    return FoldBoxes(grid, cells[kept], signs[kept], (plus & minus)[kept])


def _at_corners(smooth: SmoothMap, grid: Grid, cells: Indices) -> Indices:
    unit = corners(len(grid.levels))
    numbers = (cells[:, None] + unit).reshape(-1, len(grid.levels))
    different, back = np.unique(numbers, axis=0, return_inverse=True)
    points = grid.lines(different)
    return np.asarray(smooth.signs(points, points)[back.reshape(len(cells), len(unit))])


def outside(ball: Ball, low: Array, high: Array) -> Mask:
    """Whether boxes surely miss a ball of norm 1 or 2; those of norm inf are boxes themselves."""
    gap: Any = np.maximum(np.maximum(low - ball.center, ball.center - high), 0.0)
    near = ball.norm.lengths(gap * (1 - 4 * UNIT))
    return np.asarray(near * (1 - 16 * len(ball.center) * UNIT) > ball.radius)
