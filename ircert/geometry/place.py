"""Where a question looks: around a centre, in a norm, inside a box. Every ball of a question is a ball of its place."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from ircert.geometry.ball import Ball
from ircert.geometry.domain import Box
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array, Indices


@dataclass(frozen=True, eq=False)
class Place:
    """low, high: the domain, infinite where there is none; the centre lies in it."""

    center: Array
    norm: Norm
    low: Array
    high: Array

    @staticmethod
    def of(ball: Ball) -> Place:
        """The place of a ball."""
        return Place(ball.center, ball.norm, ball.low, ball.high)

    @staticmethod
    def everywhere(center: Array, norm: Norm = Norm.INF) -> Place:
        """Without a domain."""
        return Place(center, norm, np.full(len(center), -np.inf), np.full(len(center), np.inf))

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return len(self.center)

    @property
    def box(self) -> Box:
        """The domain."""
        return Box(self.low, self.high)

    @cached_property
    def exact_center(self) -> list[Fraction]:
        """The centre in rationals."""
        return [Fraction(v) for v in self.center.tolist()]

    @cached_property
    def reach(self) -> float:
        """How far from the centre the domain goes, rounded up; infinite where it is not bounded."""
        if not (np.isfinite(self.low).all() and np.isfinite(self.high).all()):
            return math.inf
        rows = zip(self.exact_center, self.low.tolist(), self.high.tolist(), strict=True)
        return self.norm.length_up(self.norm.measure(max(Fraction(b) - c, c - Fraction(a)) for c, a, b in rows))

    @property
    def simplest(self) -> Place:
        """The same place in the norm that engines work with: on a line all norms are one."""
        return replace(self, norm=self.norm.on(self.size))

    def ball(self, radius: float) -> Ball:
        """The closed ball of this radius, cut with the domain."""
        return Ball(self.center, radius, self.norm, self.low, self.high)

    def within(self, low: Array, high: Array) -> Place:
        """The same place inside another box."""
        return replace(self, low=low, high=high)

    def keep(self, coordinates: Indices | list[int]) -> Place:
        """Some of its coordinates."""
        return Place(self.center[coordinates], self.norm, self.low[coordinates], self.high[coordinates])


class Placed:
    """What has a place, and is asked for its parts."""

    place: Place

    @property
    def center(self) -> Array:
        """The middle of all balls."""
        return self.place.center

    @property
    def norm(self) -> Norm:
        """That of the balls."""
        return self.place.norm

    @property
    def low(self) -> Array:
        """The least values of the domain."""
        return self.place.low

    @property
    def high(self) -> Array:
        """The largest values of the domain."""
        return self.place.high
