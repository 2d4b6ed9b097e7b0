"""Preimages of many values under a network of two inputs, in floats."""

from __future__ import annotations

import numpy as np

from ircert.analysis.linear_regions import Regions
from ircert.ir.arrays import Array

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
