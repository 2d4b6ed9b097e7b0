"""A witness as people read it: two float points, how far apart they are, and the exact points behind them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from flint import arb, ctx

from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array
from ircert.ir.boxed_pair import BoxedPair, gaps, is_defined_between
from ircert.ir.enclosure import enclosed_determinant
from ircert.ir.graph import Graph
from ircert.witnesses.replay import Witness as ExactPair


@dataclass(frozen=True, eq=False)
class Witness:
    """A collision that was replayed in exact arithmetic or, of a network with curves, proved to lie in two boxes.

    x, y:       its points, rounded to floats; exact.x and exact.y are the points themselves
    radii:      None, or how far boxes around exact.x and exact.y reach in each input: they hold the collision
    separation: the norm of x - y (`local`, `pseudo`) or of g(x) - g(y) (`transform`), of the exact points
    output_gap: the norm of f(x) - f(y) in float64 at the rounded points: what is left of the collision in floats
                (at the exact points it is zero)

    Of boxes, separation is a bound for all their points.
    """

    x: Array
    y: Array
    separation: float
    output_gap: float
    exact: ExactPair = field(repr=False)
    radii: ExactPair | None = field(default=None, repr=False)


@dataclass(frozen=True, eq=False)
class TurnedPair:
    """Two points at which the determinant of the Jacobian has opposite signs, proved by interval arithmetic.

    x, y:         the points, rounded to floats; exact.x and exact.y are the points themselves
    determinants: floats (low, high) around the determinant at each
    """

    x: Array
    y: Array
    determinants: tuple[tuple[float, float], tuple[float, float]]
    exact: ExactPair = field(repr=False)


BITS = (128, 512)
"""Of interval arithmetic: more where the first do not tell."""


def turned_pair(graph: Graph, x: list[Fraction], y: list[Fraction], inputs: list[int]) -> TurnedPair | None:
    """The report on two points of opposite orientation, with respect to some inputs; None if interval arithmetic does
    not show that they are, or that the network is defined between them."""
    if not is_defined_between(graph, x, y):
        return None
    for bits in BITS:
        first, second = (enclosed_determinant(graph, point, bits, inputs) for point in (x, y))
        if (first > 0 and second < 0) or (first < 0 and second > 0):
            return TurnedPair(_floats(x), _floats(y), (_outward(first), _outward(second)), ExactPair(list(x), list(y)))
    return None


def _outward(ball: arb) -> tuple[float, float]:
    low, high = float(ball.lower()), float(ball.upper())
    below, above = math.nextafter(low, -math.inf), math.nextafter(high, math.inf)
    return min(below, 0.0) if low < 0 else max(below, 0.0), max(above, 0.0) if high > 0 else min(above, 0.0)


def report(graph: Graph, other: Graph | None, norm: Norm, x: list[Fraction], y: list[Fraction]) -> Witness:
    """The report of an exact collision of `graph`; `other` is the second network of `transform`."""
    near_x, near_y = (_floats(point) for point in (x, y))
    apart = (x, y) if other is None else (list(other.exact(x)), list(other.exact(y)))
    return Witness(near_x, near_y, length(norm, *apart), _gap(graph, norm, near_x, near_y), ExactPair(list(x), list(y)))


def boxed_report(graph: Graph, other: Graph | None, norm: Norm, pair: BoxedPair) -> Witness:
    """The report of boxes that hold a collision."""
    x, y = (_floats(point) for point in (pair.x, pair.y))
    if other is None:
        sides = zip(pair.x, pair.y, pair.x_radii, pair.y_radii, strict=True)
        apart = [abs(a - b) + r + s for a, b, r, s in sides]
    else:
        with ctx.workprec(BITS[0]):
            apart = [Fraction(max(abs(v) for v in _outward(gap))) for gap in gaps(other, pair)]
    separation = norm.length_up(norm.measure(apart))
    exact, radii = ExactPair(pair.x, pair.y), ExactPair(pair.x_radii, pair.y_radii)
    return Witness(x, y, separation, _gap(graph, norm, x, y), exact, radii)


def _gap(graph: Graph, norm: Norm, x: Array, y: Array) -> float:
    """What is left of a collision in floats; no number where they do not hold the outputs."""
    with np.errstate(all="ignore"):
        return float(np.linalg.norm(graph(x) - graph(y), ord=norm.order))


def length(norm: Norm, x: list[Fraction], y: list[Fraction]) -> float:
    """The norm of x - y, rounded up to a float."""
    return norm.length_up(norm.distance(x, y))


def length_down(norm: Norm, x: list[Fraction], y: list[Fraction]) -> float:
    """The norm of x - y, rounded down to a float."""
    return norm.length_down(norm.distance(x, y))


def _floats(point: list[Fraction]) -> Array:
    array = np.array([float(v) for v in point])
    array.setflags(write=False)
    return array
