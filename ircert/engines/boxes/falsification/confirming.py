"""From folds in floats to exact violations, which the descent keeps."""

from __future__ import annotations

import numpy as np

from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.boxes.falsification.facet_distance import WHOLE
from ircert.engines.boxes.falsification.facet_inside import inside_facet
from ircert.engines.boxes.falsification.float_regions import FloatRegions
from ircert.engines.boxes.falsification.fold_collision import FoldCollisions
from ircert.engines.boxes.falsification.fold_walkers import Folds
from ircert.engines.boxes.falsification.reference import FARTHER
from ircert.engines.boxes.problem.setting import Phases
from ircert.geometry.pair import Pair
from ircert.ir.arrays import Array

EXACT, WEIGHT = 2_000_000, 400
"""What an exact violation takes, and for each multiplication of a network, in units of about a nanosecond."""
TOUCHING = 1e-9
"""Folds that are nearer, in parts of the first radius, may touch the centre."""


class Confirming:
    """Makes exact violations next to folds; where that fails, exact programs decide.

    least: about the least radius that matters, and home: that of points next to the centre
    """

    def __init__(self, regions: FloatRegions, descent: Descent, least: float, home: float) -> None:
        self._regions, self._setting, self.descent = regions, regions.setting, descent
        self._collisions = FoldCollisions(self._setting, descent.maps)
        self._least, self._home = least, home
        self._decided: set[bytes] = set()
        self._best: tuple[Phases, Phases] | None = None

    def confirm(self, folds: Folds, limit: float) -> bool:
        """Give the descent a violation next to the nearest fold within a limit; whether it is nearer than its best."""
        k = int(folds.lengths.argmin()) if len(folds) else -1
        if k < 0 or not folds.lengths[k] <= limit:
            return False
        self._regions.spent += EXACT + WEIGHT * self._regions.cost / (self._setting.size + 1)
        before, neuron, length = self.descent.best, int(folds.neurons[k]), float(folds.lengths[k])
        regions = self._regions.of(folds.phases[k : k + 1])
        first = second = folds.phases[k]
        if neuron != WHOLE:
            second = regions.across(np.zeros(1, dtype=np.int64), np.array([neuron]))[0]
        inside = inside_facet(self._setting, regions, neuron, max(length, self._home))
        pair = None if inside is None else self._violation((first, second), neuron, folds.offsets[k], inside)
        if pair is not None and self.descent.offer(pair):
            self._best = first, second
        if pair is None or length < TOUCHING * self._least:
            self.decide(first, second, FARTHER * length)
        return self.descent.best is not before

    def _violation(self, sides: tuple[Phases, Phases], neuron: int, nearest: Array, inside: Array) -> Pair | None:
        if neuron == WHOLE:
            return self._collisions.within(sides[0], nearest, inside)
        return self._collisions.beside(sides, neuron, nearest, inside)

    def decide(self, first: Phases, second: Phases, radius: float) -> None:
        """Let exact programs decide, once, what floats cannot: perhaps collisions come arbitrarily close."""
        key = first.tobytes() + second.tobytes()
        if key not in self._decided:
            self._decided.add(key)
            self.descent.search(first, second, radius)

    def polish(self) -> None:
        """Bring the best fold nearer by exact programs: its last digits, which take too long in norm 2."""
        if self._best is not None and self.descent.best is not None and self._setting.norm != "2":
            self.descent.improve(*self._best, self.descent.best[1])
