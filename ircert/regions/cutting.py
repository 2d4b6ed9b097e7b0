"""Cutting: every cell that a neuron's zero line crosses becomes two, for all cells at once.

Signs at vertices are decided by floats with an error bound, exactly where the bound is not enough, so which cells are
cut, and where, is never in doubt: a line through a vertex, along an edge, or doubled by another neuron needs no special
treatment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ircert.ir.arrays import Array
from ircert.regions.forms import CHUNK, LEAST, SAFE, UNIT, Forms
from ircert.regions.tables import Cells, Ids, Lines, Vertices, intersections

ExactSigns = Callable[[Ids, Ids, int], NDArray[np.int8]]
"""(vertices, cells of the stage's beginning, neuron) -> exact signs of the neuron at the vertices."""

TOGETHER = 32
"""Neurons between two looks at which cells they may cross."""

ExactPoints = Callable[[Ids], Array]
"""Vertices -> their coordinates, correctly rounded."""


def boxes_around(vertices: Vertices, cells: Cells) -> tuple[Array, Array, Array]:
    """A box around every cell, along its longest direction: middle and the two half-axes, surely large enough."""
    rows, count = cells.vertices.rows, cells.count.rows
    used = np.arange(rows.shape[1]) < count[:, None]
    points = vertices.point.rows[rows]
    middle = (points * used[:, :, None]).sum(axis=1) / count[:, None]
    away = (points - middle[:, None, :]) * used[:, :, None]
    size = np.abs(away).max(axis=(1, 2))
    away /= np.where(size > 0, size, 1.0)[:, None, None]  # squares must not vanish
    square = (away * away).sum(axis=2)
    farthest = np.argmax(square, axis=1)
    number = np.arange(len(rows))
    length = np.sqrt(square[number, farthest])[:, None]
    along = away[number, farthest] / np.where(length > 0, length, 1.0)
    across = np.stack([-along[:, 1], along[:, 0]], axis=1)
    error = np.where(used, vertices.error.rows[rows], 0.0).max(axis=1) + 8 * UNIT * np.abs(middle).max(axis=1) + LEAST
    halves = [
        np.abs(np.einsum("cvk,ck->cv", away, axis)).max(axis=1) * size * SAFE + 2 * error for axis in (along, across)
    ]
    return middle, along * halves[0][:, None], across * halves[1][:, None]


def phases_known(
    forms: Forms, middle: Array, along: Array, across: Array
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """(cells, neurons): where a neuron surely keeps its sign on the box around a cell; and whether it is positive."""
    a, b, c = np.moveaxis(forms.value, 1, 0)
    with np.errstate(invalid="ignore", over="ignore"):
        at = a * middle[:, :1] + b * middle[:, 1:] + c
        swing = np.abs(a * along[:, :1] + b * along[:, 1:])
        swing += np.abs(a * across[:, :1] + b * across[:, 1:])
        # the box may reach out of the region, but not farther than the region is wide
        swing += 4 * forms.error + 16 * UNIT * forms.size + LEAST
        swing *= SAFE
        return np.abs(at) > swing, at > 0


@dataclass
class Cutter:
    """Cuts the cells of one stage by its neurons, one after the other."""

    stage: int
    forms: Forms
    lines: Lines
    vertices: Vertices
    cells: Cells
    exact_signs: ExactSigns
    exact_points: ExactPoints

    def cut(self, between: Callable[[], None]) -> None:
        """Cut by all neurons; every few of them, boxes around the cells tell again which cells they may cross."""
        for start in range(0, self.forms.value.shape[2], TOGETHER):
            some = slice(start, start + TOGETHER)
            known = self._note_phases(some)
            self.cells.mark_origins()
            for i in np.flatnonzero(~known.all(axis=0)).tolist():
                between()
                self._cut_by(start + i, ~known[:, i])

    def _note_phases(self, neurons: slice) -> NDArray[np.bool_]:
        """(cells, neurons): which phases are known without cutting; they are noted."""
        boxes = boxes_around(self.vertices, self.cells)
        parts = []
        for start in range(0, len(self.cells), CHUNK):
            some = slice(start, start + CHUNK)
            forms = self.forms.restricted(self.cells.parent.rows[some], neurons)
            known, positive = phases_known(forms, *(array[some] for array in boxes))
            self.cells.active.rows[some, neurons] = known & positive
            parts.append(known)
        return np.concatenate(parts)

    def _cut_by(self, neuron: int, touched: NDArray[np.bool_]) -> None:
        """Cut by one neuron the cells whose origin it may cross."""
        cells = self.cells
        which = np.flatnonzero(touched[cells.origin.rows])
        if not len(which):
            return
        signs = self._signs(neuron, which)
        positive, negative = (signs > 0).any(axis=1), (signs < 0).any(axis=1)
        cells.active.rows[which, neuron] = positive
        crossed = positive & negative
        if crossed.any():
            self._split(neuron, which[crossed], signs[crossed])

    def _signs(self, neuron: int, which: Ids) -> NDArray[np.int8]:
        """Exact signs at the vertices of cells; 0 beyond a cell's last vertex."""
        ids = self.cells.vertices.rows[which]
        used = np.arange(ids.shape[1]) < self.cells.count.rows[which, None]
        parent = self.cells.parent.rows[which]
        points = self.vertices.point.rows[ids]
        u, v, blur = points[:, :, 0], points[:, :, 1], self.vertices.error.rows[ids]
        a, b, c = np.moveaxis(self.forms.value[parent, :, neuron], 1, 0)[:, :, None]
        error = self.forms.error[parent, neuron][:, None]
        with np.errstate(invalid="ignore", over="ignore"):
            at = a * u + b * v + c
            steep = np.abs(a) + np.abs(b)
            # points computed a little outside the region: twice the error covers them
            bound = 2 * error + steep * blur + 4 * UNIT * (np.abs(a * u) + np.abs(b * v) + np.abs(c)) + LEAST
            bound *= SAFE
            certain = (np.abs(at) > bound) | (steep + np.abs(c) + error == 0)
        signs = (np.sign(np.where(certain, at, 0.0)) * used).astype(np.int8)
        doubtful = np.nonzero(used & ~certain)
        if len(doubtful[0]):
            # A neuron is continuous: its sign at a vertex is the same from every cell.
            unique, where, back = np.unique(ids[doubtful], return_index=True, return_inverse=True)
            signs[doubtful] = self.exact_signs(unique, parent[doubtful[0][where]], neuron)[back]
        return signs

    def _split(self, neuron: int, which: Ids, signs: NDArray[np.int8]) -> None:
        cells = self.cells
        count = cells.count.rows[which]
        ids, edges, signs = _rolled(cells.vertices.rows[which], cells.lines.rows[which], signs, count)
        cut = self._new_lines(neuron, cells.parent.rows[which])
        p, q = (signs > 0).sum(axis=1), (signs < 0).sum(axis=1)
        rows = np.arange(len(which))
        on_first = signs[rows, p] == 0  # the line passes through a vertex after the positive run
        on_second = p + on_first + q < count  # and through one before it
        first, second = self._crossings(ids, edges, cut, p, on_first, on_second, count)

        width = max(cells.width, int(max(p.max(), q.max())) + 2)
        extra = width - cells.width
        if extra:
            cells.vertices.widen(extra, 0)
            cells.lines.widen(extra, 0)
            ids, edges = (np.pad(table, ((0, 0), (0, extra))) for table in (ids, edges))
        column = np.arange(width)[None, :]
        n, m, start = p[:, None], q[:, None], (p + on_first)[:, None]
        last_edge = edges[rows, count - 1][:, None]
        upper_ids = np.where(column < n, ids, np.where(column == n, first[:, None], second[:, None]))
        upper_edges = np.where(column < n, edges, np.where(column == n, cut[:, None], last_edge))
        shifted = np.clip(start + column - 1, 0, width - 1)
        run_ids, run_edges = np.take_along_axis(ids, shifted, 1), np.take_along_axis(edges, shifted, 1)
        lower_ids = np.where(column == 0, first[:, None], np.where(column <= m, run_ids, second[:, None]))
        lower_edges = np.where(column <= m, run_edges, cut[:, None])

        active = cells.active.rows[which].copy()
        active[:, neuron] = False
        cells.vertices.rows[which], cells.lines.rows[which], cells.count.rows[which] = upper_ids, upper_edges, p + 2
        cells.vertices.extend(lower_ids)
        cells.lines.extend(lower_edges)
        cells.count.extend(q + 2)
        cells.parent.extend(cells.parent.rows[which])
        cells.origin.extend(cells.origin.rows[which])
        cells.active.extend(active)

    def _new_lines(self, neuron: int, parents: Ids) -> Ids:
        """The number of the neuron's line on each cell's ancestor."""
        unique, back = np.unique(parents, return_inverse=True)
        source = np.stack([np.full_like(unique, self.stage), unique, np.full_like(unique, neuron)], axis=1)
        value, error = self.forms.value[unique, :, neuron], self.forms.error[unique, neuron]
        slopes = error / self.forms.reach
        return self.lines.add(value, np.stack([slopes, slopes, error], axis=1), source)[back]

    def _crossings(
        self,
        ids: Ids,
        edges: Ids,
        cut: Ids,
        p: Ids,
        on_first: NDArray[np.bool_],
        on_second: NDArray[np.bool_],
        count: Ids,
    ) -> tuple[Ids, Ids]:
        """The vertices where the line enters and leaves each polygon, new ones shared with the neighbours."""
        rows = np.arange(len(ids))
        first, second = ids[rows, p].copy(), ids[rows, count - 1].copy()
        a, b = np.flatnonzero(~on_first), np.flatnonzero(~on_second)
        tail = np.concatenate([ids[a, p[a] - 1], ids[b, count[b] - 1]])
        head = np.concatenate([ids[a, p[a]], ids[b, 0]])
        along = np.concatenate([edges[a, p[a] - 1], edges[b, count[b] - 1]])
        across = np.concatenate([cut[a], cut[b]])
        if len(tail):
            key = np.minimum(tail, head) * len(self.vertices.point) + np.maximum(tail, head)
            _, where, back = np.unique(key, return_index=True, return_inverse=True)
            made = self._new_vertices(along[where], across[where], tail[where], head[where])[back]
            first[a], second[b] = made[: len(a)], made[len(a) :]
        return first, second

    def _new_vertices(self, along: Ids, across: Ids, tail: Ids, head: Ids) -> Ids:
        value, error = self.lines.value.rows, self.lines.error.rows
        point, blur = intersections((value[along], error[along]), (value[across], error[across]))
        points = self.vertices.point.rows
        length = np.abs(points[tail] - points[head]).max(axis=1)
        made = self.vertices.add(point, blur, np.stack([along, across], axis=1))
        poor = made[~(blur <= 2.0**-10 * length)]
        if len(poor):
            polished = self.exact_points(poor)
            self.vertices.point.rows[poor] = polished
            self.vertices.error.rows[poor] = np.abs(polished).max(axis=1) * 2 * UNIT + LEAST
        return made


def _rolled(ids: Ids, edges: Ids, signs: NDArray[np.int8], count: Ids) -> tuple[Ids, Ids, NDArray[np.int8]]:
    """Polygons turned so that the vertices with a positive sign come first."""
    rows = np.arange(len(ids))[:, None]
    column = np.arange(ids.shape[1])[None, :]
    n = count[:, None]
    before = signs[rows, (column - 1) % n]
    start = np.argmax((signs > 0) & (before <= 0) & (column < n), axis=1)
    order = (start[:, None] + column) % n
    turned = np.where(column < n, signs[rows, order], 0).astype(np.int8)
    return ids[rows, order], edges[rows, order], turned
