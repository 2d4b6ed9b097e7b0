"""Colliding pairs that are far apart: Newton's method for f(x) = f(y) from pairs anywhere in a ball, again and again.

In floats: the patterns at both points go to the exact descent, which finds the nearest pair they have, if any.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ircert.engines.boxes.enclosures.secants import Secants
from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.boxes.falsification.falsifier import NEWTON, SINGULAR_VALUES, equal_pairs, sides
from ircert.engines.boxes.falsification.population import directions
from ircert.engines.boxes.falsification.work import FARTHEST, UNIT, least_radius, news_within
from ircert.engines.boxes.problem.setting import Setting
from ircert.ir.arrays import Array
from ircert.limits import checkpoint

STARTS, FEWEST = 64, 2
"""Pairs of one round, and at least …"""
LONGEST = 100_000_000
"""… as long as it takes no more multiplications: whoever asks for little work gets little."""
FOLLOWED = 2
"""Pairs of one round that are decided exactly, nearest first."""
FARTHER = 1.5
"""Where Newton's method ends need not be the nearest pair of two regions: pairs count that are only so much farther."""
ROUND = 2_000_000
"""What a round takes at least, in multiplications, …"""
PROGRAM = 2_000_000, 60_000
"""… and an exact program: at least, and for each neuron …"""
EXACT = 60_000_000
"""… of as many as take so long, from which the next round goes on: wide networks have long ways down."""


@dataclass
class PairSampler:
    """Looks for pairs that are far apart, as long as it is told to; goes on where it was."""

    setting: Setting
    descent: Descent
    seed: int = 0
    reach: float = math.inf

    def __post_init__(self) -> None:
        self._secants = Secants(self.setting)
        self._generator = np.random.default_rng(self.seed)
        self._products = 0
        self.reach = min(self.reach, FARTHEST)

    @property
    def work(self) -> int:
        """What was done so far: the same in every run, about a millisecond each."""
        return self._products // UNIT

    @property
    def idle(self) -> bool:
        """Whether there is nothing to look for."""
        return self._limit <= 0.0 or not self._least < math.inf

    def advance(self, work: int) -> bool:
        """Go on for so much work; whether the descent's best violation got nearer."""
        end, before = self.work + work, self.descent.best
        with np.errstate(all="ignore"):
            while self.work < end and not self.idle:
                self._round()
        return self.descent.best is not before

    def _round(self) -> None:
        checkpoint()
        self._products += max(ROUND, self._count * self._each)
        limit = self._limit
        radii, points = self._starts(limit)
        try:
            found = equal_pairs(self.setting, self._secants, points, radii, limit)
        except np.linalg.LinAlgError:
            return
        near = sorted((pair for pair in found if pair[0] < FARTHER * limit), key=lambda pair: pair[0])
        self._descend()
        for _, pair in near[:FOLLOWED]:
            self._descend(pair)

    def _descend(self, pair: Array | None = None) -> None:
        """Bring the best pair nearer by exact programs, or another one."""
        descent, before = self.descent, self.descent.programs
        if pair is None or descent.improve(*sides(self.setting, pair), onward=False):
            descent.further(EXACT // self._program)
        self._products += (descent.programs - before) * self._program

    def _starts(self, limit: float) -> tuple[Array, Array]:
        """Pairs in the ball, half of them of any magnitude."""
        generator, size, count = self._generator, self.setting.size, self._count
        radii = limit * generator.random(count) ** (1.0 / size)
        least = min(self._least, limit)
        radii[::2] = np.exp(generator.uniform(math.log(least), math.log(limit), count))[::2]
        steps = directions(self.setting.norm, generator, (2 * count, size)).reshape(count, 2, size)
        return radii, self.setting.center + radii[:, None, None] * steps

    @cached_property
    def _each(self) -> int:
        """What one pair takes."""
        setting = self.setting
        step = 2 * self._secants.products + SINGULAR_VALUES * setting.constrained**2 * 2 * setting.size
        return NEWTON * step // 4

    @cached_property
    def _program(self) -> int:
        """What an exact program takes."""
        return PROGRAM[0] + PROGRAM[1] * self.setting.neurons

    @cached_property
    def _count(self) -> int:
        return min(STARTS, max(FEWEST, LONGEST // max(1, self._each)))

    @cached_property
    def _least(self) -> float:
        return least_radius(self.setting)

    @property
    def _limit(self) -> float:
        return news_within(self.descent, self.reach)
