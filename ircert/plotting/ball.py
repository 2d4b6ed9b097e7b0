"""Balls of the norms 1, 2 and inf, cut with a box."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, Literal, TypeAlias

import numpy as np
from matplotlib.axes import Axes

from ircert.errors import QueryError
from ircert.geometry.norm import norm_of
from ircert.ir.arrays import Array
from ircert.plotting.style import BALLS, OUTLINES, halo

Kind: TypeAlias = Literal["certified", "refuted"]

LINES = {"certified": "-", "refuted": (0, (4, 2))}
WORDS = {
    ("local", "certified"): "f injective",
    ("local", "refuted"): "f not injective",
    ("pseudo", "certified"): "no second preimage",
    ("pseudo", "refuted"): "second preimage",
    ("transform", "certified"): "mappable",
    ("transform", "refuted"): "not mappable",
}
ROUND = 720
"""Corners of the polygon that stands for a circle: off by 1e-5 of the radius."""


def draw_ball(
    ax: Axes,
    center: Any,
    radius: float,
    norm: Any = "inf",
    kind: Kind = "certified",
    domain: tuple[Any, Any] | None = None,
    *,
    problem: str = "local",
    color: str = BALLS[0],
    label: str | None = None,
) -> Axes:
    """The outline of a ball, or the shaded interval of one input; solid if certified, dashed if refuted.

    A radius that is infinite has no outline (other than the domain's), but its legend entry.
    """
    if kind not in LINES:
        raise QueryError(f"there is no kind of ball {kind!r}", remedy="the kinds are certified and refuted")
    style: dict[str, Any] = {"color": color, "linestyle": LINES[kind], "linewidth": 1.7, "zorder": OUTLINES}
    label = ball_label(radius, norm, kind, problem, len(np.atleast_1d(center))) if label is None else label
    corners = outline(center, radius, norm, domain)
    if corners.shape[1] == 1:
        _draw_interval(ax, corners[:, 0], kind, style, label)
    else:
        closed = np.vstack([corners, corners[:1]])
        ax.plot(*closed.T, **style, path_effects=halo(1.7, 0.8), label=label, gid=f"{kind}-ball")
    return ax


def _draw_interval(ax: Axes, ends: Array, kind: Kind, style: dict[str, Any], label: str) -> None:
    if kind == "certified" and len(ends):
        ax.axvspan(*ends, color=style["color"], alpha=0.12, linewidth=0, zorder=0, gid=f"{kind}-ball")
    ax.plot([], [], **style, label=label)
    for end in ends:
        ax.axvline(end, **{**style, "linewidth": 1.2})


def outline(center: Any, radius: float, norm: Any = "inf", domain: tuple[Any, Any] | None = None) -> Array:
    """The corners of a ball cut with the domain, counter-clockwise (one input: the two ends); none if unbounded."""
    middle = np.atleast_1d(np.asarray(center, dtype=np.float64))
    if len(middle) not in (1, 2):
        raise QueryError(f"a ball in {len(middle)} dimensions cannot be drawn", remedy="fix all inputs but two")
    if not radius >= 0:
        raise QueryError(f"the radius must not be negative, got {radius!r}")
    sides = (-np.inf, np.inf) if domain is None else domain
    low, high = (np.broadcast_to(np.asarray(side, dtype=np.float64), middle.shape) for side in sides)
    norm = norm_of(norm)
    if not np.isfinite(radius):
        bounded = np.isfinite([low, high]).all()
        return _box(low, high) if bounded else np.zeros((0, len(middle)))
    if norm == "inf" or len(middle) == 1:
        return _box(np.maximum(middle - radius, low), np.minimum(middle + radius, high))
    return _clipped(middle + radius * _unit(norm), low, high)


def _unit(norm: str) -> Array:
    if norm == "1":
        return np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    angles = 2 * np.pi * np.arange(ROUND) / ROUND
    return np.column_stack([np.cos(angles), np.sin(angles)])


def _box(low: Array, high: Array) -> Array:
    if len(low) == 1:
        return np.array([low, high])
    return np.array([[low[0], low[1]], [high[0], low[1]], [high[0], high[1]], [low[0], high[1]]])


def _clipped(polygon: Array, low: Array, high: Array) -> Array:
    """The part of a convex polygon in a box: cut by one side after the other."""
    for axis in (0, 1):
        for sign, bound in ((1.0, low[axis]), (-1.0, -high[axis])):
            if np.isfinite(bound):
                polygon = _cut(polygon, sign * polygon[:, axis] - bound)
    return np.clip(polygon, low, high)  # cuts round


def _cut(polygon: Array, inside: Array) -> Array:
    kept = []
    for i, (corner, depth) in enumerate(zip(polygon, inside, strict=True)):
        before, above = polygon[i - 1], inside[i - 1]
        if (depth < 0 < above) or (above < 0 < depth):
            kept.append(before + (corner - before) * (above / (above - depth)))
        if depth >= 0:
            kept.append(corner)
    return np.array(kept).reshape(-1, polygon.shape[1])


def ball_label(radius: float, norm: Any, kind: Kind, problem: str, inputs: int = 2) -> str:
    """The legend's words; the number is rounded so that it claims no more than is known."""
    shown = rounded(radius, up=kind == "refuted")
    letter = "R" if problem == "pseudo" else "r"
    which = "" if inputs == 1 else f" ({norm_of(norm).replace('inf', '∞')}-norm)"
    return f"{WORDS.get((problem, kind), kind)}: {letter} = {shown}{which}"


def rounded(value: float, *, up: bool, digits: int = 4) -> str:
    """A number with a few digits, rounded up or down."""
    if value == 0 or not np.isfinite(value):
        return "0" if value == 0 else "∞"
    exact = Decimal(repr(float(value)))
    step = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    number = float(exact.quantize(step, rounding=ROUND_CEILING if up else ROUND_FLOOR))
    return f"{number:.{digits}g}"
