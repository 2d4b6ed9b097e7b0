"""One point at a time that looks for a fold greedily: the best of many, then the best of many steps, again and again.

Points of a population are many, and each takes one step at a time; where determinants change slowly, as in networks
with many inputs, the best of many steps leads down much faster. Balls of all sizes up to the limit take turns with the
largest: far away a network is about homogeneous, and which size is good for looking is not known before.
"""

from __future__ import annotations

import math

import numpy as np

from ircert.engines.boxes.falsification.float_regions import FloatRegions
from ircert.engines.boxes.falsification.population import GOLDEN, STEP, Population
from ircert.ir.arrays import Array

COUNT, FEWEST, PRODUCTS = 128, 16, 50_000_000
"""Points of a step, and at least: all of them take so many multiplications, about."""
STARTS, STEPS = 4, 30
"""Steps that look for a first point, and how many follow at most."""
WIDTHS = 0.5, 0.01
"""How long steps are at first and at last, in parts of the radius."""


class GreedyPoints:
    """A point of balls around the centre that goes to regions of smaller and smaller determinants."""

    def __init__(self, regions: FloatRegions, generator: np.random.Generator, least: float) -> None:
        self._regions, self._generator, self._least = regions, generator, least
        self._count = int(min(COUNT, max(FEWEST, PRODUCTS // regions.cost)))
        self._taken, self._begun = STARTS + STEPS, 0
        self._radius = self._height = math.inf
        self._best = np.zeros(regions.setting.size)

    def step(self, population: Population, limit: float) -> Array:
        """One step inside the ball of this radius, or a new start; the points that lie beyond a fold are returned."""
        if self._taken >= STARTS + STEPS or self._radius > limit:
            self._begin(max(self._least, population.inner), limit)
        self._regions.spent += STEP[0] + STEP[1] * self._count * len(self._best)
        offsets = self._tried(population)
        heights = population.heights_at(offsets)
        self._taken += 1
        crossed = heights == -np.inf
        if crossed.any():
            self._taken = STARTS + STEPS
            return np.asarray(offsets[crossed])
        lowest = int(heights.argmin())
        if heights[lowest] < self._height:
            self._best, self._height = offsets[lowest], float(heights[lowest])
        return offsets[:0]

    def _begin(self, low: float, limit: float) -> None:
        """The largest ball, and one of any size, by turns."""
        self._begun += 1
        share = 1.0 if self._begun % 2 else self._begun * GOLDEN % 1.0
        self._radius = limit if limit <= low else float(low * (limit / low) ** share)
        self._taken, self._height = 0, math.inf

    def _tried(self, population: Population) -> Array:
        """Points anywhere in the ball, or next to the best one: all of its coordinates or half of them move."""
        shape = self._count, len(self._best)
        if self._taken < STARTS:
            return population.in_ball(self._count, self._radius)
        first, last = WIDTHS
        width = first * (last / first) ** ((self._taken - STARTS) / STEPS)
        steps = self._generator.standard_normal(shape) * (width * self._radius)
        steps *= self._generator.random(shape) < 0.5
        return population.inside(self._best + steps, self._radius)
