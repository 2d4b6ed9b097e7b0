"""Cutting: every cell that a neuron's zero line crosses becomes two, for all cells at once.

The neurons of one relu node are worked off in rounds: in each, every cell that still has neurons to look at takes its
next one, in their order, and is cut or not. Neighbours cut their common edge by the same neurons in the same order, so
a vertex is known by its edge and its neuron, and the two copies of it become one when the rounds are over.

Signs at vertices are decided by floats with an error bound, exactly where the bound is not enough, so which cells are
cut, and where, is never in doubt: a line through a vertex, along an edge, or doubled by another neuron needs no special
treatment.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ircert.engines.regions.forms import CHUNK, LEAST, SAFE, UNIT, Forms, slope_errors
from ircert.engines.regions.tables import Cells, Grown, Ids, Lines, Vertices, intersections
from ircert.ir.arrays import Array

ExactSigns = Callable[[Ids, Ids, Ids], NDArray[np.int8]]
"""(vertices, cells of the stage's beginning, neurons) -> exact signs of the neurons at the vertices."""

ExactPoints = Callable[[Ids], Array]
"""Vertices -> their coordinates, correctly rounded."""


def boxes_around(vertices: Vertices, rows: Ids, count: Ids) -> tuple[Array, Array, Array]:
    """A box around every cell, along its longest direction: middle and the two half-axes, surely large enough."""
    used = np.arange(rows.shape[1]) < count[:, None]
    points = vertices.point.rows[rows] * used[:, :, None]
    middle = points.sum(axis=1) / count[:, None]
    away = (points - middle[:, None, :]) * used[:, :, None]
    farthest = np.abs(away).sum(axis=2).argmax(axis=1)
    along = away[np.arange(len(rows)), farthest]
    along /= np.maximum(np.hypot(along[:, 0], along[:, 1]), LEAST)[:, None]
    across = along[:, ::-1] * (-1.0, 1.0)
    error = (vertices.error.rows[rows] * used).max(axis=1) + 8 * UNIT * np.abs(middle).max(axis=1) + LEAST
    sides = []
    for axis in (along, across):
        half = np.abs(away[:, :, 0] * axis[:, :1] + away[:, :, 1] * axis[:, 1:]).max(axis=1)
        sides.append(axis * (half * SAFE + 2 * error)[:, None])
    return middle, sides[0], sides[1]


def phases_known(
    coefficients: Array, error: Array, reach: float, middle: Any, along: Any, across: Any
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Where a form (a, b, c first) surely keeps its sign on the box around a cell; and whether it is positive."""
    a, b, c = coefficients
    (u, v), (p, q), (r, s) = middle, along, across
    at = a * u + b * v + c
    swing = np.abs(a * p + b * q) + np.abs(a * r + b * s)
    # the box may reach out of the region, but not farther than the region is wide
    swing += 4 * error + 16 * UNIT * ((np.abs(a) + np.abs(b)) * reach + np.abs(c)) + LEAST
    return np.abs(at) > swing * SAFE, at > 0


class Cutter:
    """Cuts the cells of one stage by its neurons.

    While it works, the edges of the cells are carriers: numbers of the edges at the stage's beginning, and beyond those
    one for each cut. The key of a new vertex is its carrier and its neuron.
    """

    def __init__(
        self,
        stage: int,
        forms: Forms,
        lines: Lines,
        vertices: Vertices,
        cells: Cells,
        exact_signs: ExactSigns,
        exact_points: ExactPoints,
    ) -> None:
        self.stage = stage
        self.forms = forms
        self.neurons = forms.value.shape[2]
        self.lines = lines
        self.vertices = vertices
        self.cells = cells
        self.exact_signs = exact_signs
        self.exact_points = exact_points
        self.keys = Grown(np.empty(0, dtype=np.int64))
        self.first_vertex, self.first_line = len(vertices.point), len(lines.value)
        self.base_lines = self._carry_edges()

    def cut(self, between: Callable[[], None]) -> None:
        """Cut by all neurons."""
        waiting = self._look_everywhere()
        while len(waiting):
            between()
            waiting = self._round(waiting)
        self._unite_vertices()
        self.cells.edges.rows[:] = self._line_of(self.cells.edges.rows)

    # --- which cells wait for which neurons --------------------------------------------------------------------------

    def _look_everywhere(self) -> Ids:
        """Note all phases that boxes around the cells tell; the cells that have others."""
        cells = self.cells
        boxes = boxes_around(self.vertices, cells.vertices.rows, cells.count.rows)
        for start in range(0, len(cells), CHUNK):
            some = slice(start, start + CHUNK)
            value, error = self.forms.value[some], self.forms.error[some]
            columns = [[array[some, k, None] for k in range(2)] for array in boxes]
            known, positive = phases_known(np.moveaxis(value, 1, 0), error, self.forms.reach, *columns)
            cells.active.rows[some] = known & positive
            cells.pending.rows[some] = ~known
        return np.flatnonzero(cells.pending.rows.any(axis=1))

    def _look_again(self, which: Ids) -> None:
        """Boxes around new, smaller cells tell more phases."""
        cells = self.cells
        row, neuron = np.nonzero(cells.pending.rows[which])
        if not len(row):
            return
        boxes = boxes_around(self.vertices, cells.vertices.rows[which], cells.count.rows[which])
        parent = cells.parent.rows[which[row]]
        value, error = self.forms.value[parent, :, neuron], self.forms.error[parent, neuron]
        columns = [array[row].T for array in boxes]
        known, positive = phases_known(value.T, error, self.forms.reach, *columns)
        cell, neuron, positive = which[row[known]], neuron[known], positive[known]
        cells.active.rows[cell, neuron] = positive
        cells.pending.rows[cell, neuron] = False

    # --- one round ---------------------------------------------------------------------------------------------------

    def _round(self, waiting: Ids) -> Ids:
        """Every waiting cell looks at its next neuron; the cells that wait still."""
        cells = self.cells
        neuron = cells.pending.rows[waiting].argmax(axis=1)
        cells.pending.rows[waiting, neuron] = False
        signs = self._signs(waiting, neuron)
        positive, negative = (signs > 0).any(axis=1), (signs < 0).any(axis=1)
        cells.active.rows[waiting, neuron] = positive
        crossed = np.flatnonzero(positive & negative)
        if len(crossed):
            halves = self._split(waiting[crossed], neuron[crossed], signs[crossed])
            self._look_again(np.concatenate([waiting[crossed], halves]))
            waiting = np.concatenate([waiting, halves])
        return waiting[cells.pending.rows[waiting].any(axis=1)]

    def _signs(self, which: Ids, neuron: Ids) -> NDArray[np.int8]:
        """Exact signs of one neuron for each cell at its vertices; 0 beyond a cell's last vertex."""
        ids = self.cells.vertices.rows[which]
        used = np.arange(ids.shape[1]) < self.cells.count.rows[which, None]
        parent = self.cells.parent.rows[which]
        points = self.vertices.point.rows[ids]
        u, v, blur = points[:, :, 0], points[:, :, 1], self.vertices.error.rows[ids]
        a, b, c = self.forms.value[parent, :, neuron].T[:, :, None]
        error = self.forms.error[parent, neuron][:, None]
        au, bv = a * u, b * v
        at = au + bv + c
        steep = np.abs(a) + np.abs(b)
        # points computed a little outside the region: twice the error covers them
        bound = 2 * error + steep * blur + 4 * UNIT * (np.abs(au) + np.abs(bv) + np.abs(c)) + LEAST
        positive, negative = at > bound * SAFE, at < -bound * SAFE
        certain = positive | negative | (steep + np.abs(c) + error == 0)
        signs = (positive & used).view(np.int8) - (negative & used).view(np.int8)
        doubtful = np.nonzero(used & ~certain)
        if len(doubtful[0]):
            # A neuron is continuous: its sign at a vertex is the same from every cell.
            key = ids[doubtful] * self.neurons + neuron[doubtful[0]]
            unique, where, back = np.unique(key, return_index=True, return_inverse=True)
            exact = self.exact_signs(unique // self.neurons, parent[doubtful[0][where]], unique % self.neurons)
            signs[doubtful] = exact[back]
        return signs

    def _split(self, which: Ids, neuron: Ids, signs: NDArray[np.int8]) -> Ids:
        """Cut cells in two: the positive half takes the cell's place; the numbers of the negative halves."""
        cells = self.cells
        count = cells.count.rows[which]
        ids, edges, signs = _rolled(cells.vertices.rows[which], cells.edges.rows[which], signs, count)
        cut = self._new_carriers(cells.parent.rows[which], neuron)
        p, q = (signs > 0).sum(axis=1), (signs < 0).sum(axis=1)
        rows = np.arange(len(which))
        on_first = signs[rows, p] == 0  # the line passes through a vertex after the positive run
        on_second = p + on_first + q < count  # and through one before it
        first, second = ids[rows, p].copy(), ids[rows, count - 1].copy()
        a, b = np.flatnonzero(~on_first), np.flatnonzero(~on_second)
        cell = np.concatenate([a, b])
        before, after = np.concatenate([p[a] - 1, count[b] - 1]), np.concatenate([p[a], 0 * b])
        made = self._new_vertices(ids[cell, before], ids[cell, after], edges[cell, before], cut[cell], neuron[cell])
        first[a], second[b] = made[: len(a)], made[len(a) :]

        width = max(cells.width, int(max(p.max(), q.max())) + 2)
        extra = width - cells.width
        if extra:
            cells.vertices.widen(extra, 0)
            cells.edges.widen(extra, 0)
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

        cells.vertices.rows[which], cells.edges.rows[which], cells.count.rows[which] = upper_ids, upper_edges, p + 2
        active = cells.active.rows[which]
        active[rows, neuron] = False
        return cells.add(lower_ids, lower_edges, q + 2, cells.parent.rows[which], active, cells.pending.rows[which])

    # --- edges and vertices ------------------------------------------------------------------------------------------

    def _carry_edges(self) -> Ids:
        """Number the edges, those of two cells once; the line of each."""
        cells = self.cells
        rows, count = cells.vertices.rows, cells.count.rows
        cell, at = np.nonzero(np.arange(rows.shape[1]) < count[:, None])
        tail, head = rows[cell, at], rows[cell, (at + 1) % count[cell]]
        key = np.minimum(tail, head) * len(self.vertices.point) + np.maximum(tail, head)
        _, where, number = np.unique(key, return_index=True, return_inverse=True)
        lines = cells.edges.rows[cell[where], at[where]]
        cells.edges.rows[cell, at] = number
        return lines

    def _line_of(self, carriers: Ids) -> Ids:
        size = len(self.base_lines)
        return np.where(
            carriers < size, self.base_lines[np.minimum(carriers, size - 1)], self.first_line + carriers - size
        )

    def _new_carriers(self, parent: Ids, neuron: Ids) -> Ids:
        """A line and a carrier for each cut."""
        source = np.stack([np.full_like(parent, self.stage), parent, neuron], axis=1)
        value, error = self.forms.value[parent, :, neuron], self.forms.error[parent, neuron]
        slopes = slope_errors(error, self.forms.reach)
        numbers = self.lines.add(value, np.stack([slopes, slopes, error], axis=1), source)
        return numbers - self.first_line + len(self.base_lines)

    def _new_vertices(self, tail: Ids, head: Ids, along: Ids, across: Ids, neuron: Ids) -> Ids:
        """Where the cuts cross edges from tail to head."""
        first, second = self._line_of(along), self._line_of(across)
        value, error = self.lines.value.rows, self.lines.error.rows
        point, blur = intersections(value[first], error[first], value[second], error[second])
        points = self.vertices.point.rows
        length = np.abs(points[tail] - points[head]).max(axis=1)
        made = self.vertices.add(point, blur, np.stack([first, second], axis=1))
        self.keys.extend(along * self.neurons + neuron)
        poor = made[~(blur <= 2.0**-10 * length)]
        if len(poor):
            polished = self.exact_points(poor)
            self.vertices.point.rows[poor] = polished
            self.vertices.error.rows[poor] = np.abs(polished).max(axis=1) * 2 * UNIT + LEAST
        return made

    def _unite_vertices(self) -> None:
        """One vertex for each key."""
        _, where, number = np.unique(self.keys.rows, return_index=True, return_inverse=True)
        old = np.arange(self.first_vertex)
        self.vertices.keep(np.concatenate([old, self.first_vertex + where]))
        renumbered = np.concatenate([old, self.first_vertex + number])
        self.cells.vertices.rows[:] = renumbered[self.cells.vertices.rows]


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
