"""Facets of a complex (edges between two cells), determinants of the cells, and where their sign changes: folds."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ircert.engines.regions.complex import Complex
from ircert.engines.regions.forms import UNIT
from ircert.engines.regions.metric import approximate
from ircert.engines.regions.tables import Ids
from ircert.ir.arrays import Array


@dataclass(frozen=True)
class Facets:
    """ends: (F, 2) vertices; sides: (F, 2) cells, the first one on the left of the edge."""

    ends: Ids
    sides: Ids


def edge_ends(complex_: Complex) -> tuple[Ids, Ids, Ids]:
    """(cell, vertex, next vertex) for every edge of every cell."""
    column = np.arange(complex_.polygons.shape[1])[None, :]
    after = np.where(column + 1 < complex_.count[:, None], column + 1, 0)
    cell, at = np.nonzero(complex_.used)
    return cell, complex_.polygons[cell, at], complex_.polygons[cell, after[cell, at]]


def facets(complex_: Complex) -> Facets:
    """Every edge that two cells share: one cell runs along it one way, the other one the other way."""
    cell, tail, head = edge_ends(complex_)
    size = len(complex_.points)
    forward = tail < head
    key, twin = tail * size + head, head * size + tail
    order = np.flatnonzero(~forward)[np.argsort(twin[~forward], kind="stable")]
    mine = np.flatnonzero(forward)
    position = np.searchsorted(twin[order], key[mine])
    position = np.minimum(position, max(len(order) - 1, 0))
    paired = twin[order][position] == key[mine] if len(order) else np.zeros(len(mine), dtype=bool)
    mine, partner = mine[paired], order[position[paired]]
    return Facets(np.stack([tail[mine], head[mine]], axis=1), np.stack([cell[mine], cell[partner]], axis=1))


def determinants(complex_: Complex, outputs: list[int]) -> tuple[Array, NDArray[np.int8]]:
    """The determinants of a map into the plane on every cell in floats, and their exact signs."""
    forms, errors = complex_.maps.value[outputs], complex_.maps.error[outputs]
    (a, b, _), (c, d, _) = forms
    (da, db, _), (dc, dd, _) = errors
    with np.errstate(invalid="ignore", over="ignore"):
        value = a * d - b * c
        bound = np.abs(a) * dd + da * (np.abs(d) + dd) + np.abs(b) * dc + db * (np.abs(c) + dc)
        bound = (bound + 4 * UNIT * (np.abs(a * d) + np.abs(b * c))) * (1 + 2.0**-20)
        zero = ((a == 0) & (da == 0) & (b == 0) & (db == 0)) | ((c == 0) & (dc == 0) & (d == 0) & (dd == 0))
        certain = (np.abs(value) > bound + 1e-300) | zero
    signs = np.where(certain, np.sign(value), 0).astype(np.int8)
    for cell in np.flatnonzero(~certain).tolist():
        (p, q, _), (r, s, _) = complex_.exact_map(cell)[0][outputs]
        exact = p * s - q * r
        signs[cell] = (exact > 0) - (exact < 0)
        value[cell] = approximate(Fraction(int(exact), int(complex_.exact_map(cell)[1]) ** 2))
    return value, signs


def winding_vertices(complex_: Complex) -> Ids:
    """Vertices inside the region whose cells share one orientation of planar f, and wind around repeatedly."""
    _, signs = determinants(complex_, [0, 1])
    cell, at = np.nonzero(complex_.used)
    vertex = complex_.polygons[cell, at]
    count = complex_.count[cell]
    after, before = (complex_.polygons[cell, (at + k) % count] for k in (1, -1))
    linear = np.moveaxis(complex_.maps.value[:2, :2], 2, 0)[cell]
    rays = [np.einsum("kij,kj->ki", linear, complex_.points[v] - complex_.points[vertex]) for v in (after, before)]
    sizes = [np.abs(ray).max(axis=1, keepdims=True) for ray in rays]
    rays = [ray / np.where(size > 0, size, 1.0) for ray, size in zip(rays, sizes, strict=True)]
    turn = np.arctan2(rays[0][:, 0] * rays[1][:, 1] - rays[0][:, 1] * rays[1][:, 0], (rays[0] * rays[1]).sum(axis=1))
    size = len(complex_.points)
    total = np.bincount(vertex, weights=turn, minlength=size)
    corners = np.bincount(vertex, minlength=size)
    borders = np.bincount(facets(complex_).ends.ravel(), minlength=size)
    oriented = np.abs(np.bincount(vertex, weights=signs[cell], minlength=size)) == corners
    inside = (corners > 0) & (borders == corners)
    return np.flatnonzero(inside & oriented & (np.abs(np.round(total / (2 * np.pi))) > 1))
