"""Colours, widths and layers of all pictures: told apart by colour-blind readers and in print."""

from __future__ import annotations

from typing import Any

from matplotlib.patheffects import Normal, Stroke

INK = "#111111"
GREY = "#bdbdbd"
SINGULAR = "#d9d9d9"
BALLS = ("#00694d", "#5b2a86", "#8a5a00", "#0b3c5d", "#a3195b", "#4d5b00")
"""One after the other for several balls in one picture; none of them is near the blue and red of the cells."""
MARK = "#ffd92f"
OPEN = "#e66101"
"""What is undecided."""

ATTRACTOR = "#e08214"
FOLD_RED = "#c1121f"
"""The fold set where no cells are drawn below it."""
LOOP_COLOURS = ("#1b7837", "#762a83")
"""Of the loops of extra preimages."""

CELLS, FOLDS, LOOPS, OUTLINES, MARKS, CENTER = 1.0, 2.0, 2.5, 3.0, 4.0, 5.0
"""Layers (zorder), bottom to top."""

MANY_CELLS = 5000
"""From here on cells have no edges and are pixels in vector files."""


def halo(width: float, around: float = 1.1) -> list[Any]:
    """A white rim that keeps a line of this width readable on any cell."""
    return [Stroke(linewidth=width + 2 * around, foreground="white"), Normal()]


def edge_width(cells: int) -> float:
    """The width of cell edges in points: thinner with the number of cells, until they vanish."""
    if cells > MANY_CELLS:
        return 0.0
    return 0.5 * min(1.0, (200 / max(cells, 1)) ** 0.5)


def index(i: int) -> str:
    """A number as a subscript."""
    return str(i).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))
