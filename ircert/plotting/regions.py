"""The linear regions of two inputs as coloured polygons."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection

from ircert.errors import QueryError
from ircert.plotting.colour import Colouring, colouring
from ircert.plotting.data import Regions
from ircert.plotting.style import CELLS, INK, MANY_CELLS, SINGULAR, edge_width


def draw_regions(
    ax: Axes,
    regions: Regions,
    *,
    colorbar: bool = True,
    edges: bool = True,
    ends: tuple[float, float] | None = None,
) -> Axes:
    """Colour each cell by det Df (by the smallest singular value where there is no determinant); singular ones grey.

    Edges thin out with the number of cells; more than 5000 cells become pixels in vector files. `ends` are the sizes
    that colours tell apart (by default, those of the cells).
    """
    points = np.asarray(regions.points, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise QueryError("regions of two inputs are drawn as polygons", remedy="use `draw_graph` for one input")
    colours = colouring(regions, ends)
    polygons = [points[ids] for ids in regions.polygons]
    regular = [p for p, singular in zip(polygons, colours.singular, strict=True) if not singular]
    width = edge_width(len(polygons)) if edges else 0.0
    cells = PolyCollection(
        regular,
        array=colours.values[~colours.singular],
        cmap=colours.cmap,
        norm=colours.norm,
        gid="cells",
        **_edges(width, len(polygons)),
    )
    ax.add_collection(cells)
    draw_singular(ax, [p for p, singular in zip(polygons, colours.singular, strict=True) if singular], width)
    ax.set_aspect("equal")
    ax.margins(0)
    ax.autoscale_view()
    if colorbar and regular:
        draw_colorbar(ax, cells, colours)
    return ax


def draw_colorbar(ax: Axes, drawn: Any, colours: Colouring) -> None:
    """Beside the axes: what the colours mean."""
    beside = ax.inset_axes((1.04, 0.0, 0.045, 1.0))  # as high as the axes, however much of the figure they leave
    colours.decorate(ax.figure.colorbar(drawn, cax=beside, label=colours.label))


def draw_singular(ax: Axes, polygons: list[Any], width: float = 0.5) -> None:
    """Cells on which f is not injective: grey and hatched."""
    if polygons:
        ax.add_collection(
            PolyCollection(
                polygons,
                facecolors=SINGULAR,
                hatch="////",
                label="singular cells",
                gid="singular",
                **_edges(width, len(polygons), hatched=True),
            )
        )


def _edges(width: float, cells: int, hatched: bool = False) -> dict[str, Any]:
    """Cells without edges get hairlines in their own colour: renderers leave white seams between polygons."""
    own = width == 0 and not hatched  # the colour of edges is the colour of hatches
    return {
        "edgecolors": "face" if own else (INK, 0.45),
        "linewidths": 0.25 if own else width,
        "rasterized": cells > MANY_CELLS,
        "zorder": CELLS,
    }
