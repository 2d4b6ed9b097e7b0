"""The fold set J0 of two inputs: facets where the determinant changes sign, singular cells, winding points."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from ircert.plotting.data import Folds
from ircert.plotting.regions import draw_singular
from ircert.plotting.style import FOLDS, INK, halo


def draw_folds(ax: Axes, folds: Folds, *, singular: bool = True, color: str = INK, label: str = "fold set J₀") -> Axes:
    """Fold facets as lines, winding points as stars, and singular cells unless the regions show them already."""
    if singular:
        draw_singular(ax, [np.asarray(polygon) for polygon in folds.singular])
    segments = np.asarray(folds.segments, dtype=np.float64)
    if len(segments):
        lines = LineCollection(
            list(segments.reshape(-1, 2, 2)),
            colors=color,
            linewidths=1.6,
            capstyle="round",
            path_effects=halo(1.6, 0.7),
            zorder=FOLDS,
            label=label,
            gid="folds",
        )
        ax.add_collection(lines)
        ax.autoscale_view()
    points = np.asarray(folds.points, dtype=np.float64).reshape(-1, 2)
    if len(points):
        ax.plot(
            points[:, 0],
            points[:, 1],
            linestyle="none",
            marker="*",
            markersize=9,
            markerfacecolor="white",
            markeredgecolor=color,
            zorder=FOLDS,
            label="winding points",
            gid="winding",
        )
    return ax
