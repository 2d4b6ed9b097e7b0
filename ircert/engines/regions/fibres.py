"""Fibres: all points of a complex that f maps to a given value, cell by cell, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ircert.engines.regions.coincidence import Polytope, Vector, fibre
from ircert.engines.regions.complex import Complex
from ircert.engines.regions.metric import Point, approximate, nearest_of_polygon, nearest_of_segment
from ircert.engines.regions.pairs import Images
from ircert.engines.regions.tables import Ids
from ircert.geometry.norm import Norm


@dataclass(frozen=True)
class Fibre:
    """The points of one cell with the given value: the convex hull of corners (a point, a segment, or the cell)."""

    cell: int
    corners: tuple[Point, ...]

    def nearest(self, norm: Norm) -> tuple[Fraction, Point]:
        """The smallest measure and where."""
        if len(self.corners) <= 2:
            return nearest_of_segment(self.corners[0], self.corners[-1], norm)
        return nearest_of_polygon(self.corners, norm)


def candidates(complex_: Complex, value: Sequence[Fraction]) -> Ids:
    """Cells whose image may hold a value: no output excludes it."""
    images = Images.of(complex_, np.arange(len(complex_)), list(range(len(complex_.maps.value))))
    target = np.array([approximate(v) for v in value])
    slack = np.abs(target) * 2.0**-52 + 5e-324
    with np.errstate(invalid="ignore"):
        outside = (images.low > target + slack) | (target - slack > images.high)
    return np.flatnonzero(~outside.any(axis=1))


def fibre_of(
    complex_: Complex, cell: int, value: Sequence[Fraction], outputs: Sequence[int] | None = None
) -> Fibre | None:
    """The fibre of one cell under some of the outputs (all without), or None if it is empty."""
    polytope = fibre(complex_, cell, value, outputs)
    if not polytope.consistent:
        return None
    if len(polytope.basis) == 2:
        return Fibre(cell, tuple(complex_.exact_polygon(cell)))
    ends = _ends(polytope)
    return None if ends is None else Fibre(cell, ends)


def _ends(polytope: Polytope) -> tuple[Point, ...] | None:
    """The one or two ends of a polytope of dimension 0 or 1."""
    direction: Vector = polytope.basis[0] if polytope.basis else [Fraction(0)] * polytope.size
    first = polytope.maximise([*(-d for d in direction), 0])
    second = polytope.maximise([*direction, 0])
    if first is None or second is None:
        return None
    return tuple(dict.fromkeys((tuple(first[1]), tuple(second[1]))))
