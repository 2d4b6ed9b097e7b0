"""Points with a given value, proved one by one: a small box that holds exactly one solution of f(x) = y."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx

from ircert.errors import PointError
from ircert.exact.rounding import rounded_down, rounded_up
from ircert.ir.arrays import Array
from ircert.ir.enclosure import enclosed_on_box
from ircert.ir.evaluate import to_fraction
from ircert.ir.graph import Graph
from ircert.ir.newton import exact_ball, holds_root, near_root

BITS = 192
"""Of interval arithmetic."""
RADII = (-64, -52, -44, -36)
"""Radii of boxes that are tried, as powers of two, in parts of the size of a point."""


@dataclass(frozen=True)
class Value:
    """y, entry by entry a rational number or a ball of interval arithmetic, and between which floats it lies."""

    entries: tuple[Fraction | arb, ...]

    @staticmethod
    def of(given: Sequence[Any]) -> Value:
        """int, float, Fraction, "p/q", or what `g.enclosure(x)` gives."""
        return Value(tuple(_entry(v) for v in given))

    @property
    def balls(self) -> list[arb]:
        """In the precision that is set."""
        return [v if isinstance(v, arb) else exact_ball(v) for v in self.entries]

    @property
    def bounds(self) -> tuple[Array, Array]:
        """Low and high, rounded outward."""
        with ctx.workprec(BITS):
            ends = [_ends(v) for v in self.entries]
        return np.array([low for low, _ in ends]), np.array([high for _, high in ends])


@dataclass(frozen=True)
class Root:
    """A box, its middle and its radius, with exactly one solution; orientation: the sign of det Df there."""

    middle: tuple[Fraction, ...]
    radius: Fraction
    orientation: int

    @property
    def sides(self) -> list[tuple[Fraction, Fraction]]:
        """Its extent along each axis."""
        return [(v - self.radius, v + self.radius) for v in self.middle]

    def lies_in(self, low: Array, high: Array) -> bool:
        """Whether the whole box lies in another one."""
        ends = zip(self.sides, low.tolist(), high.tolist(), strict=True)
        return all(Fraction(b) <= s and t <= Fraction(e) for (s, t), b, e in ends)

    def misses(self, other: Root) -> bool:
        """Whether two boxes have no common point."""
        return any(b < c or d < a for (a, b), (c, d) in zip(self.sides, other.sides, strict=True))


class Equations:
    """f(x) = y as Newton's method sees it."""

    def __init__(self, graph: Graph, value: Value) -> None:
        self.graph, self.value = graph, value

    def __call__(self, box: list[arb]) -> tuple[list[arb], arb_mat]:
        found, slopes = enclosed_on_box(self.graph, box, list(range(self.graph.input_dim)))
        return [v - y for v, y in zip(found, self.value.balls, strict=True)], slopes

    def root(self, start: Array) -> Root | None:
        """A proved solution near a point in floats; None where Newton's method or the proof fails."""
        middle = near_root(self, [Fraction(v) for v in start.tolist()], BITS)
        if middle is None:
            return None
        size = 2 ** max(0, int(max(abs(v) for v in middle)).bit_length())
        for power in RADII:
            radius = Fraction(size) * Fraction(2) ** power
            if holds_root(self, middle, [radius] * len(middle), BITS):
                return Root(tuple(middle), radius, self._orientation(middle, radius))
        return None

    def _orientation(self, middle: list[Fraction], radius: Fraction) -> int:
        """The sign of the determinant of all secants of a box; 0 where that is not settled."""
        with ctx.workprec(BITS):
            box = [exact_ball(v) + exact_ball(radius) * arb(0, 1) for v in middle]
            _, slopes = self(box)
            determinant = slopes.det()
            return int(bool(determinant > 0)) - int(bool(determinant < 0))


def _entry(given: Any) -> Fraction | arb:
    if not isinstance(given, arb):
        return to_fraction(given)
    if not given.is_finite():
        raise PointError(f"{given} is not a finite ball", remedy="ask `g.enclosure(x, bits)` for more bits")
    return given


def _ends(value: Fraction | arb) -> tuple[float, float]:
    if isinstance(value, Fraction):
        return rounded_down(value), rounded_up(value)
    low, high = float(value.lower()), float(value.upper())
    return float(np.nextafter(low, -np.inf)), float(np.nextafter(high, np.inf))
