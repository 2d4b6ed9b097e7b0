"""Points of a ball that look for folds: each walks, by random steps, to regions of smaller and smaller determinants.

Where a determinant has another sign than that of the reference, a fold lies between. Points start anywhere in the ball,
near and far alike where it is huge: far away a network is about homogeneous, so that a direction there is enough. Some
steps lead to larger determinants (simulated annealing, at heats of all magnitudes) or start from where another point
of the same group is; one group for all would soon be at one place. When the ball gets smaller, points come along. Where
a ball inside is known to be good, half of the groups stay in balls of all sizes between the two: most of the volume of
the large one is far out, and the nearest fold counts.
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
GROUP, PATIENCE = 8, 150
"""Points of a group, and the steps without a smaller determinant after which all of it start anew."""
HUGE = 64.0
"""In balls larger than this, in parts of the least radius that matters, half of the points have any magnitude."""
HEAT = (-8.0, -1.0)
"""Logarithms of heats: about how much larger, as a logarithm, a determinant may get in a step."""
GOLDEN = 0.6180339887498949
"""Multiples of it lie evenly between 0 and 1, up to whole numbers, however many there are."""
ELSEWHERE = 0.1
"""How many steps start from where another point of the group is."""
DECADES = (0.3, 3.0)
"""How much shorter than a point's distance its steps are, as powers of ten."""
STEP = 200_000.0, 200.0
"""What a step takes beside determinants, at least and for each coordinate, in units of about a nanosecond."""
INSIDE = 1 - 2.0**-20
"""Points stay inside the ball by this factor."""


class Population:
    """Points of balls around the centre; `crossed` says which lie beyond a fold.

    inner: the radius of a ball that has no fold
    """

    inner: float = 0.0

    def __init__(self, regions: FloatRegions, generator: np.random.Generator, least: float, reference: float) -> None:
        self._regions, self._generator = regions, generator
        self._setting = regions.setting
        self._least, self._reference = least, reference
        count = int(min(COUNT, max(FEWEST, PRODUCTS // regions.cost)))
        self.offsets = np.zeros((count, self._setting.size))
        self.phases: Phases = np.ones((count, self._setting.neurons), dtype=np.int8)
        self.heights = np.full(count, np.inf)
        self._groups = np.arange(count) // GROUP
        groups = int(self._groups[-1]) + 1
        self._shares = np.where(self._groups % 2, self._groups * GOLDEN % 1.0, 1.0)
        self._lowest, self._ages = np.full(groups, np.inf), np.full(groups, PATIENCE + 1)

    @property
    def crossed(self) -> Indices:
        """The points beyond a fold, the nearest first."""
        found = np.flatnonzero(self.heights == -np.inf)
        return found[np.argsort(self._lengths(self.offsets[found]), kind="stable")]

    @property
    def lengths(self) -> Array:
        """How far away everybody is."""
        return self._lengths(self.offsets)

    def limits(self, limit: float) -> Array:
        """How far everybody may go in the ball of this radius."""
        if not 0.0 < self.inner < limit:
            return np.full(len(self._shares), limit)
        return np.asarray(np.minimum(limit, self.inner * (limit / self.inner) ** self._shares))

    def step(self, limit: float) -> None:
        """Everybody takes a step inside the ball of this radius; groups without a chance start anew, and those with
        a point across that is not outside of it."""
        self._regions.spent += STEP[0] + STEP[1] * self.offsets.size
        outside = self._lengths(self.offsets) > self.limits(limit)
        self._ages[self._groups[(self.heights == -np.inf) & ~outside]] = PATIENCE + 1
        anew = (self._ages > PATIENCE)[self._groups]
        offsets = np.where(anew[:, None], self.anywhere(limit), self._beside(limit))
        phases = self._regions.phases(offsets)
        heights = self._heights(phases)
        worse = math.exp(self._generator.uniform(*HEAT)) * self._generator.exponential(size=len(heights))
        taken = anew | outside | (heights <= self.heights + worse)
        self.offsets = np.where(taken[:, None], offsets, self.offsets)
        self.phases = np.where(taken[:, None], phases, self.phases)
        self.heights = np.where(taken, heights, self.heights)
        before = np.where(self._ages > PATIENCE, np.inf, self._lowest)
        self._lowest = before.copy()
        np.minimum.at(self._lowest, self._groups, self.heights)
        self._ages = np.where(self._lowest < before, 0, self._ages + 1)

    def across(self, limit: float) -> Array:
        """Those of some points anywhere in the ball of this radius that lie beyond a fold."""
        offsets = self.anywhere(limit)
        return offsets[self.heights_at(offsets) == -np.inf]

    def heights_at(self, offsets: Array) -> Array:
        """The logarithms of determinants at some points; less than any number across a fold."""
        return self._heights(self._regions.phases(offsets))

    def in_ball(self, count: int, radius: float) -> Array:
        """Points anywhere in a ball, most of them far out."""
        shape = count, self._setting.size
        radii = INSIDE * radius * self._generator.random(count) ** (1.0 / shape[1])
        return self._in_domain(directions(self._setting.norm, self._generator, shape) * radii[:, None])

    def inside(self, offsets: Array, radius: float) -> Array:
        """Points of a ball and the domain, next to others."""
        return self._in_domain(within(self._setting.norm, offsets, np.full(len(offsets), INSIDE * radius)))

    def _heights(self, phases: Phases) -> Array:
        """The logarithm of the determinant; less than any number across a fold."""
        signs, logarithms = self._regions.volumes(phases)
        return np.where(signs == self._reference, logarithms, -np.inf)

    def anywhere(self, limit: float) -> Array:
        """As many points anywhere in a ball, near and far alike where it is huge."""
        generator, shape, least = self._generator, self.offsets.shape, max(self._least, self.inner)
        radii = self.limits(limit) * generator.random(shape[0]) ** (1.0 / shape[1])
        if limit > HUGE * least:
            any_size = np.exp(generator.uniform(math.log(least), math.log(limit), shape[0]))
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
        others = self.offsets[np.minimum(self._groups * GROUP + generator.integers(GROUP, size=count), count - 1)]
        base = np.where((generator.random(count) < ELSEWHERE)[:, None], others, self.offsets)
        offsets = base + steps
        if limit > HUGE * max(self._least, self.inner):
            factors = np.exp(0.7 * generator.standard_normal(count))
            offsets *= np.where(generator.random(count) < 0.3, factors, 1.0)[:, None]
        return self._in_domain(within(self._setting.norm, offsets, INSIDE * self.limits(limit)))

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


def within(norm: Norm, offsets: Array, radii: Array) -> Array:
    """Offsets (rows) that lie in balls of these radii, the nearest ones or, in norms 1 and 2, towards the centre."""
    if norm == Norm.INF:
        return np.clip(offsets, -radii[:, None], radii[:, None])
    return offsets * np.minimum(1.0, radii / np.maximum(norm.lengths(offsets), 1e-300))[:, None]


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
