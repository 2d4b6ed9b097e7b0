"""The fold set J0 of two inputs: facets or curves where the determinant changes sign, singular cells, winding."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection

from ircert.plotting.data import Folds
from ircert.plotting.regions import draw_singular
from ircert.plotting.style import FOLDS, GREY, INK, OPEN, halo


def draw_folds(ax: Axes, folds: Folds, *, singular: bool = True, color: str = INK, label: str = "fold set J₀") -> Axes:
    """Fold facets or curves as lines, winding points as stars, and singular cells unless the regions show them already;
    of a smooth network, the boxes that hold the fold set as a band, and undecided ones as squares."""
    draw_boxes(ax, folds)
    if singular:
        draw_singular(ax, [np.asarray(polygon) for polygon in folds.singular])
    draw_segments(ax, folds.segments, color=color, label=label)
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


def draw_segments(ax: Axes, segments: Any, *, color: str = INK, label: str = "fold set J₀") -> None:
    """Lines (S, 2, 2) with a white rim."""
    segments = np.asarray(segments, dtype=np.float64)
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


def draw_boxes(ax: Axes, folds: Folds) -> None:
    """Boxes that hold the fold set of a smooth network; those without a proof that it crosses them stand out."""
    for name, colour, label in (("boxes", GREY, "_boxes"), ("undecided", OPEN, "undecided boxes")):
        boxes = np.asarray(getattr(folds, name, ()), dtype=np.float64)
        if len(boxes):
            corners = np.stack([boxes[:, [0, 1, 1, 0], 0], boxes[:, [0, 0, 1, 1], 1]], axis=-1)
            style: dict[str, Any] = {"facecolors": (colour, 0.5), "edgecolors": colour, "linewidths": 0.3}
            squares = PolyCollection(list(corners), **style, zorder=FOLDS - 0.2, label=label, gid=f"fold-{name}")
            ax.add_collection(squares)
