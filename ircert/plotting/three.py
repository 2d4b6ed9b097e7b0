"""An answer about a network of three inputs: slices through planes, and the fold set seen from outside."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

import ircert
from ircert.analysis.solids.slices import Plane, SliceSamples, sliced
from ircert.analysis.solids.zero_surface import zero_surface
from ircert.errors import QueryError
from ircert.geometry.ball import Ball
from ircert.geometry.norm import norm_of
from ircert.ir.arrays import Array
from ircert.plotting.ball import LINES, Kind, ball_label, draw_ball
from ircert.plotting.colour import colouring, common_ends
from ircert.plotting.data import Result
from ircert.plotting.figure import new_figure
from ircert.plotting.folds import draw_segments
from ircert.plotting.marks import draw_center, draw_witness
from ircert.plotting.regions import draw_regions
from ircert.plotting.result import brackets
from ircert.plotting.samples import draw_field
from ircert.plotting.solid import (
    draw_fold_facets,
    draw_singular_solids,
    draw_solid_ball,
    draw_solid_marks,
    finish_solid,
)
from ircert.plotting.style import BALLS, FOLD_RED, FOLDS, INK, MARK, SINGULAR, index
from ircert.plotting.window import window_of
from ircert.questions.network import Network

PANEL = 3.9
"""Inches of a panel's side."""
MARGIN = 2.0
"""The picture is this much wider than balls and witnesses: folds lie around them."""
WITNESS = "witness: f(x) = f(y)"
NEAR = 1e-6
"""Points this near to a plane, in shares of the window, lie in it to the eye."""


def plot_three(
    result: Result,
    balls: Iterable[Result] | None = None,
    slices: Mapping[int, float | Sequence[float]] | None = None,
    solid: bool | None = None,
    window: Any = None,
    *,
    witness: bool = True,
    legend: bool = True,
    inputs: Sequence[str] | None = None,
    figure: Figure | None = None,
) -> Figure:
    """Draw an answer about a network of three inputs: cells in planes, balls, centre, witness, and the fold set.

    balls:  further results whose balls are drawn (other norms or problems); the centre is the first result's
    slices: for inputs, the numbers at which planes cut; by default three planes through the centre
    solid:  whether to draw the fold set from outside (a network with three outputs); by default where that is possible
    window: half the width of the picture, or its corners (low, high); by default all balls and the witness fit in
    inputs: the labels of the axes
    """
    results = [result, *(balls or ())]
    picture = _Picture(results, window, witness=witness, inputs=inputs)
    planes = picture.planes(slices)
    surface = picture.surface(solid)
    if not planes and surface is None:
        raise QueryError("there is nothing to draw", remedy="ask for slices, or for a network with three outputs")
    count = len(planes) + (surface is not None)
    columns = count if count < 4 else 2 if count == 4 else 3
    rows = -(-count // columns)
    figure = new_figure((PANEL * columns + 0.9, PANEL * rows + 0.5)) if figure is None else figure
    panels = [figure.add_subplot(rows, columns, k + 1) for k in range(len(planes))]
    if panels:
        picture.draw_slices(figure, panels, planes)
    if surface is not None:
        picture.draw_solid(figure.add_subplot(rows, columns, count, projection="3d"), *surface)
    if legend:
        figure.legend(handles=picture.entries(), loc="outside lower center", ncols=2, frameon=False, fontsize="small")
    return figure


class _Picture:
    """What all panels share."""

    def __init__(self, results: list[Result], window: Any, *, witness: bool, inputs: Sequence[str] | None) -> None:
        self.results, self.graph = results, results[0].graph
        self.center = np.asarray(results[0].center, dtype=np.float64)
        found = [r.witness for r in results if witness and r.witness is not None]
        self.pairs = [(_floats(pair.x), _floats(pair.y)) for pair in found]
        self.shown: Ball = window_of(results, window, [p for pair in self.pairs for p in pair], MARGIN)
        self.low, self.high = self.shown.box
        self.names = [f"x{index(i)}" for i in range(3)] if inputs is None else list(inputs)
        self._legend: dict[str, Any] = {}

    def entries(self) -> list[Any]:
        """Handles of the legend, each label once."""
        return [handle for label, handle in self._legend.items() if not label.startswith("_")]

    def _name(self, label: str, **look: Any) -> None:
        self._legend.setdefault(label, Line2D([], [], label=label, **look))

    # --- slices ------------------------------------------------------------------------------------------------------

    def planes(self, asked: Mapping[int, float | Sequence[float]] | None) -> list[Plane]:
        """The planes of the panels: as asked for, or through the centre."""
        given = {i: self.center[i] for i in (2, 1, 0)} if asked is None else asked
        found = [(axis, float(value)) for axis, values in given.items() for value in np.atleast_1d(values)]
        for axis, value in found:
            if axis not in (0, 1, 2):
                raise QueryError(f"there is no input {axis} to cut at", remedy="slices name inputs 0, 1 and 2")
            if not self.low[axis] <= value <= self.high[axis]:
                raise QueryError(
                    f"the slice {self.names[axis]} = {value:g} lies outside the picture, which goes from "
                    f"{self.low[axis]:g} to {self.high[axis]:g}",
                    remedy="choose a value in it, or a wider picture (--radius)",
                )
        return [Plane(self.shown, axis, value) for axis, value in found]

    def draw_slices(self, figure: Figure, panels: list[Axes], planes: list[Plane]) -> None:
        """All planes in common colours."""
        cells = [sliced(self.graph, plane) for plane in planes]
        ends = common_ends(cells)
        drawn: Any = None
        for ax, plane, cell in zip(panels, planes, cells, strict=True):
            smooth = isinstance(cell, SliceSamples)
            (draw_field if smooth else draw_regions)(ax, cell, colorbar=False, ends=ends)
            drawn = drawn or (ax.images[0] if smooth else ax.collections[0])
            self._draw_crossings(ax, cell)
            self._draw_marks(ax, plane)
            self._finish(ax, plane)
        colours = colouring(cells[0], ends)
        colours.decorate(figure.colorbar(drawn, ax=panels, label=colours.label, shrink=0.8, aspect=30, pad=0.05))

    def _draw_crossings(self, ax: Axes, cell: Any) -> None:
        """Where the plane crosses the fold set."""
        if (np.asarray(cell.signs) == 0).any() and not isinstance(cell, SliceSamples):
            self._legend.setdefault("singular cells", Patch(facecolor=SINGULAR, hatch="////", label="singular cells"))
        if isinstance(cell, SliceSamples):
            if cell.determinants is None or not np.ptp(np.sign(cell.determinants)) > 1:
                return
            heights = cell.determinants.reshape(cell.along, cell.along).T
            ax.contour(*cell.lines, heights, levels=[0.0], colors=INK, linewidths=1.6, zorder=FOLDS)
            self._name("det Df = 0 (in floats)", color=INK, linewidth=1.6)
        elif cell.determinants is not None and len(cell.segments):
            draw_segments(ax, cell.segments)
            self._name("fold set J₀", color=INK, linewidth=1.6)

    def _draw_marks(self, ax: Axes, plane: Plane) -> None:
        away = plane.value - self.center[plane.axis]
        for radius, kind, result, color in self._balls():
            left = _cross_section(radius, away, norm_of(result.norm))
            if left is None:
                continue
            sides = _domain(result, plane.free)
            draw_ball(ax, self.center[plane.free], left, result.norm, kind, sides, color=color, label="_ball")
        for pair in self.pairs:
            draw_witness(ax, *(point[plane.free] for point in pair))
            distance = max(abs(point[plane.axis] - plane.value) for point in pair)
            in_plane = distance <= NEAR * float((self.high - self.low).max())
            self._name_witness(" (projected onto slices)" if not in_plane else "")
        if abs(away) <= NEAR * float((self.high - self.low).max()):
            draw_center(ax, self.center[plane.free])
            self._name_center()

    def _name_center(self) -> None:
        self._name("centre c", linestyle="none", marker="o", color=MARK, markeredgecolor=INK, markersize=7)

    def _name_witness(self, how: str) -> None:
        if not any(label.startswith(WITNESS) for label in self._legend):
            self._name(WITNESS + how, color=INK, linestyle=":", marker="X", markerfacecolor="white", markersize=7)

    def _balls(self) -> Iterable[tuple[float, Kind, Result, str]]:
        for k, result in enumerate(self.results):
            color = BALLS[k % len(BALLS)]
            for radius, kind in brackets(result):
                words = ball_label(radius, result.norm, kind, result.problem, 3)
                self._name(words, color=color, linewidth=1.7, linestyle=LINES[kind])
                yield radius, kind, result, color

    def _finish(self, ax: Axes, plane: Plane) -> None:
        ax.set_xlim(plane.low[0], plane.high[0])
        ax.set_ylim(plane.low[1], plane.high[1])
        ax.set_xlabel(self.names[plane.free[0]])
        ax.set_ylabel(self.names[plane.free[1]])
        ax.set_title(f"{self.names[plane.axis]} = {plane.value:g}", fontsize="medium")
        ax.set_aspect("equal")

    # --- seen from outside -------------------------------------------------------------------------------------------

    def surface(self, solid: bool | None) -> tuple[list[Array], list[Array]] | None:
        """Facets of the fold set, and the corners of singular regions; None where they are not drawn."""
        if solid is False or (solid is None and self.graph.output_dim != 3):
            return None
        if Network(self.graph).has_curves and self.graph.output_dim == 3:
            return list(zero_surface(self.graph, self.shown)), []
        try:
            found = ircert.fold_set(self.graph, self.shown)
        except QueryError as refused:
            if solid:
                raise
            warnings.warn(f"the fold set is not drawn from outside: {refused}", stacklevel=3)
            return None
        return found.facets, found.singular

    def draw_solid(self, ax: Any, facets: list[Array], singular: list[Array]) -> None:
        """The fold set, the balls, the centre and the witnesses."""
        draw_singular_solids(ax, singular)
        smooth = Network(self.graph).has_curves
        self._patch(("fold set, in floats" if smooth else "fold facets") if facets else "_none")
        draw_fold_facets(ax, facets)
        for radius, kind, result, color in self._balls():
            draw_solid_ball(ax, self.center, radius, result.norm, kind, _domain(result, [0, 1, 2]), color=color)
        draw_solid_marks(ax, self.center, self.pairs)
        self._name_center()
        if self.pairs:
            self._name_witness("")
        finish_solid(ax, self.low, self.high, self.names)
        ax.set_title("the fold set" if facets else "no fold here", fontsize="medium")

    def _patch(self, label: str) -> None:
        self._legend.setdefault(label, Patch(facecolor=FOLD_RED, alpha=0.6, label=label))


def _cross_section(radius: float, away: float, norm: str) -> float | None:
    """The radius of the disc that a plane cuts out of a ball; None if it misses the ball."""
    if not abs(away) <= radius:
        return None
    if norm == "inf" or not np.isfinite(radius):
        return radius
    return radius - abs(away) if norm == "1" else float(np.sqrt(radius**2 - away**2))


def _domain(result: Result, free: list[int]) -> tuple[Array, Array]:
    sides = (-np.inf, np.inf) if result.domain is None else result.domain
    low, high = (np.broadcast_to(np.asarray(side, dtype=np.float64), 3)[free] for side in sides)
    return low, high


def _floats(point: Any) -> Array:
    """Coordinates may be fractions."""
    return np.array(point, dtype=np.float64)
