"""Networks of one input: the graph of each output, with its turning points."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from ircert.errors import QueryError
from ircert.plotting.data import Folds, Regions
from ircert.plotting.style import CELLS, FOLDS, INK, index

RISING, FALLING, FLAT = "#b2182b", "#2166ac", "#7f7f7f"
OUTPUTS = ("#2166ac", "#b2182b", "#7f7f7f", "#00694d", "#5b2a86")


def draw_graph(ax: Axes, regions: Regions, *, color: str | None = None) -> Axes:
    """f over the pieces of one input: one output in the colours of its slope (or in `color`), several in one each."""
    points = np.asarray(regions.points, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 1:
        raise QueryError("graphs are drawn of one input", remedy="use `draw_regions` for two inputs")
    ends = np.array([points[ids, 0] for ids in regions.polygons]).reshape(-1, 2)
    matrices, offsets = np.asarray(regions.matrices), np.asarray(regions.offsets)
    values = matrices[:, :, 0, None] * ends[:, None, :] + offsets[:, :, None]  # piece, output, end
    outputs = values.shape[1]
    for j in range(outputs):
        lines = np.stack([ends, values[:, j]], axis=-1)
        if color is not None:
            _lines(ax, lines, color, "f" if outputs == 1 else f"f{index(j)}")
        elif outputs == 1:
            signs = np.sign(np.asarray(regions.signs))
            for sign, color, label in ((1, RISING, "rising"), (-1, FALLING, "falling"), (0, FLAT, "constant")):
                _lines(ax, lines[signs == sign], color, label)
        else:
            _lines(ax, lines, OUTPUTS[j % len(OUTPUTS)], f"f{index(j)}")
    ax.autoscale_view()
    return ax


def _lines(ax: Axes, lines: Any, color: str, label: str) -> None:
    if len(lines):
        ax.add_collection(
            LineCollection(
                list(lines), colors=color, linewidths=1.8, capstyle="round", zorder=CELLS, label=label, gid="graph"
            )
        )


def draw_turning_points(ax: Axes, graph: Any, folds: Folds) -> Axes:
    """Where the graph turns back, on each output."""
    segments = np.asarray(folds.segments, dtype=np.float64)
    if len(segments):
        where = np.unique(segments.reshape(len(segments), -1)[:, 0])
        style: dict[str, Any] = {"marker": "s", "markersize": 5, "markerfacecolor": "white", "markeredgecolor": INK}
        points = lifted(graph, where).reshape(-1, 2)
        ax.plot(*points.T, linestyle="none", **style, zorder=FOLDS, label="turning points", gid="folds")
    return ax


def lifted(graph: Any, x: Any) -> Any:
    """The points (x, f_j(x)) of the graph: outputs by points by 2."""
    x = np.array(x, dtype=np.float64).reshape(-1)
    values = graph(x[:, None])
    return np.stack([np.broadcast_to(x, values.T.shape), values.T], axis=-1)
