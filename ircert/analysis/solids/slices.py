"""A plane through the inputs of a network with three of them: its cells, and the Jacobians of the whole network there.

Cells are exact regions of the network with one input bound; the third column of their Jacobians is what binding loses.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ircert.analysis.linear_regions import Regions, enumerate_regions
from ircert.analysis.smooth.maps import SmoothMap
from ircert.analysis.solids.cells import CLEAR
from ircert.engines.boxes.linear_regions.exact_signs import determinant_sign
from ircert.exact.linear_regions import exact_rows, pattern_at
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array, Indices
from ircert.ir.graph import Graph
from ircert.questions.network import Network, lowered

ALONG = 160
"""Points along a side where there are no cells."""


class Plane:
    """The inputs of a ball's box whose coordinate `axis` has one value."""

    def __init__(self, ball: Ball, axis: int, value: float) -> None:
        self.axis, self.value = axis, value
        self.free = [i for i in range(3) if i != axis]
        self.low, self.high = (side[self.free] for side in ball.box)

    @property
    def window(self) -> Ball:
        """The rectangle in the plane, as a ball of two inputs."""
        middle, half = self.low / 2 + self.high / 2, float((self.high / 2 - self.low / 2).max())
        return Ball(middle, half, Norm.INF, self.low, self.high)

    def lifted(self, points: Array) -> Array:
        """Points of the plane (rows) as inputs of the network."""
        return np.insert(points, self.axis, self.value, axis=1)


class SliceRegions:
    """The cells of a plane, each with the Jacobian that the whole network has there.

    segments: (S, 2, 2) where cells of opposite orientation meet
    """

    def __init__(self, graph: Graph, plane: Plane) -> None:
        self.plane = plane
        self._cells: Regions = enumerate_regions(graph.fix({plane.axis: plane.value}), plane.window)
        self._core = lowered(graph)
        self.points, self.polygons = self._cells.points, self._cells.polygons
        self._middles = plane.lifted(np.array([self.points[ids].mean(axis=0) for ids in self.polygons]))
        smooth = SmoothMap(graph)
        self.matrices: Array = np.concatenate(
            [smooth.jacobians(self._middles[part]) for part in smooth.batches(len(self._middles))]
        )

    def __len__(self) -> int:
        return len(self.polygons)

    @cached_property
    def determinants(self) -> Array | None:
        """In floats, where there are as many outputs as inputs."""
        return np.linalg.det(self.matrices) if self.matrices.shape[1] == 3 else None

    @cached_property
    def signs(self) -> Array:
        """Of the determinants, exact where they are in doubt; without them, 1."""
        if self.determinants is None:
            return np.ones(len(self))
        found = np.sign(self.determinants)
        most = np.linalg.norm(self.matrices, axis=2).prod(axis=1)
        for k in np.flatnonzero(np.abs(self.determinants) <= CLEAR * most).tolist():
            pattern = pattern_at(self._core, [Fraction(float(t)) for t in self._middles[k]])
            found[k] = determinant_sign(exact_rows(self._core, pattern, self._core.output).coefficients)
        return found

    @property
    def segments(self) -> Array:
        """(S, 2, 2): where the fold set crosses the plane."""
        sides: Indices = self._cells.sides
        turning = np.flatnonzero(self.signs[sides[:, 0]] * self.signs[sides[:, 1]] < 0)
        return np.asarray(self.points[self._cells.facets[turning]]).reshape(-1, 2, 2)


class SliceSamples:
    """The same of a smooth network, in floats at points of a grid, as if each had a cell."""

    def __init__(self, graph: Graph, plane: Plane) -> None:
        self.plane, self.along = plane, ALONG
        self.low, self.high = plane.low, plane.high
        shares = (np.arange(ALONG) + 0.5) / ALONG
        self.lines = [low + shares * (high - low) for low, high in zip(self.low, self.high, strict=True)]
        middles = np.stack(np.meshgrid(*self.lines, indexing="ij"), axis=-1).reshape(-1, 2)
        smooth, points = SmoothMap(graph), plane.lifted(middles)
        self.matrices: Array = np.concatenate([smooth.jacobians(points[part]) for part in smooth.batches(len(points))])

    def __len__(self) -> int:
        return len(self.matrices)

    @cached_property
    def determinants(self) -> Array | None:
        """In floats, where there are as many outputs as inputs."""
        return np.linalg.det(self.matrices) if self.matrices.shape[1] == 3 else None

    @property
    def signs(self) -> Array:
        """Of the determinants, in floats; without them, 1."""
        return np.ones(len(self)) if self.determinants is None else np.sign(self.determinants)


def sliced(graph: Graph, plane: Plane) -> Any:
    """The cells of a plane, or samples where the network is smooth."""
    return (SliceSamples if Network(graph).has_curves else SliceRegions)(graph, plane)
