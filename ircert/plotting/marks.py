"""Points of the input plane: centre, witness and preimages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ircert.ir.arrays import Array
from ircert.plotting.data import Preimage
from ircert.plotting.style import CENTER, INK, MARK, MARKS, OPEN, halo


def draw_center(ax: Axes, center: Any, *, label: str = "centre c") -> Axes:
    """The centre of the balls: one point or several rows."""
    points = _points(center)
    style: dict[str, Any] = {
        "marker": "o",
        "markersize": 7,
        "markerfacecolor": MARK,
        "markeredgecolor": INK,
        "markeredgewidth": 1.0,
    }
    ax.plot(*points.T, linestyle="none", **style, zorder=CENTER, label=label, gid="center")
    return ax


def draw_witness(ax: Axes, x: Any, y: Any, *, label: str = "witness: f(x) = f(y)") -> Axes:
    """Two points with one value, joined by a dotted line."""
    pair = np.vstack([_points(x), _points(y)])
    ax.plot(
        *pair.T,
        color=INK,
        linestyle=":",
        linewidth=1.2,
        marker="X",
        markersize=7,
        markerfacecolor="white",
        markeredgecolor=INK,
        path_effects=halo(1.2, 0.6),
        zorder=MARKS,
        label=label,
        gid="witness",
    )
    return ax


def draw_turned(ax: Axes, points: Any, *, label: str = "det of the other sign") -> Axes:
    """Points that are turned over, with respect to the centre: triangles."""
    style: dict[str, Any] = {"marker": "v", "markersize": 7.5, "markerfacecolor": "white", "markeredgecolor": INK}
    ax.plot(*_points(points).T, linestyle="none", **style, zorder=MARKS, label=label, gid="turned")
    return ax


def draw_preimages(ax: Axes, preimages: Iterable[Preimage], *, label: str = "preimages of f(c)") -> Axes:
    """Solutions of f(x) = y: diamonds, or thick lines and areas where a whole set is mapped to y; squares where it is
    undecided whether there are some (`undecided`)."""
    draw_undecided(ax, undecided_of(preimages))
    found = list(preimages)
    sets = [_points(p.set) for p in found if p.set is not None and len(p.set) > 1]
    for i, corners in enumerate(sets):
        name = f"{'_' * (i > 0)}{label} (a whole set)"
        ax.fill(*corners.T, facecolor="white", edgecolor=INK, linewidth=2.4, alpha=0.7, zorder=MARKS, label=name)
    points = _points([p.point for p in found if p.set is None or len(p.set) <= 1])
    style: dict[str, Any] = {"marker": "D", "markersize": 7.5, "markerfacecolor": "white", "markeredgecolor": INK}
    if len(points):
        ax.plot(*points.T, linestyle="none", **style, zorder=MARKS, label=label, gid="preimages")
    return ax


def undecided_of(preimages: Any) -> Array:
    """The middles of undecided boxes; none for preimages that have no such thing."""
    boxes = np.asarray(getattr(preimages, "undecided", ()), dtype=np.float64)
    return np.asarray(boxes.mean(axis=1)) if len(boxes) else np.zeros((0, 2))


def draw_undecided(ax: Axes, points: Any) -> None:
    """Places where it is undecided whether there are preimages."""
    if len(points):
        look: dict[str, Any] = {"marker": "s", "markersize": 9, "markerfacecolor": "none", "markeredgecolor": OPEN}
        where = _points(points)
        ax.plot(*where.T, linestyle="none", **look, zorder=MARKS, label="undecided preimages", gid="undecided")


def _points(given: Any) -> Array:
    """One point or several as floats (coordinates may be fractions)."""
    return np.array(given, dtype=np.float64).reshape(-1, 2)
