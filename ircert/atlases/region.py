"""The certified region of an atlas: a union of balls, on each of which the network is good.

It is good on each ball, which says nothing about pairs of points in different ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ircert.atlases.neighbours import CHUNK, balls_inside
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array


@dataclass(frozen=True, eq=False)
class Region:
    """The open balls of these centres and radii; none of them lies in another one."""

    centers: Array
    radii: Array
    norm: Norm

    @staticmethod
    def of(centers: Array, radii: Array, norm: Norm) -> Region:
        """The union of balls, without those of radius 0 and those that lie in others."""
        order = np.argsort(-radii, kind="stable")
        order = order[radii[order] > 0]
        kept: list[int] = []
        for i in order.tolist():
            inside = balls_inside(centers[i], centers[kept], radii[kept], norm)
            if not (inside >= radii[i]).any():
                kept.append(i)
        return Region(centers[kept], radii[kept], norm)

    def __len__(self) -> int:
        return len(self.radii)

    def contains(self, points: Array) -> NDArray[np.bool_]:
        """(N,): whether points (N, n) surely lie in one of the balls."""
        return self.radius_at(points) > 0

    def radius_at(self, points: Array) -> Array:
        """(N,): the radius of an open ball around each point that lies in one of these, rounded down; 0 outside."""
        points = np.atleast_2d(np.asarray(points, dtype=np.float64))
        found = np.zeros(len(points))
        step = max(1, CHUNK // max(1, len(self) * points.shape[1]))
        for start in range(0, len(points), step) if len(self) else ():
            here = points[start : start + step, None, :]
            found[start : start + step] = balls_inside(here, self.centers, self.radii, self.norm).max(axis=1)
        return found
