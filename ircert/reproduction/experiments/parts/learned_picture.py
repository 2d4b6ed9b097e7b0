"""One picture of a learned map: J0 and attractor beside those of the map, and the squares with preimages."""

from __future__ import annotations

from typing import Any

import numpy as np

from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.plotting import add_legend, draw_ball, draw_center, draw_curve, draw_folds, draw_points, new_panels
from ircert.plotting.samples import Samples, draw_field
from ircert.plotting.style import ATTRACTOR, BALLS, FOLD_RED, INK
from ircert.reproduction.experiments.parts.learned_map import MARGIN, Study
from ircert.reproduction.frame.answers import radius

SIGNS = {1: ("^", "#1b7837"), -1: ("v", "#762a83")}
"""Of preimages, by orientation."""


def picture(found: Study, inputs: tuple[str, str]) -> Any:
    """Left: the network where it learned, with the map's curves. Right: squares, and preimages of the attractor."""
    left, right = new_panels(2, size=(13.0, 6.6))
    low, high = found.learned.box.low - MARGIN, found.learned.box.high + MARGIN
    _background(left, found, found.curves.folds, low, high)
    for i, line in enumerate(found.curves.lines):
        draw_curve(left, line, color=FOLD_RED, line="--", label=f"{'_' * (i > 0)}J₀ of the Euler map")
    draw_curve(left, found.curves.true_circle, color=INK, closed=True, line=":", label="attractor of the Euler map")
    corners = _corners(*found.learned.box)
    draw_curve(left, corners, closed=True, color="#7f7f7f", label="where it learned")
    _background(right, found, found.far_folds, *found.learned.window, colorbar=True)
    _preimages(right, found)
    _squares(right, found)
    for ax in (left, right):
        ax.set(xlabel=inputs[0], ylabel=inputs[1])
        ax.set_aspect("equal")
        add_legend(ax)
    return left.figure


def _background(ax: Any, found: Study, folds: Any, low: Any, high: Any, *, colorbar: bool = False) -> None:
    middle = (low + high) / 2
    window = Ball(middle, float((high - low).max()), Norm.INF, low, high)
    draw_field(ax, Samples(found.learned.network, window), colorbar=colorbar)
    draw_folds(ax, folds, label="J₀ of the network")
    draw_curve(ax, found.curves.circle, color=ATTRACTOR, closed=True, rim=True, label="attractor of the network")
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))


def _preimages(ax: Any, found: Study) -> None:
    points = [(p.point, p.orientation) for fibre in found.fibres for p in fibre.found]
    for sign, (marker, color) in SIGNS.items():
        mine = [point for point, orientation in points if orientation == sign]
        word = "+" if sign > 0 else "−"
        if mine:
            label = f"preimages of the attractor, det {word}"
            draw_points(ax, mine, marker=marker, color=color, size=4.0, rim=False, label=label)


def _squares(ax: Any, found: Study) -> None:
    center = found.learned.center
    draw_ball(ax, center, radius(found.local), color=BALLS[0])
    if np.isfinite(found.other[0]):
        draw_ball(ax, center, found.other[0], problem="pseudo", color=BALLS[1])
    others = [p.point for p in found.same if np.abs(p.point - center).max() > 1e-9]
    if others:
        draw_points(ax, others, marker="D", size=7, label="other preimages of f(c)")
    draw_center(ax, center)


def _corners(low: Any, high: Any) -> Any:
    return np.array([[low[0], low[1]], [high[0], low[1]], [high[0], high[1]], [low[0], high[1]]])
