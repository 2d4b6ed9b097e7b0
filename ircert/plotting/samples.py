"""Smooth networks have no cells to draw: their Jacobians at points of a grid, in floats, as if each point had one."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np
from matplotlib.axes import Axes

from ircert.analysis.smooth.maps import SmoothMap
from ircert.geometry.ball import Ball
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph
from ircert.plotting.colour import colouring
from ircert.plotting.data import Maps
from ircert.plotting.regions import draw_colorbar
from ircert.plotting.style import CELLS

ALONG = {1: 800, 2: 200}
"""Points along a side, by the number of inputs."""


class Field(Maps, Protocol):
    """Jacobians at the middles of pixels, so many along each side of a rectangle."""

    @property
    def along(self) -> int: ...
    @property
    def low(self) -> Array: ...
    @property
    def high(self) -> Array: ...


class Samples:
    """What drawing reads of regions; of one input, the pieces between neighbouring points."""

    def __init__(self, graph: Graph, ball: Ball) -> None:
        self.graph = graph
        self.low, self.high = ball.box
        self.size = graph.input_dim
        self.along = ALONG[self.size]
        self.lines: list[Array] = [
            np.linspace(low, high, self.along + 1) for low, high in zip(self.low, self.high, strict=True)
        ]
        middles = [(line[:-1] + line[1:]) / 2 for line in self.lines]
        self.middles: Array = np.stack(np.meshgrid(*middles, indexing="ij"), axis=-1).reshape(-1, self.size)

    @cached_property
    def _slopes(self) -> Array:
        smooth = SmoothMap(self.graph, (self.low, self.high))
        parts = [smooth.jacobians(self.middles[part]) for part in smooth.batches(len(self.middles))]
        return np.concatenate(parts)

    @cached_property
    def matrices(self) -> Array:
        """Jacobians; of one input, the slopes of chords."""
        if self.size == 2:
            return self._slopes
        x = self.lines[0][:, None]
        return np.asarray(np.diff(self.graph(x), axis=0)[:, :, None] / np.diff(x, axis=0)[:, :, None])

    @property
    def determinants(self) -> Array | None:
        """Where there are as many outputs as inputs."""
        return np.linalg.det(self._slopes) if self.graph.output_dim == self.size else None

    @property
    def signs(self) -> Array:
        """Of the determinants, in floats; else 1."""
        found = self.determinants
        return np.ones(len(self.middles)) if found is None else np.sign(found)

    @property
    def points(self) -> Array:
        """Ends of pieces (one input)."""
        return self.lines[0][:, None]

    @property
    def polygons(self) -> list[Array]:
        """The ends of each piece (one input)."""
        return [np.array([k, k + 1]) for k in range(self.along)]

    @property
    def offsets(self) -> Array:
        """The constant part of each piece (one input)."""
        return np.asarray(self.graph(self.points[:-1]) - self.matrices[:, :, 0] * self.points[:-1])


def draw_field(ax: Axes, samples: Field, *, colorbar: bool = True, ends: tuple[float, float] | None = None) -> Axes:
    """det Df of two inputs (its smallest singular value where there is no determinant) as pixels, in floats; `ends` are
    the sizes that colours tell apart."""
    colours = colouring(samples, ends)
    values = np.ma.masked_array(colours.values, colours.singular)
    image = ax.imshow(
        values.reshape(samples.along, samples.along).T,
        origin="lower",
        extent=(samples.low[0], samples.high[0], samples.low[1], samples.high[1]),
        cmap=colours.cmap,
        norm=colours.norm,
        interpolation="nearest",
        zorder=CELLS,
        gid="field",
    )
    if colorbar:
        draw_colorbar(ax, image, colours)
    return ax
