"""Figures: where they come from, and how they become files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ircert.errors import FileError
from ircert.files import check_writable, replacing

FORMATS = {".png": "png", ".svg": "svg", ".pdf": "pdf"}
METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": "ircert"},
    "png": {"Software": "ircert"},
    "pdf": {"CreationDate": None, "Creator": "ircert"},
}
SIZE = (6.4, 5.6)
"""Inches."""


def new_axes(size: tuple[float, float] = SIZE, *, pyplot: bool | None = None) -> Axes:
    """Axes on a figure of their own.

    In notebooks, IPython, and programs that have imported pyplot, the figure is pyplot's: it shows itself (or waits for
    `plt.show()`) and is closed as other figures are. Everywhere else it is a plain Figure, which needs no display and
    is freed with its last reference. `pyplot` says which one it shall be.
    """
    return new_figure(size, pyplot=pyplot).add_subplot()


def new_figure(size: tuple[float, float] = SIZE, *, pyplot: bool | None = None) -> Figure:
    """A figure for several panels; `pyplot` as for `new_axes`."""
    if pyplot is None:
        pyplot = "matplotlib.pyplot" in sys.modules or in_ipython()
    return _figure_class(pyplot)(figsize=size, layout="constrained")


def new_panels(columns: int, rows: int = 1, size: tuple[float, float] = SIZE) -> list[Axes]:
    """Axes side by side, row by row, on one plain figure; `size` is the figure's."""
    return list(Figure(figsize=size, layout="constrained").subplots(rows, columns, squeeze=False).flat)


def add_legend(ax: Axes, *, columns: int = 2, below: float = 0.11) -> None:
    """Below the axes, where it covers nothing, with what is seen in them; `below` is a share of their height."""
    entries = [(h, label) for h, label in zip(*ax.get_legend_handles_labels(), strict=True) if _is_seen(ax, h)]
    ax.legend(
        [h for h, _ in entries],
        [label for _, label in entries],
        loc="upper center",
        bbox_to_anchor=(0.5, -below),
        ncols=columns,
        frameon=False,
        fontsize="small",
    )


def _is_seen(ax: Axes, drawn: Any) -> bool:
    """Whether some of a line or point lies in what the axes show; an outline around all of it counts."""
    if not isinstance(drawn, Line2D) or not all(drawn.get_transform().contains_branch_seperately(ax.transData)):
        return True  # an area or a collection, which is made of what is shown, or a line from side to side
    path = drawn.get_path()
    points = np.asarray(path.vertices)
    if not len(points):
        return True  # it is there for the legend
    is_outline = len(points) > 2 and bool((points[0] == points[-1]).all())
    return bool(ax.viewLim.count_contains(points)) or path.intersects_bbox(ax.viewLim, is_outline)


def _figure_class(pyplot: bool) -> Callable[..., Figure]:
    if not pyplot:
        return Figure
    from matplotlib.pyplot import figure

    return figure


def in_ipython() -> bool:
    """Whether an IPython shell or a notebook's kernel runs this program."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and ipython.get_ipython() is not None


def save(drawn: Any, path: str | os.PathLike[str], *, dpi: float = 200) -> None:
    """Write a figure (or the figure of these axes) as .png, .svg or .pdf, whole or not at all.

    The same figure gives the same bytes: no date, no random ids. Text in .svg and .pdf stays text.
    """
    kind = check_picture(path)
    figure = drawn.figure.figure if isinstance(drawn, Axes) else drawn
    texts = {"svg.hashsalt": "ircert", "svg.fonttype": "none", "pdf.fonttype": 42}
    with replacing(path) as file, matplotlib.rc_context(texts):
        figure.savefig(file, format=kind, dpi=dpi, metadata=METADATA[kind], bbox_inches="tight", pad_inches=0.05)


def check_picture(path: str | os.PathLike[str]) -> str:
    """The format of a picture's file; FileError unless one could be written there."""
    kind = FORMATS.get(Path(path).suffix.lower())
    if kind is None:
        raise FileError("unknown kind of picture", path=path, remedy=f"use a name ending in {' or '.join(FORMATS)}")
    check_writable(path)
    return kind
