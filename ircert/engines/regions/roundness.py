"""The pair (x, y) of a polytope that minimises max(|x|, |y|): exact for norms 1 and inf, a tight bracket for norm 2.

Norm 2 by duality: for a weight w in [0, 1] the minimum of w |x|² + (1 - w) |y|² is a bound below, and its minimiser,
which is rational, a bound above; at the best weight they agree. Where the polytope has more than two dimensions,
tangents do the same work: u · x <= |x| for |u| = 1 exactly (Pythagorean rationals) makes a linear program a relaxation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ircert.engines.regions.coincidence import Polytope, Row, Vector, length_forms
from ircert.exact.criss_cross import Rational
from ircert.geometry.norm import Norm
from ircert.geometry.pair import Pair

TIGHT, TIGHT_BY_TANGENTS = Fraction(1, 2**64), Fraction(1, 2**50)
"""Relative width at which a bracket of squares is good enough; finer than floats where that is cheap."""

ROUNDS = 120
SCALES = tuple(8.0**-k for k in range(1, 11))


@dataclass(frozen=True)
class Nearest:
    """Bounds of the smallest measure over a polytope of pairs, and a pair that has the upper one."""

    low: Fraction
    high: Fraction
    pair: Pair


def nearest_pair(polytope: Polytope, norm: Norm, below: Fraction | None = None) -> Nearest | None:
    """The nearest pair; None if there is none, or surely none with a measure under `below`."""
    if norm != "2":
        best = polytope.nearest([*length_forms(norm, (0, 1), 4), *length_forms(norm, (2, 3), 4)])
        found = None if best is None else Nearest(best[0], best[0], Pair.of(best[1]))
    elif polytope.corners is None:
        found = _by_tangents(polytope, below)
    else:
        found = _by_weights(polytope, below)
    return None if found is None or (below is not None and found.low >= below) else found


# --- up to two dimensions: weights -----------------------------------------------------------------------------------


def _by_weights(polytope: Polytope, below: Fraction | None) -> Nearest | None:
    if not polytope.corners:
        return None
    corners = polytope.corners
    points = [polytope.at(corner) for corner in corners]
    rough = [[float(t) for t in point] for point in points]
    plane = [[float(t) for t in corner] for corner in corners]
    low, high = 0.0, 1.0
    for _ in range(64):  # the best weight: where |x| = |y| at the minimiser, or an end
        middle = (low + high) / 2
        x0, x1, y0, y1 = _weighted_nearest(rough, plane, middle)
        low, high = (middle, high) if x0 * x0 + x1 * x1 > y0 * y0 + y1 * y1 else (low, middle)
    left, right = Fraction(0), Fraction(1)
    tried = [_at_weight(points, corners, weight) for weight in (left, right)]
    guesses = [Fraction(min(max(low + turn, 0.0), 1.0)) for turn in (0.0, -1e-14, 1e-14, -1e-9, 1e-9)]
    for _ in range(ROUNDS):
        bound = max(found.low for found in tried)
        best = min(tried, key=lambda found: found.high)
        if best.high - bound <= TIGHT * best.high or (below is not None and bound >= below):
            break
        weight = next((w for w in guesses if left < w < right), (left + right) / 2)
        found = _at_weight(points, corners, weight)
        tried.append(found)
        heavy = _square(found.pair.x) > _square(found.pair.y)
        left, right = (weight, right) if heavy else (left, weight)
    return Nearest(bound, best.high, best.pair)


def _at_weight(points: list[Vector], corners: list[Vector], weight: Fraction) -> Nearest:
    z = _weighted_nearest(points, corners, weight)
    pair = Pair.of(z)
    bound = weight * _square(pair.x) + (1 - weight) * _square(pair.y)
    return Nearest(bound, pair.measure(Norm.TWO), pair)


def _square(vector: Sequence[Fraction]) -> Fraction:
    return sum((t * t for t in vector), Fraction(0))


def _weighted_nearest(points: Sequence[Sequence[Any]], corners: Sequence[Sequence[Any]], weight: Any) -> list[Any]:
    """The point of a convex polygon (points z with plane coordinates) least in w |x|² + (1 - w) |y|².

    One code for floats and for rationals.
    """

    def product(a: Sequence[Any], b: Sequence[Any]) -> Any:
        return weight * (a[0] * b[0] + a[1] * b[1]) + (1 - weight) * (a[2] * b[2] + a[3] * b[3])

    def moved(a: Sequence[Any], t: Any, d: Sequence[Any]) -> list[Any]:
        return [p + t * q for p, q in zip(a, d, strict=True)]

    inner = _stationary(points, corners, product)
    if inner is not None:
        return inner
    best, value = list(points[0]), product(points[0], points[0])
    for i, q in enumerate(points):
        p = points[i - 1]
        d = [b - a for a, b in zip(p, q, strict=True)]
        size = product(d, d)
        t = min(max(-product(p, d) / size, size * 0), size * 0 + 1) if size else size * 0
        z = moved(p, t, d)
        here = product(z, z)
        if here < value:
            best, value = z, here
    return best


def _stationary(points: Sequence[Sequence[Any]], corners: Sequence[Sequence[Any]], product: Any) -> list[Any] | None:
    """Where the form is least on the whole plane, if that lies inside the polygon."""
    if len(points) < 3:
        return None
    d, e = ([b - a for a, b in zip(points[0], points[k], strict=True)] for k in (1, 2))
    a, b, c = product(d, d), product(d, e), product(e, e)
    below = a * c - b * b
    if not below:
        return None
    p, q = -product(points[0], d), -product(points[0], e)
    s, t = (p * c - q * b) / below, (a * q - b * p) / below
    base, first, second = corners[0], corners[1], corners[2]
    at = [o + s * (u - o) + t * (v - o) for o, u, v in zip(base, first, second, strict=True)]
    for i, head in enumerate(corners):
        tail = corners[i - 1]
        if (head[0] - tail[0]) * (at[1] - tail[1]) - (head[1] - tail[1]) * (at[0] - tail[0]) < 0:
            return None
    return [o + s * u + t * v for o, u, v in zip(points[0], d, e, strict=True)]


# --- more dimensions: tangents ---------------------------------------------------------------------------------------


def _by_tangents(polytope: Polytope, below: Fraction | None) -> Nearest | None:
    """Each round adds tangents fanned out around the last solution at many scales."""
    cuts = [_cut(_unit(k * math.pi / 4), at) for k in range(8) for at in (0, 2)]
    fans: list[list[Row]] = []
    low = Fraction(0)
    found: Pair | None = None
    for _ in range(ROUNDS):
        best = polytope.nearest([*cuts, *(row for fan in fans[-2:] for row in fan)])
        if best is None:
            return None
        low = max(low, best[0] ** 2 if best[0] > 0 else Fraction(0))
        pair = Pair.of(best[1])
        if found is None or pair.measure(Norm.TWO) < found.measure(Norm.TWO):
            found = pair
        high = found.measure(Norm.TWO)
        if high - low <= TIGHT_BY_TANGENTS * high or (below is not None and low >= below):
            break
        fans.append(_fan(best[1]))
    assert found is not None
    return Nearest(low, found.measure(Norm.TWO), found)


def _fan(z: Vector) -> list[Row]:
    """Tangents around the directions of both points of a pair."""
    spread = (0.0, *(sign * scale for scale in SCALES for sign in (1, -1)))
    rows = []
    for at in (0, 2):
        if z[at] or z[at + 1]:
            angle = math.atan2(z[at + 1], z[at])
            rows += [_cut(_unit(angle + turn), at) for turn in spread]
    return rows


def _unit(angle: float) -> tuple[Fraction, Fraction]:
    """A rational vector of length exactly 1 near an angle."""
    angle = math.remainder(angle, 2 * math.pi)
    if abs(angle) > math.pi / 2:
        u, v = _unit(angle - math.copysign(math.pi, angle))
        return -u, -v
    t = Fraction(math.tan(angle / 2))
    return (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)


def _cut(u: tuple[Fraction, Fraction], at: int) -> Row:
    row: list[Rational] = [0] * 5
    row[at], row[at + 1] = u
    return row
