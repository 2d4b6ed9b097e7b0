"""Points of a ball that look for folds: each walks, by random steps, to regions of smaller and smaller determinants.

Where a determinant has another sign than that of the reference, a fold lies between. Points start anywhere in the ball,
near and far alike where it is huge: far away a network is about homogeneous, so that a direction there is enough. Some
steps lead to larger determinants (simulated annealing, at heats of all magnitudes) or start from where another point
is. When the ball gets smaller, points come along.
"""

from __future__ import annotations

import math

import numpy as np

from ircert.engines.boxes.falsification.float_regions import FloatRegions
from ircert.engines.boxes.problem.setting import Phases
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array, Indices

COUNT = 128
"""Points in most networks, …"""
FEWEST, PRODUCTS = 16, 100_000_000
"""… and how many at least: one step of all of them takes so many multiplications, about."""
PATIENCE = 60
"""Steps without a smaller determinant after which a point starts anew."""
HUGE = 64.0
"""In balls larger than this, in parts of the least radius that matters, half of the points have any magnitude."""
HEAT = (-8.0, -1.0)
"""Logarithms of heats: about how much larger, as a logarithm, a determinant may get in a step."""
ELSEWHERE = 0.1
"""How many steps start from where another point is."""
DECADES = (0.3, 3.0)
"""How much shorter than a point's distance its steps are, as powers of ten."""
STEP = 200_000.0, 200.0
"""What a step takes beside determinants, at least and for each coordinate, in units of about a nanosecond."""
INSIDE = 1 - 2.0**-20
"""Points stay inside the ball by this factor."""


class Population:
    """Points of balls around the centre; `crossed` says which lie beyond a fold."""

    def __init__(self, regions: FloatRegions, generator: np.random.Generator, least: float, reference: float) -> None:
        self._regions, self._generator = regions, generator
        self._setting = regions.setting
        self._least, self._reference = least, reference
        count = int(min(COUNT, max(FEWEST, PRODUCTS // regions.cost)))
        self.offsets = np.zeros((count, self._setting.size))
        self.phases: Phases = np.ones((count, self._setting.neurons), dtype=np.int8)
        self.heights = np.full(count, np.inf)
        self._ages = np.full(count, PATIENCE + 1)

    @property
    def crossed(self) -> Indices:
        """The points beyond a fold, the nearest first."""
        found = np.flatnonzero(self.heights == -np.inf)
        return found[np.argsort(self._lengths(self.offsets[found]), kind="stable")]

    @property
    def lengths(self) -> Array:
        """How far away everybody is."""
        return self._lengths(self.offsets)

    def step(self, limit: float) -> None:
        """Everybody takes a step inside the ball of this radius; those without a chance start anew, and those across
        that are not outside of it."""
        self._regions.spent += STEP[0] + STEP[1] * self.offsets.size
        outside = self._lengths(self.offsets) > limit
        anew = (self._ages > PATIENCE) | ((self.heights == -np.inf) & ~outside)
        offsets = np.where(anew[:, None], self.anywhere(limit), self._beside(limit))
        phases = self._regions.phases(offsets)
        heights = self._heights(phases)
        worse = math.exp(self._generator.uniform(*HEAT)) * self._generator.exponential(size=len(heights))
        taken = anew | outside | (heights <= self.heights + worse)
        self._ages = np.where(anew | (heights < self.heights), 0, self._ages + 1)
        self.offsets = np.where(taken[:, None], offsets, self.offsets)
        self.phases = np.where(taken[:, None], phases, self.phases)
        self.heights = np.where(taken, heights, self.heights)

    def across(self, limit: float) -> Array:
        """Those of some points anywhere in the ball of this radius that lie beyond a fold."""
        offsets = self.anywhere(limit)
        return offsets[self._heights(self._regions.phases(offsets)) == -np.inf]

    def _heights(self, phases: Phases) -> Array:
        """The logarithm of the determinant; less than any number across a fold."""
        signs, logarithms = self._regions.volumes(phases)
        return np.where(signs == self._reference, logarithms, -np.inf)

    def anywhere(self, limit: float, *, evenly: bool = False) -> Array:
        """As many points anywhere in a ball; near and far alike where it is huge, if they need not lie evenly."""
        generator, shape = self._generator, self.offsets.shape
        radii = limit * generator.random(shape[0]) ** (1.0 / shape[1])
        if limit > HUGE * self._least and not evenly:
            any_size = np.exp(generator.uniform(math.log(self._least), math.log(limit), shape[0]))
            radii[::2] = any_size[::2]
        return self._in_domain(directions(self._setting.norm, generator, shape) * (INSIDE * radii)[:, None])

    def _beside(self, limit: float) -> Array:
        """Steps of all lengths, of all coordinates or some; far away also towards the centre or away from it."""
        generator, (count, size) = self._generator, self.offsets.shape
        lengths = self._lengths(self.offsets)
        steps = generator.standard_normal((count, size)) / math.sqrt(size)
        steps *= (lengths * 10.0 ** -generator.uniform(*DECADES, count))[:, None]
        some = generator.random((count, size)) < 0.4
        steps = np.where((generator.random(count) < 0.5)[:, None], steps * some, steps)
        others = self.offsets[generator.integers(count, size=count)]
        base = np.where((generator.random(count) < ELSEWHERE)[:, None], others, self.offsets)
        offsets = base + steps
        if limit > HUGE * self._least:
            factors = np.exp(0.7 * generator.standard_normal(count))
            offsets *= np.where(generator.random(count) < 0.3, factors, 1.0)[:, None]
        if self._setting.norm == Norm.INF:
            return self._in_domain(np.clip(offsets, -INSIDE * limit, INSIDE * limit))
        shorter = np.minimum(1.0, INSIDE * limit / np.maximum(self._lengths(offsets), 1e-300))
        return self._in_domain(offsets * shorter[:, None])

    def _in_domain(self, offsets: Array) -> Array:
        """The same where that lies in the domain, else another number of at most the same size."""
        setting = self._setting
        low, high = setting.low - setting.center, setting.high - setting.center
        sizes = np.abs(offsets)
        ends = np.maximum(low, -sizes), np.minimum(high, sizes)
        other = ends[0] + self._generator.random(offsets.shape) * (ends[1] - ends[0])
        return np.where((offsets >= low) & (offsets <= high), offsets, other)

    def _lengths(self, offsets: Array) -> Array:
        return self._setting.norm.lengths(offsets)


def directions(norm: Norm, generator: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Vectors of length 1, evenly over the sphere of a norm."""
    if norm == Norm.INF:
        found = generator.uniform(-1.0, 1.0, shape)
        found[np.arange(shape[0]), generator.integers(shape[1], size=shape[0])] = generator.choice(
            [-1.0, 1.0], shape[0]
        )
        return found
    found = generator.standard_normal(shape) if norm == Norm.TWO else generator.laplace(size=shape)
    return found / np.maximum(norm.lengths(found), 1e-300)[:, None]


def between(generator: np.random.Generator, ends: tuple[float, float], count: int) -> Array:
    """Numbers between two ends, of any magnitude."""
    return np.asarray(np.exp(generator.uniform(math.log(ends[0]), math.log(ends[1]), count)))
