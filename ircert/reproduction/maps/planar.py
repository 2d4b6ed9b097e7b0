"""Plane geometry in floats: closed polygons, segments, crossings and distances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ircert.ir.arrays import Array


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


def distance_to_loop(points: Array, loop: Array) -> Array:
    """For each point the Euclidean distance to a closed polygon."""
    if not len(points):
        return np.zeros(0)
    return distance_to_segments(points, np.stack([loop, np.roll(loop, -1, axis=0)], axis=1))


def square_distance(segments: Array, center: Array) -> float:
    """The distance of a point to the nearest segment in the ∞-norm; infinite if there is none.

    Along a segment the norm is convex and piecewise linear: it is least at an end or where it has a kink.
    """
    if not len(segments):
        return np.inf
    start, side = segments[:, 0] - center, segments[:, 1] - segments[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        zeros = -start / side  # a coordinate vanishes
        diagonals = [(start[:, 1] * s - start[:, 0]) / (side[:, 0] - s * side[:, 1]) for s in (1.0, -1.0)]
    shares = np.column_stack([np.zeros(len(side)), np.ones(len(side)), zeros, *diagonals])
    shares = np.clip(np.nan_to_num(shares), 0.0, 1.0)
    return float(np.abs(start[:, None] + shares[..., None] * side[:, None]).max(axis=2).min())
