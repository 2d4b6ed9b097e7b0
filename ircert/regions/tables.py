"""The tables of a planar complex while it is being cut: lines, vertices and cells, in arrays that grow.

A vertex is the intersection of two lines, a line is the zero set of one neuron on one cell (or an edge of the region),
so both can be computed exactly at any time; the floats stored with them only make most decisions quick.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ircert.ir.arrays import Array, Indices
from ircert.regions.forms import UNIT

Ids = NDArray[np.int64]


class Grown:
    """An array that grows by rows: the storage doubles, `rows` is the part in use."""

    def __init__(self, rows: NDArray[Any]) -> None:
        self._storage = rows.copy()
        self._used = len(rows)

    @property
    def rows(self) -> NDArray[Any]:
        """The rows in use; a view, good until the next `extend`."""
        return self._storage[: self._used]

    def __len__(self) -> int:
        return self._used

    def extend(self, rows: NDArray[Any]) -> None:
        """Append rows."""
        needed = self._used + len(rows)
        if needed > len(self._storage):
            storage = np.empty((max(needed, 2 * self._used), *self._storage.shape[1:]), dtype=self._storage.dtype)
            storage[: self._used] = self.rows
            self._storage = storage
        self._storage[self._used : needed] = rows
        self._used = needed

    def widen(self, columns: int, fill: int) -> None:
        """Add columns on the right."""
        extra = np.full((len(self._storage), columns), fill, dtype=self._storage.dtype)
        self._storage = np.concatenate([self._storage, extra], axis=1)


class Lines:
    """Lines a u + b v + c = 0 with error bounds; source = (stage, cell of that stage, neuron), stage -1: the region."""

    def __init__(self, value: Array, error: Array) -> None:
        self.value = Grown(value)
        self.error = Grown(error)
        source = np.zeros((len(value), 3), dtype=np.int64)
        source[:, 0], source[:, 2] = -1, np.arange(len(value))
        self.source = Grown(source)

    def add(self, value: Array, error: Array, source: Ids) -> Ids:
        """Append lines; their numbers."""
        first = len(self.value)
        self.value.extend(value)
        self.error.extend(error)
        self.source.extend(source)
        return np.arange(first, len(self.value))


class Vertices:
    """Points, a bound of the error of their coordinates, and the two lines that meet there."""

    def __init__(self, point: Array, error: Array, lines: Ids) -> None:
        self.point = Grown(point)
        self.error = Grown(error)
        self.lines = Grown(lines)

    def add(self, point: Array, error: Array, lines: Ids) -> Ids:
        """Append vertices; their numbers."""
        first = len(self.point)
        self.point.extend(point)
        self.error.extend(error)
        self.lines.extend(lines)
        return np.arange(first, len(self.point))


class Cells:
    """Convex polygons, counter-clockwise: vertex i, the line of the edge from vertex i to the next, and their number.

    parent: the cell of the stage's beginning that it is a part of; origin: that of the last `mark_origins`;
    active: the phases of the stage's neurons.
    """

    def __init__(self, vertices: Ids, lines: Ids, count: Ids, active: NDArray[np.bool_]) -> None:
        self.vertices = Grown(vertices)
        self.lines = Grown(lines)
        self.count = Grown(count)
        self.parent = Grown(np.arange(len(count)))
        self.active = Grown(active)
        self.mark_origins()

    def mark_origins(self) -> None:
        """From now on, parts of cells know which of the present cells they are a part of."""
        self.origin = Grown(np.arange(len(self.count)))

    @property
    def width(self) -> int:
        """Room for this many vertices in a cell."""
        return int(self.vertices.rows.shape[1])

    def __len__(self) -> int:
        return len(self.count)


def intersections(first: tuple[Array, Array], second: tuple[Array, Array]) -> tuple[Array, Array]:
    """Where lines (value, error) meet, by Cramer's rule, and a bound of the coordinates' error (inf if parallel)."""
    (p, dp), (q, dq) = first, second
    below, below_error = _minor(p, dp, q, dq, 0, 1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        room = np.abs(below) - below_error
        coordinates, errors = [], []
        for i, j in ((1, 2), (2, 0)):
            above, above_error = _minor(p, dp, q, dq, i, j)
            value = above / below
            coordinates.append(value)
            errors.append((above_error + np.abs(value) * below_error) / room + 2 * UNIT * np.abs(value))
        error = np.maximum(*errors) * (1 + 2.0**-20)
    return np.stack(coordinates, axis=1), np.where((room > 0) & np.isfinite(error), error, np.inf)


def _minor(p: Array, dp: Array, q: Array, dq: Array, i: int, j: int) -> tuple[Array, Array]:
    value = p[:, i] * q[:, j] - p[:, j] * q[:, i]
    error = sum(
        np.abs(p[:, a]) * dq[:, b] + dp[:, a] * (np.abs(q[:, b]) + dq[:, b]) for a, b in ((i, j), (j, i))
    ) + 4 * UNIT * (np.abs(p[:, i] * q[:, j]) + np.abs(p[:, j] * q[:, i]))
    return value, error * (1 + 2.0**-20) + 1e-300


def edge_pairs(vertices: Ids, lines: Ids, at: Indices, count: Ids) -> tuple[Ids, Ids, Ids]:
    """The ends and the line of edge `at` of each polygon."""
    rows = np.arange(len(vertices))
    return vertices[rows, at], vertices[rows, (at + 1) % count], lines[rows, at]
