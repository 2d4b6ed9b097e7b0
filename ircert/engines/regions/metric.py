"""Distances from the centre (the origin) in norms 1, 2 and inf: exact for one segment, floats with bounds for many.

Exact distances are the norms' measures: squared for norm 2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ircert.engines.regions.complex import Complex
from ircert.engines.regions.forms import LEAST, UNIT
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array

Point = tuple[Fraction, ...]


def approximate(value: Fraction) -> float:
    """The nearest float; infinite where there is none."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def nearest_of_segment(p: Point, q: Point, norm: Norm) -> tuple[Fraction, Point]:
    """The smallest measure on a segment and a point that has it.

    Along the segment the length is convex, and kinks only where a coordinate vanishes or two are equal in size.
    """
    step = tuple(b - a for a, b in zip(p, q, strict=True))
    if norm == "2":
        square = sum((d * d for d in step), Fraction(0))
        along = [-sum((a * d for a, d in zip(p, step, strict=True)), Fraction(0)) / square] if square else []
    else:
        forms = [*zip(p, step, strict=True)]
        if norm == "inf" and len(p) == 2:
            forms += [(p[0] - p[1], step[0] - step[1]), (p[0] + p[1], step[0] + step[1])]
        along = [-a / d for a, d in forms if d]
    places = [Fraction(0), Fraction(1), *(t for t in along if 0 < t < 1)]
    points = [tuple(a + t * d for a, d in zip(p, step, strict=True)) for t in places]
    return min((norm.measure(point), point) for point in points)


def nearest_of_polygon(corners: Sequence[Point], norm: Norm) -> tuple[Fraction, Point]:
    """The smallest measure on a convex polygon, counter-clockwise, and a point that has it."""
    edges = [(corners[i - 1], corners[i]) for i in range(len(corners))]
    if all(p[0] * q[1] - p[1] * q[0] >= 0 for p, q in edges):
        return Fraction(0), (Fraction(0), Fraction(0))
    return min(nearest_of_segment(p, q, norm) for p, q in edges)


def segment_distances(p: Array, q: Array, blur: Array, norm: Norm) -> tuple[Array, Array]:
    """Bounds below and above of the distances from the origin to segments (..., 2), whose ends are off by `blur`."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        step = q - p
        if norm == "2":
            scale = np.abs(step).max(axis=-1, keepdims=True)  # squares must neither vanish nor overflow
            short = step / scale
            along = [-(p / scale * short).sum(axis=-1) / (short * short).sum(axis=-1)]
        else:
            along = [-p[..., 0] / step[..., 0], -p[..., 1] / step[..., 1]]
            if norm == "inf":
                along += [-(p[..., 0] + s * p[..., 1]) / (step[..., 0] + s * step[..., 1]) for s in (1, -1)]
        best = np.minimum(norm.lengths(p), norm.lengths(q))
        for t in along:
            t = np.clip(np.nan_to_num(t), 0.0, 1.0)
            best = np.minimum(best, norm.lengths(p + t[..., None] * step))
        size = np.abs(p).sum(axis=-1) + np.abs(q).sum(axis=-1)
        error = 2 * blur + 2.0**-46 * size + LEAST  # far above the rounding errors of the few operations
        low, high = np.maximum(best - error, 0.0), best + error
    return np.nan_to_num(low, nan=0.0), np.nan_to_num(high, nan=np.inf, posinf=np.inf)


def farthest_points(complex_: Complex, norm: Norm) -> Array:
    """Bounds above of the distances from the centre to the points of the cells."""
    with np.errstate(over="ignore"):
        reach = norm.lengths(complex_.points) * (1 + 2.0**-40) + 2 * complex_.blur + LEAST
    return np.where(complex_.used, reach[complex_.polygons], 0.0).max(axis=1)


def cell_distances(complex_: Complex, norm: Norm) -> Array:
    """Bounds below of the distances from the centre to the cells; 0 where the centre is not surely outside."""
    rows, used = complex_.polygons, complex_.used
    column = np.arange(rows.shape[1])
    after = np.where(column[None, :] + 1 < complex_.count[:, None], column[None, :] + 1, 0)
    p = complex_.points[rows]
    q = np.take_along_axis(p, after[:, :, None], 1)
    blur = complex_.blur[rows]
    both = np.maximum(blur, np.take_along_axis(blur, after, 1))
    below, _ = segment_distances(p, q, both, norm)
    with np.errstate(invalid="ignore", over="ignore"):
        cross = p[:, :, 0] * q[:, :, 1] - p[:, :, 1] * q[:, :, 0]
        size = np.abs(p).sum(axis=2) + np.abs(q).sum(axis=2)
        outside = (cross < -(4 * both * (size + both) + 16 * UNIT * size * size + LEAST)) & used
    nearest = np.where(used, below, np.inf).min(axis=1)
    return np.where(outside.any(axis=1), nearest, 0.0)
