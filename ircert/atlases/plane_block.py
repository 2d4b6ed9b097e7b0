"""A block of centres with two inputs, and what is asked about all of them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph

ROUNDING = 2.0**-50
"""Differences of coordinates are off by less than this part of them."""


@dataclass(frozen=True, eq=False)
class Block:
    """Centres; `graph` is lowered, `outputs` are the constrained ones, `rest` the others.

    slack: witnesses lie within this relative distance of the nearest violation
    """

    graph: Graph
    centers: Array
    norm: Norm
    low: Array
    high: Array
    outputs: list[int]
    rest: list[int] | None
    slack: float

    @cached_property
    def middle(self) -> Array:
        """Where complexes have their origin."""
        return (self.centers.min(axis=0) + self.centers.max(axis=0)) / 2

    @cached_property
    def shift(self) -> Array:
        """The centres in the complex's coordinates, about."""
        return self.centers - self.middle

    @cached_property
    def _middle(self) -> list[Fraction]:
        return [Fraction(v) for v in self.middle.tolist()]

    def absolute(self, u: tuple[Fraction, ...]) -> list[Fraction]:
        """A point of the complex in the network's coordinates."""
        return [m + t for m, t in zip(self._middle, u, strict=True)]

    def relative(self, point: Array) -> list[Fraction]:
        """A float point in the complex's coordinates, exactly."""
        return [Fraction(v) - m for v, m in zip(point.tolist(), self._middle, strict=True)]
