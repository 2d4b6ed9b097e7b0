"""Where det Df of a smooth network with three inputs is 0, as triangles to look at; in floats, between grid points.

Each cube of the grid is six tetrahedra around a diagonal; in one, the surface is where the linear interpolation of the
determinants at its corners is 0.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np

from ircert.analysis.smooth.maps import SmoothMap
from ircert.geometry.ball import Ball
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph

ALONG = 36
"""Cubes along the longest side."""
CORNERS = np.array(
    [np.cumsum([[0, 0, 0], *(np.eye(3, dtype=int)[k] for k in order)], axis=0) for order in permutations(range(3))]
)
"""(6, 4, 3): the corners of the tetrahedra of a cube, from (0, 0, 0) to (1, 1, 1)."""


def zero_surface(graph: Graph, ball: Ball) -> Array:
    """(T, 3, 3): triangles near det Df = 0 in the box of a ball."""
    low, high = ball.box
    counts = np.maximum(2, np.ceil(ALONG * (high - low) / (high - low).max())).astype(int)
    lines = [np.linspace(a, b, n + 1) for a, b, n in zip(low, high, counts, strict=True)]
    grid = np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1)
    values = SmoothMap(graph).determinants(grid.reshape(-1, 3)).reshape(grid.shape[:3])
    cubes = np.stack(np.meshgrid(*map(np.arange, counts), indexing="ij"), axis=-1).reshape(-1, 1, 1, 3)
    places = (cubes + CORNERS).reshape(-1, 4, 3)
    heights = values[tuple(np.moveaxis(places, -1, 0))]
    mixed = (heights.min(axis=1) < 0) & (heights.max(axis=1) > 0)
    return _triangles(grid[tuple(np.moveaxis(places[mixed], -1, 0))], heights[mixed])


def _triangles(corners: Array, heights: Array) -> Array:
    """Those of tetrahedra (T, 4, 3) whose corners have heights of both signs."""
    order = np.argsort(heights, axis=1)
    corners = np.take_along_axis(corners, order[:, :, None], axis=1)
    heights = np.take_along_axis(heights, order, axis=1)
    below = (heights < 0).sum(axis=1)
    found = [np.zeros((0, 3, 3))]
    for count, edges in ((1, ((0, 1), (0, 2), (0, 3))), (3, ((0, 3), (1, 3), (2, 3)))):
        found.append(_crossings(corners[below == count], heights[below == count], edges))
    square = _crossings(corners[below == 2], heights[below == 2], ((0, 2), (0, 3), (1, 3), (1, 2)))
    return np.concatenate([*found, square[:, [0, 1, 2]], square[:, [0, 2, 3]]])


def _crossings(corners: Array, heights: Array, edges: tuple[tuple[int, int], ...]) -> Array:
    """The points of edges at which the interpolation is 0."""
    starts, ends = ([edge[k] for edge in edges] for k in (0, 1))
    shares = heights[:, starts] / (heights[:, starts] - heights[:, ends])
    return np.asarray(corners[:, starts] + shares[:, :, None] * (corners[:, ends] - corners[:, starts]))
