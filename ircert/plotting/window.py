"""Which part of the input space a picture shows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ircert.errors import QueryError
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array
from ircert.plotting.data import Result

MARGIN = 1.25
SHARPEST = 2.0**-30
"""Axes cannot show less than this share of the centre's coordinates."""

LARGEST = 1e300
"""… and are computed with numbers that are somewhat larger than these."""

FAR = 100.0
"""Radii beyond this many times max(1, |centre|) do not widen the picture: nothing near the centre would be seen."""


def window_of(
    results: Sequence[Result], window: Any = None, points: Iterable[Any] = (), margin: float = MARGIN
) -> Ball:
    """The box that is shown, cut with the domain: half its width, its corners (low, high), or so many times all that is
    drawn."""
    center = np.asarray(results[0].center, dtype=np.float64)
    sides = (-np.inf, np.inf) if results[0].domain is None else results[0].domain
    low, high = (np.broadcast_to(np.asarray(side, dtype=np.float64), center.shape) for side in sides)
    if (
        window is None
        and any(math.isinf(r.radius.certified or 0.0) for r in results)
        and np.isfinite([low, high]).all()
    ):
        return _drawable(_box(low, high, low, high))  # it holds on the whole domain
    if np.ndim(window) == 0:
        least = max(SHARPEST * float(np.abs(center).max()), 1e-290)
        half = max(_half_width(results, points, margin), least) if window is None else _positive(window)
        if half < least:
            raise QueryError(
                f"a picture {half:g} wide around this centre is finer than the numbers of its axes",
                remedy=f"show at least {least:.2g}",
            )
        return _drawable(Ball(center, half, Norm.INF, low, high))
    return _drawable(_box(*_corners(window, center.shape), low, high))


def _drawable(ball: Ball) -> Ball:
    with np.errstate(over="ignore"):
        reach = np.abs([*ball.center - ball.radius, *ball.center + ball.radius]).max()
    if not reach <= LARGEST:
        raise QueryError(
            f"a picture cannot reach beyond {LARGEST:g}", remedy="show a smaller part, or choose a nearer centre"
        )
    return ball


def _half_width(results: Sequence[Result], points: Iterable[Any], margin: float) -> float:
    center = np.asarray(results[0].center, dtype=np.float64)
    usual = max(1.0, float(np.abs(center).max()))
    radii = [r for result in results for r in (result.radius.certified, result.radius.refuted) if r is not None]
    radii += [float(np.abs(np.asarray(p, dtype=np.float64) - center).max()) for p in points]
    shown = [r for r in radii if 0 < r <= FAR * usual]
    return margin * max(shown, default=usual / margin)


def _positive(given: Any) -> float:
    try:
        half = float(given)
    except (TypeError, ValueError):
        half = math.nan
    if not (half > 0 and math.isfinite(half)):
        raise QueryError(f"the window must be a positive number or two corners, got {given!r}")
    return half


def _corners(given: Any, shape: tuple[int, ...]) -> tuple[Array, Array]:
    try:
        low, high = (np.broadcast_to(np.asarray(side, dtype=np.float64), shape) for side in given)
    except (TypeError, ValueError):
        raise QueryError("the window is a positive number or two corners (low, high)") from None
    if not (np.isfinite(low).all() and np.isfinite(high).all() and (low < high).all()):
        raise QueryError("the window's corners must be finite with low < high everywhere")
    return low, high


def _box(lower: Array, upper: Array, low: Array, high: Array) -> Ball:
    lower, upper = np.maximum(lower, low), np.minimum(upper, high)
    if (lower >= upper).any():
        raise QueryError("the window lies outside the domain", remedy="move one of them")
    return Ball((lower + upper) / 2, float((upper - lower).max()), Norm.INF, lower, upper)


def frame(ball: Ball, domain: Any) -> tuple[Array, Array]:
    """The corners of the axes: the window, with a rim where the domain ends in it."""
    low, high = ball.box
    rim = 0.03 * float((high - low).max())
    if domain is None:
        return low, high
    sides = [np.broadcast_to(np.asarray(side, dtype=np.float64), low.shape) for side in domain]
    return np.where(low <= sides[0], low - rim, low), np.where(high >= sides[1], high + rim, high)
