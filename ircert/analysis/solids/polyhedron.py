"""Convex polyhedra in floats, cut by planes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ircert.ir.arrays import Array, Indices

SIDE = -1
"""The label of faces that no neuron made."""
FLAT = 1e-10
"""Vertices this near to a plane, in shares of its slope, lie on it: coordinates are about 1."""


@dataclass(frozen=True, eq=False)
class Polyhedron:
    """vertices: (V, 3); faces: the numbers of their vertices, in order around each; labels: what made each face."""

    vertices: Array
    faces: tuple[tuple[int, ...], ...]
    labels: tuple[int, ...]

    def polygon(self, face: int) -> Array:
        """(k, 3): the vertices of a face, in order around it."""
        return np.asarray(self.vertices[list(self.faces[face])])

    def edges(self) -> Iterator[Array]:
        """(2, 3): the ends of each edge, once."""
        pairs = {(min(a, b), max(a, b)) for face in self.faces for a, b in _around(face)}
        return (np.asarray(self.vertices[list(pair)]) for pair in sorted(pairs))

    def split(self, plane: Array, label: int = SIDE) -> tuple[Polyhedron | None, Polyhedron | None]:
        """The parts where plane[:3] @ x + plane[3] is at most and at least 0, with a common face of this label.

        None for a part that has no inside.
        """
        heights = self.vertices @ plane[:3] + plane[3]
        heights[np.abs(heights) <= FLAT * np.abs(plane[:3]).sum()] = 0.0
        if not (heights > 0).any():
            return self, None
        if not (heights < 0).any():
            return None, self
        vertices, crossing = self._with_crossings(heights)
        on = np.concatenate([heights == 0, np.ones(len(vertices) - len(heights), dtype=bool)])
        border = _in_order(vertices, np.flatnonzero(on), plane[:3])
        below, above = (self._part(vertices, heights * sign, crossing, border, label) for sign in (-1.0, 1.0))
        return below, above

    def _with_crossings(self, heights: Array) -> tuple[Array, dict[tuple[int, int], int]]:
        """The vertices, then those at which edges cross the plane; and their numbers."""
        found: dict[tuple[int, int], int] = {}
        points = list(self.vertices)
        for face in self.faces:
            for a, b in _around(face):
                if heights[a] * heights[b] < 0 and (a, b) not in found:
                    share = heights[a] / (heights[a] - heights[b])
                    found[a, b] = found[b, a] = len(points)
                    points.append(self.vertices[a] + share * (self.vertices[b] - self.vertices[a]))
        return np.array(points), found

    def _part(
        self, vertices: Array, heights: Array, crossing: dict[tuple[int, int], int], border: tuple[int, ...], label: int
    ) -> Polyhedron:
        """The part where heights are at least 0."""
        faces, labels = [border], [label]
        for face, old in zip(self.faces, self.labels, strict=True):
            kept = []
            for a, b in _around(face):
                kept += [a] if heights[a] >= 0 else []
                kept += [crossing[a, b]] if (a, b) in crossing else []
            if len(kept) > 2 and any(k >= len(heights) or heights[k] > 0 for k in kept) and set(kept) != set(border):
                faces.append(tuple(kept))
                labels.append(old)
        used = sorted({k for face in faces for k in face})
        number = {old: new for new, old in enumerate(used)}
        return Polyhedron(vertices[used], tuple(tuple(number[k] for k in face) for face in faces), tuple(labels))


def box(low: Array, high: Array) -> Polyhedron:
    """The box between two corners."""
    corners = np.array([[(low, high)[i >> k & 1][k] for k in range(3)] for i in range(8)])
    faces = ((0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5))
    return Polyhedron(corners, faces, (SIDE,) * 6)


def diamond(center: Array, radius: float) -> Array:
    """The faces of the ball of norm 1, as planes (8, 4)."""
    directions = np.array([[1.0 - 2.0 * (i >> k & 1) for k in range(3)] for i in range(8)])
    return np.column_stack([directions, -directions @ center - radius])


def inside(solid: Polyhedron, planes: Array) -> Polyhedron | None:
    """The part of a polyhedron where plane[:3] @ x + plane[3] <= 0 for all planes (rows); None if there is none."""
    left: Polyhedron | None = solid
    for plane in planes:
        if left is not None:
            left = left.split(plane)[0]
    return left


def centroid(polygon: Array) -> Array:
    """The middle of the area of a convex polygon (k, 3); vertices along an edge do not move it."""
    spread = polygon - polygon[0]
    doubled = np.linalg.norm(np.cross(spread[1:-1], spread[2:]), axis=1)
    whole = doubled.sum()
    if not whole > 0:
        return np.asarray(polygon.mean(axis=0))
    return np.asarray(polygon[0] + (doubled @ (spread[1:-1] + spread[2:])) / (3 * whole))


def triangles(polygon: Array) -> Array:
    """(k - 2, 3, 3): a convex polygon as triangles around its first vertex."""
    count = len(polygon) - 2
    return np.stack([np.repeat(polygon[:1], count, axis=0), polygon[1:-1], polygon[2:]], axis=1)


def _around(face: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    return zip(face, (*face[1:], face[0]), strict=True)


def _in_order(vertices: Array, chosen: Indices, normal: Array) -> tuple[int, ...]:
    """Vertices of a convex polygon in a plane, in order around it."""
    spread = vertices[chosen] - vertices[chosen].mean(axis=0)
    first = spread[np.argmax(np.linalg.norm(spread, axis=1))]
    second = np.cross(normal, first)
    angles = np.arctan2(spread @ second / np.linalg.norm(second), spread @ first / np.linalg.norm(first))
    return tuple(int(k) for k in chosen[np.argsort(angles)])
