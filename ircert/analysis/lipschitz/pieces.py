"""Straight pieces on which f is affine: the border of a planar body, or the whole of an interval.

For as many outputs as inputs the border is enough. Let f be injective on a compact body B, K the largest |x - y| /
|f(x) - f(y)| of pairs of the border, and k that of pairs of one linear region. Take any x, y of B. While the segment
from f(x) to f(y) runs inside f(B), the inverse follows it and grows at most by k; where it leaves f(B) it does so in
f(border) and comes back there, and between these two points of the border the inverse grows at most by K. So

    L' = min(least stretch of a region, least quotient of two points of the border).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ircert.analysis.lipschitz.cells import Cells
from ircert.engines.regions.facets import edge_ends
from ircert.engines.regions.tables import Ids
from ircert.ir.arrays import Array

ROUNDING = 2.0**-46


@dataclass(frozen=True, eq=False)
class Pieces:
    """Segments tails -> heads (P, n), relative to the centre, each inside one cell.

    maps:       (P,) numbers of the affine maps: equal where f is the same affine map on both pieces
    ends:       (P, 2) numbers of the two points; pieces with a common number touch there
    blur:       (P,) bounds of the errors of the points' coordinates
    matrices:   (P, m, n) linear part of f, offsets (P, m); wrong (P,) bounds of the errors of their rows
    """

    maps: Ids
    ends: Ids
    tails: Array
    heads: Array
    blur: Array
    matrices: Array
    offsets: Array
    wrong: Array

    def __len__(self) -> int:
        return len(self.maps)

    @property
    def finite(self) -> bool:
        """Whether no number left the range of floats."""
        return all(np.isfinite(a).all() for a in (self.tails, self.heads, self.matrices, self.offsets, self.wrong))

    def values(self, points: Array) -> Array:
        """f at one point of each piece."""
        return np.einsum("pmn,pn->pm", self.matrices, points) + self.offsets

    def doubt(self) -> Array:
        """(P,): a bound of the error of `values` anywhere on the piece, as a sum over the outputs."""
        reach = np.abs(self.tails) + np.abs(self.heads)
        size = np.einsum("pmn,pn->pm", np.abs(self.matrices), reach).sum(axis=1) + np.abs(self.offsets).sum(axis=1)
        moved = np.abs(self.matrices).sum(axis=(1, 2)) * self.blur
        return (self.wrong * (1 + reach.sum(axis=1)) + moved + ROUNDING * size) * (1 + 2.0**-20) + 1e-300


def border(cells: Cells) -> Pieces:
    """The border of a planar body, each edge with the cell inside."""
    complex_ = cells.complex
    cell, tail, head = edge_ends(complex_)
    size = len(complex_.points)
    lonely = ~np.isin(tail * size + head, head * size + tail)
    return _pieces(cells, cell[lonely], np.stack([tail[lonely], head[lonely]], axis=1))


def interval(cells: Cells) -> Pieces:
    """The cells of a network with one input, from left to right."""
    complex_ = cells.complex
    along = complex_.points[complex_.polygons][:, :, 0]
    tail = np.where(complex_.used, along, np.inf).argmin(axis=1)
    head = np.where(complex_.used, along, -np.inf).argmax(axis=1)
    starts = [min(corner[0] for corner in complex_.exact_polygon(c)) for c in range(len(complex_))]
    cell = np.array(sorted(range(len(complex_)), key=starts.__getitem__))  # neighbours for sure, however short
    ends = np.stack([complex_.polygons[cell, tail[cell]], complex_.polygons[cell, head[cell]]], axis=1)
    found = _pieces(cells, cell, ends)
    order = np.arange(len(cell))
    return Pieces(
        found.maps,
        np.stack([order, order + 1], axis=1),
        found.tails,
        found.heads,
        found.blur,
        found.matrices,
        found.offsets,
        found.wrong,
    )


def _pieces(cells: Cells, cell: Ids, ends: Ids) -> Pieces:
    complex_ = cells.complex
    points = complex_.points[ends][:, :, : cells.inputs]
    maps = complex_.maps
    offsets = maps.value[: cells.outputs, 2][:, cell].T
    wrong = maps.error[: cells.outputs][:, :, cell].sum(axis=(0, 1))
    blur = complex_.blur[ends].max(axis=1)
    known: dict[str, int] = {}
    numbers = [known.setdefault(str(complex_.exact_map(c)), len(known)) for c in cell.tolist()]
    return Pieces(np.array(numbers), ends, points[:, 0], points[:, 1], blur, cells.matrices[cell], offsets, wrong)
