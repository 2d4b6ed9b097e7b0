"""The fold set of a smooth network: boxes that hold it, and lines through the boxes to look at.

A line goes from side to side of boxes. It crosses a side of the grid whose ends have determinants of opposite sign, at
a zero that is looked for in floats along that side (regula falsi, the Illinois way): so a zero does lie on the side
where the signs are proved, and the whole line lies in the boxes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ircert.analysis.smooth.fold_boxes import FoldBoxes, fold_boxes
from ircert.analysis.smooth.maps import SmoothMap, check_size
from ircert.errors import QueryError
from ircert.geometry.ball import Ball
from ircert.ir.arrays import Array, Indices, Mask
from ircert.ir.graph import Graph

SHARE = 255
"""Boxes along the longest side of what is asked for, if no width is given."""
STEPS = 40
SIDES = np.array([[0, 1], [2, 3], [0, 2], [1, 3]])
"""The sides of a square by the numbers of their corners: bottom, top, left, right."""
AROUND = {0: (0, 2), 1: (0, 3), 2: (1, 2), 3: (1, 3)}
"""The two sides at each corner of a square."""


def fold_curves(graph: Graph, ball: Ball, width: float | None = None) -> FoldCurves:
    """The fold set of a network of one or two inputs, and as many outputs, in a ball."""
    low, high = ball.box
    check_size(low, high)
    longest = float((high - low).max())
    asked = longest / SHARE if width is None else width
    is_number = isinstance(asked, int | float | np.number) and not isinstance(asked, bool)
    if not (is_number and 0 < float(asked) < np.inf):
        raise QueryError(f"the width of boxes must be a positive number, got {width!r}")
    smooth = SmoothMap(graph, ball.box)
    found = fold_boxes(smooth, ball, float(asked))
    return FoldCurves(graph, ball, float(found.grid.widths.max()), found, list(_lines(smooth, found)))


@dataclass(frozen=True, eq=False)
class FoldCurves:
    """det Df = 0 of a smooth network: every point of it in the ball lies in one of the boxes.

    width:  the longest side of a box
    curves: lines (points, inputs) through boxes, to draw
    """

    graph: Graph
    ball: Ball
    width: float
    found: FoldBoxes = field(repr=False)
    curves: list[Array] = field(repr=False)

    @cached_property
    def boxes(self) -> Array:
        """(K, 2, n): the lower and the upper corner of each."""
        return np.stack(self.found.grid.boxes(self.found.cells), axis=1)

    @property
    def crossed(self) -> Mask:
        """(K,): both signs of the determinant surely occur in the box."""
        return self.found.crossed

    @property
    def undecided(self) -> Array:
        """(U, 2, n): the other boxes, which may hold points of the fold set or none."""
        return np.asarray(self.boxes[~self.crossed])

    @property
    def area(self) -> float:
        """That of all boxes together (their length, for one input), about."""
        return float((self.boxes[:, 1] - self.boxes[:, 0]).prod(axis=1).sum())

    @property
    def segments(self) -> Array:
        """(S, 2, n): the pieces of the lines; a point of one input is a piece with equal ends."""
        size = self.graph.input_dim
        if size == 1:
            return np.repeat(np.array(self.curves).reshape(-1, 1, 1), 2, axis=1)
        pieces = [np.stack([line[:-1], line[1:]], axis=1) for line in self.curves]
        return np.concatenate([np.zeros((0, 2, size)), *pieces])

    @property
    def singular(self) -> list[Array]:
        """None: a network that is constant along a direction of a region has undecided boxes there."""
        return []

    @property
    def points(self) -> Array:
        """None: where f winds without a fold, the determinant is 0 at a point, which is in an undecided box."""
        return np.zeros((0, self.graph.input_dim))

    def holds(self, point: Any) -> bool:
        """Whether a point lies in one of the boxes."""
        x = np.asarray(point, dtype=np.float64)
        return bool(((self.boxes[:, 0] <= x) & (x <= self.boxes[:, 1])).all(axis=1).any())

    def __len__(self) -> int:
        return len(self.segments)

    def __repr__(self) -> str:
        open_ = int((~self.crossed).sum())
        text = f"<fold set in {len(self.boxes)} boxes {self.width:.3g} wide: {len(self.curves)} curves"
        return text + (f", {open_} boxes undecided>" if open_ else ">")


def _lines(smooth: SmoothMap, found: FoldBoxes) -> Iterator[Array]:
    """Lines through the boxes, or points of one input."""
    points, joined = _one_input(smooth, found) if found.cells.shape[1] == 1 else _two_inputs(smooth, found)
    if found.cells.shape[1] == 1:
        yield from points[:, None]
        return
    for chain in _chains(len(points), joined):
        yield points[chain]


def _one_input(smooth: SmoothMap, found: FoldBoxes) -> tuple[Array, Indices]:
    cells = found.cells[(found.corner_signs[:, 0] * found.corner_signs[:, 1]) < 0]
    low, high = found.grid.boxes(cells)
    return _zeros(smooth, low, high), np.zeros((0, 2), dtype=np.int64)


def _two_inputs(smooth: SmoothMap, found: FoldBoxes) -> tuple[Array, Indices]:
    """Points on sides of the grid, and which of them a box joins."""
    drawn = np.flatnonzero(found.crossed)
    cells, signs = found.cells[drawn], found.corner_signs[drawn]
    signs = np.where(signs == 0, 1, signs)  # a corner on the line counts as above it
    turns = signs[:, SIDES[:, 0]] != signs[:, SIDES[:, 1]]
    box, side = np.nonzero(turns)
    offset = np.array([[0, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1]])  # lower end, and along which axis
    keys = np.concatenate([cells[box], np.zeros((len(box), 1), dtype=np.int64)], axis=1) + offset[side]
    different, number = np.unique(keys, axis=0, return_inverse=True)
    step = np.array([[1, 0], [0, 1]])[different[:, 2]]
    points = _zeros(smooth, found.grid.lines(different[:, :2]), found.grid.lines(different[:, :2] + step))
    where = np.full(turns.shape, -1)
    where[box, side] = number.ravel()
    return points, _joined(smooth, found, cells, signs, where)


def _joined(smooth: SmoothMap, found: FoldBoxes, cells: Indices, signs: Indices, where: Indices) -> Indices:
    """Pairs of points that boxes join; with four of them, around the two corners that the middle is not like."""
    count = (where >= 0).sum(axis=1)
    twos = [row[row >= 0] for row in where[count == 2]]
    fours = np.flatnonzero(count == 4)
    low, high = found.grid.boxes(cells[fours])
    middle = np.sign(smooth.determinants((low + high) / 2))
    for k, sign in zip(fours.tolist(), middle.tolist(), strict=True):
        alone = (1, 2) if sign == signs[k, 0] else (0, 3)
        twos += [where[k, list(AROUND[corner])] for corner in alone]
    return np.array(twos, dtype=np.int64).reshape(-1, 2)


def _zeros(smooth: SmoothMap, low: Array, high: Array) -> Array:
    """Zeros of the determinant between pairs of points (rows), in floats."""
    a, b = np.zeros(len(low)), np.ones(len(low))
    at_a, at_b = smooth.determinants(low), smooth.determinants(high)
    for _ in range(STEPS):
        with np.errstate(all="ignore"):
            t = np.clip(np.nan_to_num((a * at_b - b * at_a) / (at_b - at_a), nan=0.5), a, b)
        t = np.where((t <= a) | (t >= b), (a + b) / 2, t)
        at_t = smooth.determinants(low + t[:, None] * (high - low))
        left = np.sign(at_t) == np.sign(at_a)
        # Illinois: the end that stays twice counts half
        at_b, at_a = np.where(left, at_b / 2, at_t), np.where(left, at_t, at_a / 2)
        a, b = np.where(left, t, a), np.where(left, b, t)
        if (b - a < 1e-9).all() or (at_t == 0).all():
            break
    t = np.clip(np.where(np.abs(at_a) < np.abs(at_b), a, b), 0.0, 1.0)
    return np.clip(low + t[:, None] * (high - low), low, high)


def _chains(count: int, joined: Indices) -> Iterator[Indices]:
    """Paths and loops of a graph whose nodes have at most two neighbours: numbers in order, loops closed."""
    beside: list[list[int]] = [[] for _ in range(count)]
    for i, j in joined.tolist():
        beside[i].append(j)
        beside[j].append(i)
    seen = np.zeros(count, dtype=bool)
    ends = [i for i in range(count) if len(beside[i]) == 1]
    for start in [*ends, *range(count)]:
        if seen[start] or not beside[start]:
            continue
        chain, here = [start], start
        seen[start] = True
        while ahead := [j for j in beside[here] if not seen[j]]:
            here = ahead[0]
            seen[here] = True
            chain.append(here)
        if len(beside[start]) == 2 and start in beside[here]:
            chain.append(start)
        yield np.array(chain)
