"""Curves and marked points in the plane: orbits, curves of zeros, loops of preimages."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ircert.plotting.style import INK, LOOPS, MARKS, halo


def draw_curve(
    ax: Axes,
    points: Any,
    *,
    color: str = INK,
    label: str | None = None,
    closed: bool = False,
    line: str = "-",
    rim: bool = False,
) -> Axes:
    """A line through points (rows x, y), back to the first if it is closed; rows with NaN interrupt it.

    rim: a white one, to be read on coloured cells
    """
    rows = np.asarray(points, dtype=np.float64).reshape(-1, 2)
    if closed and len(rows):
        rows = np.vstack([rows, rows[:1]])
    effects = halo(1.6, 0.9) if rim else None
    ax.plot(
        *rows.T,
        color=color,
        linestyle=line,
        linewidth=1.6,
        path_effects=effects,
        zorder=LOOPS,
        label=label,
        gid="curve",
    )
    return ax


def draw_points(
    ax: Axes,
    points: Any,
    *,
    marker: str = "o",
    color: str = INK,
    size: float = 6.0,
    rim: bool = True,
    label: str | None = None,
) -> Axes:
    """Points (rows x, y) of one kind, with white rims."""
    rows = np.asarray(points, dtype=np.float64).reshape(-1, 2)
    edge: dict[str, Any] = {"markeredgewidth": 2.0 if marker in "+x" else 0.0}
    if rim and marker not in "+x":
        edge = {"markeredgecolor": "white", "markeredgewidth": 0.7}
    style: dict[str, Any] = {"marker": marker, "markersize": size, "color": color, **edge}
    ax.plot(*rows.T, linestyle="none", **style, zorder=MARKS, label=label, gid="points")
    return ax


def draw_name(ax: Axes, point: Any, name: str, *, shift: tuple[float, float] = (6, 5), color: str = INK) -> Axes:
    """A name beside a point; the shift is in points of print."""
    where = (float(point[0]), float(point[1]))
    behind = {"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 0.8}
    ax.annotate(
        name,
        where,
        xytext=shift,
        textcoords="offset points",
        color=color,
        fontsize=10,
        zorder=MARKS + 1,
        bbox=behind,
        clip_on=True,
        annotation_clip=True,
    )
    return ax
