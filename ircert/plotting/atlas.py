"""An atlas as one picture: a heat map of radii with fold set and attractor, or curves along a trajectory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

import ircert
from ircert.errors import QueryError
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.plotting.figure import add_legend, new_axes
from ircert.plotting.folds import draw_folds
from ircert.plotting.style import ATTRACTOR, BALLS, CELLS, FOLD_RED, MARKS, index

TRANSIENT, SHOWN = 2_000, 3_000
"""Iterates that are left out, and those that are drawn as the attractor."""
REPEATED = 1e-9
"""Iterates closer than this are one point."""


class Atlas(Protocol):
    """Brackets at many centres."""

    @property
    def asked(self) -> Any: ...
    @property
    def layout(self) -> Any: ...
    @property
    def centers(self) -> NDArray[Any]: ...
    @property
    def certified(self) -> NDArray[Any]: ...
    @property
    def refuted(self) -> NDArray[Any]: ...


def plot_atlas(
    atlas: Atlas,
    ax: Axes | None = None,
    what: Literal["certified", "refuted"] = "certified",
    *,
    folds: bool = True,
    attractor: bool = True,
    slices: Mapping[int, int] | None = None,
    legend: bool = True,
) -> Axes:
    """Draw the radii of an atlas.

    A trajectory becomes both ends of the brackets, step by step. Centres of two inputs become a heat map, with the
    fold set and the attractor of the network where it has as many outputs as inputs. Of a grid with more inputs a
    slice is drawn through two of them: `slices` says at which number of the grid others are held (in the middle
    where it says nothing); the two that vary are the first ones that it does not name.
    """
    if what not in ("certified", "refuted"):
        raise QueryError(f"what is drawn is certified or refuted, got {what!r}")
    ax = new_axes() if ax is None else ax
    if atlas.layout.kind == "trajectory" or atlas.centers.shape[1] == 1:
        return _curves(atlas, ax, legend=legend)
    if atlas.centers.shape[1] > 2 and not atlas.layout.axes:
        raise QueryError(
            "centres of more than two inputs are drawn along a trajectory or as slices of a grid",
            remedy="ask for a grid, or plot the columns of the table",
        )
    return _map(atlas, ax, what, folds=folds, attractor=attractor, slices=dict(slices or {}), legend=legend)


def _curves(atlas: Atlas, ax: Axes, *, legend: bool) -> Axes:
    """Both ends of the brackets over the steps, or over the one input."""
    line = atlas.centers.shape[1] == 1 and atlas.layout.kind != "trajectory"
    at = atlas.centers[:, 0] if line else np.arange(len(atlas.centers))
    order = np.argsort(at, kind="stable")
    low = np.where(np.isfinite(atlas.certified), atlas.certified, np.nan)
    ax.plot(at[order], low[order], color=BALLS[0], linewidth=1.2, label="certified", gid="certified")
    ax.plot(at[order], atlas.refuted[order], color=FOLD_RED, linewidth=0.9, linestyle=(0, (4, 2)), label="refuted")
    ax.fill_between(at[order], low[order], atlas.refuted[order], color=FOLD_RED, alpha=0.15, linewidth=0)
    ax.set_xlabel(f"x{index(0)}" if line else "step")
    ax.set_ylabel("largest good radius")
    ax.set_ylim(bottom=0)
    ax.set_title(_title(atlas), fontsize="medium")
    if legend:
        add_legend(ax, below=0.14)
    return ax


def _map(
    atlas: Atlas, ax: Axes, what: str, *, folds: bool, attractor: bool, slices: dict[int, int], legend: bool
) -> Axes:
    values = np.asarray(getattr(atlas, what), dtype=np.float64)
    values = np.where(np.isfinite(values), values, np.nan)
    two, held = _shown(atlas, slices)
    if atlas.layout.axes:
        sides = atlas.layout.axes
        grid = values.reshape(tuple(map(len, sides)))
        where = tuple(held.get(i, slice(None)) for i in range(len(sides)))
        drawn: Any = ax.pcolormesh(
            sides[two[0]],
            sides[two[1]],
            grid[where].T,
            cmap="viridis",
            shading="nearest",
            zorder=CELLS,
            rasterized=True,
        )
    else:
        points = atlas.centers[:, two]
        drawn = ax.scatter(points[:, 0], points[:, 1], c=values, cmap="viridis", s=9, zorder=CELLS, gid="centers")
    ax.figure.colorbar(drawn, ax=ax, label=f"{what} radius, norm {atlas.asked.norm}")
    low, high = atlas.centers[:, two].min(axis=0), atlas.centers[:, two].max(axis=0)
    graph = atlas.asked.graph
    if not held and graph.input_dim == graph.output_dim == 2:
        if folds:
            _draw_folds(ax, graph, low, high)
        if attractor:
            _draw_attractor(ax, graph, low, high)
    rim = 0.01 * (high - low) + 1e-300
    ax.set_xlim(low[0] - rim[0], high[0] + rim[0])
    ax.set_ylim(low[1] - rim[1], high[1] + rim[1])
    ax.set_xlabel(f"x{index(two[0])}")
    ax.set_ylabel(f"x{index(two[1])}")
    others = [f"x{index(i)} = {atlas.layout.axes[i][k]:g}" for i, k in held.items()]
    ax.set_title(", ".join([_title(atlas), *others]), fontsize="medium")
    if legend and ax.get_legend_handles_labels()[0]:
        add_legend(ax, below=0.14)
    return ax


def _shown(atlas: Atlas, slices: dict[int, int]) -> tuple[list[int], dict[int, int]]:
    """The two inputs that vary, and at which number of the grid the others are held."""
    size = atlas.centers.shape[1]
    for i, k in slices.items():
        if not (0 <= i < size and atlas.layout.axes and -len(atlas.layout.axes[i]) <= k < len(atlas.layout.axes[i])):
            raise QueryError(f"there is no slice {k} of input {i}", remedy="slices name inputs and numbers of a grid")
    two = [i for i in range(size) if i not in slices][:2]
    if len(two) < 2:
        raise QueryError("a picture needs two inputs that vary", remedy="leave two of them out of slices")
    rest = [i for i in range(size) if i not in two]
    return two, {i: slices.get(i, len(atlas.layout.axes[i]) // 2) for i in rest}


def _draw_folds(ax: Axes, graph: Any, low: NDArray[Any], high: NDArray[Any]) -> None:
    if not (high > low).all():
        return
    ball = Ball((low + high) / 2, float((high - low).max()), Norm.INF, low, high)
    draw_folds(ax, ircert.fold_set(graph, ball), color=FOLD_RED)


def _draw_attractor(ax: Axes, graph: Any, low: NDArray[Any], high: NDArray[Any]) -> None:
    """Late iterates of a few points inside the picture, as far as they stay in it."""
    starts = low + np.array([[0.5, 0.5], [0.3, 0.6], [0.7, 0.4]]) * (high - low)
    with np.errstate(all="ignore"):
        points = starts
        for _ in range(TRANSIENT):
            points = np.asarray(graph(points))
        late = []
        for _ in range(SHOWN):
            points = np.asarray(graph(points))
            late.append(points)
    every = np.concatenate(late)
    every = every[np.isfinite(every).all(axis=1)]
    every = every[((every >= low) & (every <= high)).all(axis=1)]
    if not len(every):
        return
    spread = float(np.ptp(every, axis=0).max())
    size = 40.0 if spread <= REPEATED * float((high - low).max()) else 2.0
    ax.scatter(every[:, 0], every[:, 1], s=size, color=ATTRACTOR, linewidths=0, zorder=MARKS, label="attractor")


def _title(atlas: Atlas) -> str:
    return f"{atlas.asked.problem}: largest good radius at {len(atlas.centers)} centres"
