"""A pair of images with one output: both of them, their difference, and what the networks say about each."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ircert.errors import QueryError
from ircert.ir.arrays import Array
from ircert.plotting.figure import new_figure
from ircert.plotting.style import BALLS, FOLD_RED

WIDTH = 9.6
HEIGHT = 3.2
"""Inches of a row of panels."""


def image_shape(given: Any, inputs: int) -> tuple[int, ...]:
    """The shape of images from (8, 8), (28, 28, 3) or "8x8"; QueryError unless it has as many numbers as inputs."""
    try:
        parts = given.lower().split("x") if isinstance(given, str) else given
        shape = tuple(int(part) for part in parts)
    except (TypeError, ValueError):
        shape = ()
    if len(shape) not in (2, 3) or min(shape) < 1 or (len(shape) == 3 and shape[2] not in (1, 3)):
        raise QueryError(f"there is no image of shape {given!r}", remedy="write rows and columns, as in 8x8 or 32x32x3")
    if int(np.prod(shape)) != inputs:
        raise QueryError(
            f"an image {'x'.join(map(str, shape))} has {int(np.prod(shape))} numbers, the result {inputs} inputs",
            remedy="give the shape of the network's input",
        )
    return shape


def plot_pair(result: Any, image: Any, figure: Figure | None = None) -> Figure:
    """Draw the witness of a result whose inputs are images: x, y, x - y, and the outputs of the networks at both.

    image: the shape of an input, (rows, columns) or "8x8"; with three numbers the last one is that of channels
    The outputs are those of the networks that the result knows; one that was read from JSON alone has none.
    """
    pair = result.witness
    if pair is None:
        raise QueryError("the result has no pair to draw", remedy="ask for one: certify(..., radius=…, optimum=True)")
    shape = image_shape(image, len(pair.x))
    networks = [(n, g) for n, g in (("f", result.graph), ("g", result.other_graph)) if g is not None]
    figure = new_figure((WIDTH, HEIGHT * (2 if networks else 1))) if figure is None else figure
    rows = figure.subfigures(2 if networks else 1, 1, squeeze=False)[:, 0]
    x, y = (np.asarray(point, dtype=np.float64).reshape(shape) for point in (pair.x, pair.y))
    _draw_images(figure, list(rows[0].subplots(1, 3)), x, y)
    if networks:
        for ax, (name, graph) in zip(rows[1].subplots(1, len(networks), squeeze=False)[0], networks, strict=True):
            _draw_outputs(ax, name, np.asarray(graph(pair.x)), np.asarray(graph(pair.y)))
    figure.suptitle(_title(result), fontsize="medium")
    return figure


def _draw_images(figure: Figure, panels: list[Axes], x: Array, y: Array) -> None:
    low, high = min(x.min(), y.min()), max(x.max(), y.max())
    reach = float(np.abs(x - y).max()) or 1.0
    for ax, name, values in zip(panels, ("x", "y"), (x, y), strict=False):
        ax.imshow(_plain(values), cmap="gray", vmin=low, vmax=high)
        ax.set_title(name)
    gap = x - y if x.ndim == 2 else np.abs(x - y).max(axis=2) * np.sign((x - y).sum(axis=2))
    drawn = panels[2].imshow(gap, cmap="RdBu_r", vmin=-reach, vmax=reach)
    panels[2].set_title("x − y")
    panels[2].figure.colorbar(drawn, ax=panels[2], shrink=0.8)
    for ax in panels:
        ax.set_xticks([])
        ax.set_yticks([])


def _plain(values: Array) -> Array:
    """One channel as two dimensions; three as they are, from 0 to 1."""
    if values.ndim == 2:
        return values
    return values[:, :, 0] if values.shape[2] == 1 else np.clip(values, 0.0, 1.0)


def _draw_outputs(ax: Axes, name: str, at_x: Array, at_y: Array) -> None:
    places = np.arange(len(at_x))
    ax.bar(places - 0.2, at_x, 0.4, color=BALLS[0], label=f"{name}(x)")
    ax.bar(places + 0.2, at_y, 0.4, color=FOLD_RED, label=f"{name}(y)")
    ax.axhline(0.0, color="black", linewidth=0.6)
    if len(places) <= 20:
        ax.set_xticks(places)
    ax.set_xlabel(f"outputs of {name}")
    ax.legend(frameon=False, fontsize="small")


def _title(result: Any) -> str:
    apart = f"{result.witness.separation:.4g}"
    if result.problem == "transform":
        words = f"equal outputs of f, outputs of g {apart} apart"
    else:
        words = f"equal outputs, inputs {apart} apart"
    if result.optimum is None:
        return f"{words} (norm {result.norm})"
    norm = result.norm if result.optimum.norm is None else result.optimum.norm
    return f"{words} (norm {result.norm}); p* in [{result.optimum.value:.4g}, {result.optimum.bound:.4g}] (norm {norm})"
