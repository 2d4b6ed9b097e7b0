"""The convex polygon to which a complex is restricted, in exact coordinates relative to the centre."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from ircert.exact.criss_cross import Rational, integers
from ircert.exact.rounding import near_root
from ircert.geometry.norm import Norm

Triple = tuple[Any, Any, Any]
"""Integers (a, b, c): the line a u + b v + c = 0, or the point (a/c, b/c) with c > 0."""


@dataclass(frozen=True)
class Outline:
    """lines: positive inside, counter-clockwise; corner i is where line i - 1 meets line i. Empty if it has no area."""

    lines: tuple[Triple, ...]
    corners: tuple[Triple, ...]


def outline(radius: Fraction, norm: Norm, box: Sequence[tuple[Fraction | None, Fraction | None]]) -> Outline:
    """The ball of this radius around the origin, cut with a box (None: unbounded on this side).

    For norm 2 it is the square around the disc: every cell of the disc is there, and some more.
    """
    square = [(1, 0, radius), (0, 1, radius), (-1, 0, radius), (0, -1, radius)]
    diamond = [(1, 1, radius), (-1, 1, radius), (-1, -1, radius), (1, -1, radius)]
    return polygon([_line(*line) for line in (diamond if norm == "1" else square)], box)


def round_outlines(
    radius: Fraction, box: Sequence[tuple[Fraction | None, Fraction | None]], sides: int
) -> tuple[Outline, Outline]:
    """Polygons inside and around the disc of this radius, cut with a box: regular up to rational directions.

    The sides of the outer one touch the disc; the inner one is its image under a scaling that brings the corners in.
    """
    units = [_unit(2 * math.pi * k / sides) for k in range(sides)]
    outer = [_line(-u, -v, radius) for u, v in units]
    corners = [meeting(outer[i - 1], outer[i]) for i in range(sides)]
    farthest = max(Fraction(int(u * u + v * v), int(w * w)) for u, v, w in corners)
    shrunk = Fraction(math.floor(near_root(radius * radius / farthest, up=0) * 2**40), 2**40)
    return polygon([_line(-u, -v, radius * shrunk) for u, v in units], box), polygon(outer, box)


def _unit(angle: float) -> tuple[Fraction, Fraction]:
    """A rational vector of length exactly 1 near an angle, with short numbers."""
    t = Fraction(round(math.tan(angle / 4) * 2**16), 2**16)  # a quarter: no tangent is infinite
    c, s = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
    return c * c - s * s, 2 * c * s


def polygon(lines: Sequence[Triple], box: Sequence[tuple[Fraction | None, Fraction | None]]) -> Outline:
    """What lies on the positive side of lines, which run around it counter-clockwise, cut with a box."""
    corners = [meeting(lines[i - 1], lines[i]) for i in range(len(lines))]
    polygon = list(zip(corners, lines, strict=True))
    for axis, (low, high) in enumerate(box):
        for sign, bound in ((1, low), (-1, high)):
            if bound is not None:
                polygon = _clipped(polygon, _line(sign * (axis == 0), sign * (axis == 1), -sign * bound))
    return Outline(tuple(line for _, line in polygon), tuple(corner for corner, _ in polygon))


def meeting(p: Triple, q: Triple) -> Triple:
    """The point where two lines meet."""
    w = p[0] * q[1] - p[1] * q[0]
    u, v = p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2]
    return (u, v, w) if w > 0 else (-u, -v, -w)


def side(line: Triple, point: Triple) -> Any:
    """A number with the sign of the line's form at the point."""
    return line[0] * point[0] + line[1] * point[1] + line[2] * point[2]


def _line(a: Rational, b: Rational, c: Rational) -> Triple:
    first, second, third = integers([a, b, c])
    return first, second, third


def _clipped(polygon: list[tuple[Triple, Triple]], line: Triple) -> list[tuple[Triple, Triple]]:
    """The part of a polygon of (corner, edge from it) with line >= 0; empty if that has no area."""
    sides = [side(line, corner) for corner, _ in polygon]
    if all(s >= 0 for s in sides):
        return polygon
    if all(s <= 0 for s in sides):
        return []
    part = []
    for ((corner, edge), s), (_, after) in pairwise([*zip(polygon, sides, strict=True), (polygon[0], sides[0])]):
        if s > 0 or (s == 0 and after > 0):
            part.append((corner, edge))
        elif s == 0:
            part.append((corner, line))
        if s > 0 > after:
            part.append((meeting(edge, line), line))
        elif s < 0 < after:
            part.append((meeting(line, edge), edge))
    return part
