"""The fold set of three inputs: polygons between linear regions whose determinants have opposite signs."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.spatial import cKDTree

from ircert.analysis.solids.cells import Cell, cells, signs
from ircert.analysis.solids.polyhedron import SIDE, Polyhedron, box, centroid, diamond, inside, triangles
from ircert.errors import QueryError
from ircert.geometry.ball import Ball
from ircert.ir.arrays import Array, Indices
from ircert.ir.graph import Graph
from ircert.questions.network import lowered

SAME = 1e-7
"""Middles of faces this near to each other, in shares of the ball, are those of one face seen from both sides."""


@dataclass(frozen=True, eq=False)
class FoldFacets:
    """Where the orientation of f turns over in a ball of three inputs; in floats, with signs of determinants that are
    exact where they are in doubt.

    facets: (k, 3) vertices of each polygon, in order around it; determinants: (F, 2) on both sides; singular: (k, 3)
    vertices of singular regions
    """

    graph: Graph
    ball: Ball
    regions: int
    facets: list[Array] = field(repr=False)
    determinants: Array = field(repr=False)
    singular: list[Array] = field(repr=False)

    @property
    def triangles(self) -> Array:
        """(T, 3, 3): the facets cut into triangles."""
        return np.concatenate([np.zeros((0, 3, 3)), *(triangles(facet) for facet in self.facets)])

    def __len__(self) -> int:
        return len(self.facets)

    def __repr__(self) -> str:
        return f"<fold set of {len(self)} facets among {self.regions} regions, {len(self.singular)} of them singular>"


def fold_facets(graph: Graph, ball: Ball) -> FoldFacets:
    """The fold set of a piecewise-linear network with three inputs and outputs in a ball (of norm 2: in the cube around
    it), cut with the domain."""
    low, high = ball.box
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise QueryError("folds are listed in a bounded ball or domain", remedy="give a finite radius, or a domain")
    if not (low < high).all():
        raise QueryError("the domain has no inside", remedy="`fix` the inputs that do not vary")
    middle, scale = low / 2 + high / 2, float((high / 2 - low / 2).max())
    slopes = diamond((ball.center - middle) / scale, ball.radius / scale) if ball.norm == "1" else np.zeros((0, 4))
    start = inside(box((low - middle) / scale, (high - middle) / scale), slopes)
    if start is None:
        raise QueryError("the domain and the ball have no inside in common", remedy="move one of them")
    core = lowered(graph)
    found = cells(core, start, middle, scale)
    values, known = signs(core, found)
    pairs, faces = _facets(found)
    turning = np.flatnonzero(known[pairs[:, 0]] * known[pairs[:, 1]] < 0)
    return FoldFacets(
        graph,
        ball,
        len(found),
        [middle + scale * faces[k] for k in turning.tolist()],
        values[pairs[turning]],
        [middle + scale * found[k].solid.vertices for k in np.flatnonzero(known == 0).tolist()],
    )


def _facets(found: list[Cell]) -> tuple[Indices, list[Array]]:
    """The two regions at each facet between regions, and its polygon."""
    owners, polygons = [], []
    for number, cell in enumerate(found):
        for face in _inner(cell.solid):
            owners.append(number)
            polygons.append(cell.solid.polygon(face))
    if not polygons:
        return np.zeros((0, 2), dtype=np.int64), []
    middles = np.array([centroid(polygon) for polygon in polygons])
    met = cKDTree(middles).query_pairs(SAME, output_type="ndarray")
    sides = np.array(owners, dtype=np.int64)[met]
    apart = sides[:, 0] != sides[:, 1]
    return sides[apart], [polygons[k] for k in met[apart, 0].tolist()]


def _inner(solid: Polyhedron) -> list[int]:
    return [face for face, label in enumerate(solid.labels) if label != SIDE]
