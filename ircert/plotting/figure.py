"""Figures: where they come from, and how they become files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ircert.errors import FileError
from ircert.files import check_writable, replacing

FORMATS = {".png": "png", ".svg": "svg"}
SIZE = (6.4, 5.6)
"""Inches."""


def new_axes(size: tuple[float, float] = SIZE, *, pyplot: bool | None = None) -> Axes:
    """Axes on a figure of their own.

    In notebooks, IPython, and programs that have imported pyplot, the figure is pyplot's: it shows itself (or waits for
    `plt.show()`) and is closed as other figures are. Everywhere else it is a plain Figure, which needs no display and
    is freed with its last reference. `pyplot` says which one it shall be.
    """
    if pyplot is None:
        pyplot = "matplotlib.pyplot" in sys.modules or in_ipython()
    return _figure_class(pyplot)(figsize=size, layout="constrained").add_subplot()


def new_panels(columns: int, rows: int = 1, size: tuple[float, float] = SIZE) -> list[Axes]:
    """Axes side by side, row by row, on one plain figure; `size` is the figure's."""
    return list(Figure(figsize=size, layout="constrained").subplots(rows, columns, squeeze=False).flat)


def add_legend(ax: Axes, *, columns: int = 2, below: float = 0.11) -> None:
    """Below the axes, where it covers nothing; `below` is a share of their height."""
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -below), ncols=columns, frameon=False, fontsize="small")


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
    """Write a figure (or the figure of these axes) as .png or .svg, whole or not at all.

    The same figure gives the same bytes: no date, no random ids. Text in .svg stays text.
    """
    kind = check_picture(path)
    figure = drawn.figure.figure if isinstance(drawn, Axes) else drawn
    metadata = {"svg": {"Date": None, "Creator": "ircert"}, "png": {"Software": "ircert"}}[kind]
    with replacing(path) as file, matplotlib.rc_context({"svg.hashsalt": "ircert", "svg.fonttype": "none"}):
        figure.savefig(file, format=kind, dpi=dpi, metadata=metadata, bbox_inches="tight", pad_inches=0.05)


def check_picture(path: str | os.PathLike[str]) -> str:
    """The format of a picture's file; FileError unless one could be written there."""
    kind = FORMATS.get(Path(path).suffix.lower())
    if kind is None:
        raise FileError("unknown kind of picture", path=path, remedy=f"use a name ending in {' or '.join(FORMATS)}")
    check_writable(path)
    return kind
