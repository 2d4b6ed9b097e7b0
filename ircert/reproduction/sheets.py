"""Preimages of many values under a network of two inputs, and where closed polygons cross segments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ircert.ir.arrays import Array
from ircert.regions.atlas import Regions

CLOSE = 1e-7
"""Two solutions nearer than this (relative to their size) are one, found in two neighbouring cells."""


def preimages_of(regions: Regions, values: Array) -> list[Array]:
    """For each value (row) the points of the regions that f maps to it, in floats, by growing x.

    On each cell with an inverse the solution of A x + c = y counts if f itself maps it to y.
    """
    invertible = np.flatnonzero(regions.signs)
    inverses, offsets = np.linalg.inv(regions.matrices[invertible]), regions.offsets[invertible]
    low, high = regions.ball.box
    found = []
    for value in values:
        points = np.einsum("kij,kj->ki", inverses, value - offsets)
        points = points[((points >= low) & (points <= high)).all(axis=1)]
        errors = np.abs(regions.graph(points) - value).max(axis=1) if len(points) else np.zeros(0)
        found.append(_distinct(points[errors <= 1e-9 * max(1.0, float(np.abs(value).max()))]))
    return found


def _distinct(points: Array) -> Array:
    kept: list[Array] = []
    for point in points[np.argsort(points[:, 0])]:
        if all(np.abs(point - other).max() > CLOSE * max(1.0, float(np.abs(point).max())) for other in kept):
            kept.append(point)
    return np.array(kept).reshape(-1, 2)


@dataclass(frozen=True)
class Crossings:
    """Where edges of a closed polygon meet segments: at shares `along` of the edges and `across` of the segments."""

    edges: NDArray[np.int64]
    segments: NDArray[np.int64]
    along: Array
    across: Array

    def __len__(self) -> int:
        return len(self.edges)


def crossings(loop: Array, segments: Array) -> Crossings:
    """All crossings of a closed polygon (rows) with segments (S, 2, 2), in the polygon's order."""
    near = np.flatnonzero(
        (segments.max(axis=1) >= loop.min(axis=0)).all(axis=1) & (segments.min(axis=1) <= loop.max(axis=0)).all(axis=1)
    )
    start, side = loop[:, None], (np.roll(loop, -1, axis=0) - loop)[:, None]
    other, far = segments[None, near, 0], (segments[near, 1] - segments[near, 0])[None]
    twist = _cross(side, far)  # 0 for parallel ones, which count as not crossing
    with np.errstate(divide="ignore", invalid="ignore"):
        along, across = _cross(other - start, far) / twist, _cross(other - start, side) / twist
    met = (along >= 0) & (along < 1) & (across >= 0) & (across <= 1)
    i, j = np.nonzero(met)
    order = np.argsort(i + along[i, j], kind="stable")
    i, j = i[order], j[order]
    return Crossings(i, near[j], along[i, j], across[i, j])


def _cross(a: Array, b: Array) -> Array:
    found: Array = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return found


def distance_to_segments(points: Array, segments: Array) -> Array:
    """For each point the Euclidean distance to the nearest segment."""
    start, side = segments[None, :, 0], (segments[:, 1] - segments[:, 0])[None]
    lengths = np.maximum((side**2).sum(axis=2), np.finfo(float).tiny)
    share = np.clip(((points[:, None] - start) * side).sum(axis=2) / lengths, 0.0, 1.0)
    gaps = points[:, None] - start - share[..., None] * side
    found: Array = np.sqrt((gaps**2).sum(axis=2)).min(axis=1)
    return found
