"""Closed balls, cut with a box."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ircert.geometry.norm import Norm, norm_of
from ircert.ir.arrays import Array


@dataclass(frozen=True)
class Ball:
    """The closed ball of a norm around a centre, cut with a box (infinite where there is no domain)."""

    center: Array
    radius: float
    norm: Norm
    low: Array
    high: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "norm", norm_of(self.norm))

    @cached_property
    def box(self) -> tuple[Array, Array]:
        """The smallest box of floats that surely holds the ball: rounded outward."""
        below = np.nextafter(self.center - self.radius, -np.inf)
        above = np.nextafter(self.center + self.radius, np.inf)
        return np.maximum(below, self.low), np.minimum(above, self.high)

    def contains(self, point: Iterable[Any]) -> bool:
        """Whether a point lies in the ball and the domain; exact if the coordinates are (floats are)."""
        point = [Fraction(x) for x in point]
        distance = self.norm.distance(point, map(Fraction, self.center.tolist()))
        bounds = zip(point, self.low.tolist(), self.high.tolist(), strict=True)
        inside = distance <= Fraction(self.radius) ** self.norm.power
        return inside and all(low <= x <= high for x, low, high in bounds)
