"""The tables of a planar complex while it is being cut: lines, vertices and cells, in arrays that grow.

A vertex is the intersection of two lines, a line is the zero set of one neuron on one cell (or an edge of the region),
so both can be computed exactly at any time; the floats stored with them only make most decisions quick.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ircert.engines.regions.forms import UNIT
from ircert.ir.arrays import Array

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

    def keep(self, which: Ids) -> None:
        """Drop all but some vertices; they are numbered anew."""
        self.point, self.error, self.lines = (Grown(t.rows[which]) for t in (self.point, self.error, self.lines))


class Cells:
    """Convex polygons, counter-clockwise: vertex i, the line of the edge from vertex i to the next, and their number.

    parent: the cell of the stage's beginning that it is a part of; active: the phases of the stage's neurons;
    pending: the neurons that were not looked at yet
    """

    def __init__(self, vertices: Ids, edges: Ids, count: Ids, neurons: int) -> None:
        self.vertices = Grown(vertices)
        self.edges = Grown(edges)
        self.count = Grown(count)
        self.parent = Grown(np.arange(len(count)))
        self.active = Grown(np.zeros((len(count), neurons), dtype=bool))
        self.pending = Grown(np.zeros((len(count), neurons), dtype=bool))

    @property
    def width(self) -> int:
        """Room for this many vertices in a cell."""
        return int(self.vertices.rows.shape[1])

    def __len__(self) -> int:
        return len(self.count)

    def add(
        self,
        vertices: Ids,
        edges: Ids,
        count: Ids,
        parent: Ids,
        active: NDArray[np.bool_],
        pending: NDArray[np.bool_],
    ) -> Ids:
        """Append cells; their numbers."""
        first = len(self)
        tables = (self.vertices, self.edges, self.count, self.parent, self.active, self.pending)
        for table, rows in zip(tables, (vertices, edges, count, parent, active, pending), strict=True):
            table.extend(rows)
        return np.arange(first, len(self))


def intersections(p: Array, dp: Array, q: Array, dq: Array) -> tuple[Array, Array]:
    """Where lines p and q with errors dp and dq meet, and a bound of the coordinates' error (inf if parallel).

    The cross product of two lines (a, b, c) is their point (u w, v w, w); the errors of its products add up.
    """
    one, two = [1, 2, 0], [2, 0, 1]
    first, second = p[:, one] * q[:, two], p[:, two] * q[:, one]
    size, error = np.abs(p), np.abs(q) + dq
    above = first - second
    wide = (
        size[:, one] * dq[:, two] + dp[:, one] * error[:, two] + size[:, two] * dq[:, one] + dp[:, two] * error[:, one]
    )
    wide = (wide + 4 * UNIT * (np.abs(first) + np.abs(second))) * (1 + 2.0**-20) + 1e-300
    room = np.abs(above[:, 2]) - wide[:, 2]
    point = above[:, :2] / above[:, 2:]
    far = np.abs(point)
    blur = ((wide[:, :2] + far * wide[:, 2:]) / room[:, None] + 2 * UNIT * far).max(axis=1) * (1 + 2.0**-20)
    return point, np.where((room > 0) & np.isfinite(blur), blur, np.inf)
