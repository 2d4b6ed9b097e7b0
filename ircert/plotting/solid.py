"""Three inputs seen from outside: fold facets, balls, centre and witness, drawn by matplotlib's own 3-D axes."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator
from mpl_toolkits.mplot3d import Axes3D
from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection

from ircert.analysis.solids.polyhedron import box, diamond, inside
from ircert.geometry.norm import norm_of
from ircert.ir.arrays import Array
from ircert.plotting.ball import LINES, Kind
from ircert.plotting.style import FOLD_RED, INK, MARK, SINGULAR

LIGHT = np.array([0.35, -0.55, 0.75])
"""Where light comes from: facets are told apart by how they face it."""
MANY = 1500
"""Facets from which on their edges are not drawn."""
ROUND = 120
"""Corners of the lines on a sphere."""


def draw_fold_facets(ax: Axes3D, facets: list[Array], *, color: str = FOLD_RED) -> None:
    """Polygons (k, 3), shaded by how they lie."""
    if not facets:
        return
    shades = np.array([_shade(facet) for facet in facets])
    rgb = np.array([int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    faces = np.column_stack([1 - shades[:, None] * (1 - rgb), np.full(len(facets), 0.6)])
    fine = len(facets) > MANY  # edges would be all that is seen
    found = Poly3DCollection(
        facets,
        facecolors=faces,
        edgecolors=faces if fine else (*(0.55 * rgb), 0.55),
        linewidths=0.1 if fine else 0.35,
        gid="fold-facets",
    )
    ax.add_collection3d(found, autolim=False)


def draw_singular_solids(ax: Axes3D, corners: list[Array]) -> None:
    """Regions on which f is not injective, each by the corners of its polyhedron: grey."""
    from scipy.spatial import ConvexHull

    hulls = [points[ConvexHull(points).simplices] for points in corners]
    if hulls:
        look: dict[str, Any] = {"facecolors": SINGULAR, "alpha": 0.25, "linewidths": 0, "gid": "singular"}
        ax.add_collection3d(Poly3DCollection(np.concatenate(hulls), **look), autolim=False)


def draw_solid_ball(
    ax: Axes3D, center: Array, radius: float, norm: Any, kind: Kind, domain: tuple[Array, Array], *, color: str
) -> None:
    """The edges of a ball cut with the domain (of norm 2, three great circles); solid if certified, dashed if not."""
    lines = _circles(center, radius, domain) if norm_of(norm) == "2" else _edges(center, radius, norm_of(norm), domain)
    if len(lines):
        style: dict[str, Any] = {"colors": color, "linestyles": LINES[kind], "linewidths": 1.6}
        ax.add_collection3d(Line3DCollection(lines, **style, gid=f"{kind}-ball"), autolim=False)


def draw_solid_marks(ax: Axes3D, center: Array, pairs: list[tuple[Array, Array]]) -> None:
    """The centre and witnesses."""
    for pair in pairs:
        points = np.array(pair)
        ax.plot(*points.T, color=INK, linestyle=":", marker="X", markerfacecolor="white", markersize=7, gid="witness")
    ax.plot(*center[:, None], linestyle="none", marker="o", markersize=7, color=MARK, markeredgecolor=INK, gid="center")


def finish_solid(ax: Axes3D, low: Array, high: Array, names: list[str]) -> None:
    """Limits and names of the axes; what is drawn has the shape that it has."""
    for axis, start, end, name in zip("xyz", low, high, names, strict=True):
        getattr(ax, f"set_{axis}lim")(start, end)
        getattr(ax, f"set_{axis}label")(name)
    ax.set_box_aspect(high - low, zoom=0.95)
    ax.tick_params(labelsize="small", pad=0)
    for each in (ax.xaxis, ax.yaxis, ax.zaxis):
        each.set_pane_color((0.97, 0.97, 0.97, 1.0))
        each.set_major_locator(MaxNLocator(4))
    ax.view_init(elev=22, azim=-58)


def _shade(facet: Array) -> float:
    """How dark a facet is: between 0.45 and 1, the same from both sides."""
    spread = facet - facet[0]
    normal = np.cross(spread[1:-1], spread[2:]).sum(axis=0)
    size = np.linalg.norm(normal) * np.linalg.norm(LIGHT)
    return 1.0 - 0.55 * float(abs(normal @ LIGHT) / size) if size > 0 else 1.0


def _edges(center: Array, radius: float, norm: str, domain: tuple[Array, Array]) -> list[Array]:
    low, high = np.maximum(domain[0], center - radius), np.minimum(domain[1], center + radius)
    if not (np.isfinite(low).all() and np.isfinite(high).all() and (low < high).all()):
        return []
    size = float((high - low).max())
    unit = box((low - center) / size, (high - center) / size)
    cut = unit if norm == "inf" else inside(unit, diamond(np.zeros(3), radius / size))
    return [] if cut is None else [center + size * edge for edge in cut.edges()]


def _circles(center: Array, radius: float, domain: tuple[Array, Array]) -> list[Array]:
    angles = 2 * np.pi * np.arange(ROUND + 1) / ROUND
    if not np.isfinite(radius):
        return []
    found = []
    for axis in range(3):
        points = np.insert(np.column_stack([np.cos(angles), np.sin(angles)]), axis, 0.0, axis=1) * radius + center
        seen: Any = ((points >= domain[0]) & (points <= domain[1])).all(axis=1)
        kept = np.flatnonzero(seen[:-1] & seen[1:])
        found += [points[k : k + 2] for k in kept] if not seen.all() else [points]
    return found
