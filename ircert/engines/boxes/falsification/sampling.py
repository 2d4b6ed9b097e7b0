"""Folds near the centre, looked for as long as there is time: each one found makes the ball smaller.

All in floats but the last step: points walk to small determinants (`population`), folds are followed to their nearest
points (`fold_surface`), and next to those an exact collision is made (`fold_collision`). Only that one counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.boxes.falsification.facet_distance import inside_facet
from ircert.engines.boxes.falsification.float_regions import FloatRegions
from ircert.engines.boxes.falsification.fold_collision import FoldCollisions
from ircert.engines.boxes.falsification.fold_surface import Fold, FoldSurface
from ircert.engines.boxes.falsification.population import Population, directions
from ircert.engines.boxes.falsification.work import FARTHEST, UNIT, first_radius, least_radius, news_within
from ircert.engines.boxes.problem.setting import Phases, Setting
from ircert.geometry.pair import Pair
from ircert.ir.arrays import Array
from ircert.limits import checkpoint

__all__ = ["FoldSampler", "first_radius"]

FIRST_TURN = 400
"""Work of a first search."""
HOME, NEAR = 32, 1e-3
"""Points next to the centre that tell the reference orientation, and how near, in parts of the first radius."""
HALVINGS = 60
FOLLOWED = 2
"""Points across a fold that are followed up after one step, nearest first."""
FARTHER = 1.0625
"""Where the regions next to a fold have a collision: as near as this, in parts of the fold's distance."""
TOUCHING = 1e-9
"""Folds that are nearer, in parts of the first radius, may touch the centre."""
REMEMBERED = 100_000
"""Regions that are not looked at again."""
KEPT, NEW = 12, 1e-6
"""Folds from which others are looked for, and by what part of their distance they differ at least."""
WANDERING = 2
"""One part in so many of the work starts from folds that are known, or from points beyond them."""
BEYOND = 1.5
"""How far beyond the nearest fold."""
RIDGES, WIDER = 12, 1.25
"""Across how many ridges, and in how much larger a ball."""
SETTLED = 64
"""Steps without a nearer fold after which the best one is brought nearer by exact programs."""


@dataclass
class FoldSampler:
    """Looks for violations at folds, and in flat regions, of a setting with m >= n; goes on where it was.

    reach: no violation is sought farther away
    """

    setting: Setting
    descent: Descent
    seed: int = 0
    reach: float = math.inf

    def __post_init__(self) -> None:
        self._regions = FloatRegions(self.setting)
        self._surface = FoldSurface(self._regions)
        self._collisions = FoldCollisions(self.setting, self.descent.maps)
        self._seen: set[bytes] = set()
        self._failed: set[bytes] = set()
        self._best: Fold | None = None
        self._lowest: list[Fold] = []
        self._wandering = 0
        self._ways = np.random.default_rng(self.seed + 1)
        self._since = 0
        self.reach = min(self.reach, FARTHEST)

    @property
    def work(self) -> int:
        """What was done so far: the same in every run, about a millisecond each."""
        return self._regions.products // UNIT

    @property
    def idle(self) -> bool:
        """Whether there is nothing to look for."""
        return self._limit <= 0.0 or self._population is None

    def search(self, start: float, reach: float) -> None:
        """A first turn, with folds sought between two radii."""
        self.reach = reach
        if start < math.inf:
            self.advance(FIRST_TURN)

    def suggest(self, points: Array) -> None:
        """Follow up points that may lie beyond a fold, the nearest first; that counts as work."""
        if self._limit <= 0.0 or self._population is None:
            return
        offsets = points - self.setting.center
        lengths = np.asarray(self.setting.norm.lengths(offsets))
        with np.errstate(all="ignore"):
            for i in np.argsort(lengths, kind="stable")[:FOLLOWED].tolist():
                if lengths[i] < self._limit:
                    self._follow(offsets[i])

    def advance(self, work: int) -> bool:
        """Go on for so much work; whether the descent's best violation got nearer."""
        end, before = self.work + work, self.descent.best
        with np.errstate(all="ignore"):
            while self.work < end and self._limit > 0.0 and self._population is not None:
                self._round(self._population)
        return self.descent.best is not before

    def _round(self, population: Population) -> None:
        """One step of everybody, and what follows from it."""
        checkpoint()
        population.step(self._limit)
        self._since += 1
        for i in population.crossed[:FOLLOWED]:
            self._follow(population.offsets[i])
        self._look_around(population)
        if self._lowest and WANDERING * self._wandering < self._regions.products:
            before = self._regions.products
            if self._ways.random() < 0.5:
                self._wander()
            else:
                self._start_elsewhere(population)
            self._wandering += self._regions.products - before
        if self._since == SETTLED:
            self._polish()

    def _polish(self) -> None:
        """Bring the best fold nearer by exact programs: its last digits, which take too long in norm 2."""
        if self._best is not None and self.descent.best is not None and self.setting.norm != "2":
            self.descent.improve(*self._best.sides, self.descent.best[1])

    @property
    def _limit(self) -> float:
        return news_within(self.descent, self.reach)

    @cached_property
    def _least(self) -> float:
        return min(least_radius(self.setting), self.reach)

    @cached_property
    def _home(self) -> tuple[Array, float]:
        """A point next to the centre, and its orientation: that of most points there that have one."""
        generator = np.random.default_rng(self.setting.size)
        steps = directions(self.setting.norm, generator, (HOME, self.setting.size))
        low, high = self.setting.low - self.setting.center, self.setting.high - self.setting.center
        offsets = NEAR * self._least * steps
        offsets = np.where((offsets < low) | (offsets > high), -offsets, offsets)
        offsets = np.clip(offsets, low, high)
        signs = self._regions.orientations(self._regions.phases(offsets))
        reference = 1.0 if signs.sum() >= 0 and signs.max() > 0 else float(signs.min())
        return offsets[np.argmax(signs == reference)], reference

    @property
    def _home_length(self) -> float:
        return float(self.setting.norm.lengths(self._home[0][None])[0])

    @cached_property
    def _population(self) -> Population | None:
        """None where there is nothing to look for: no neuron switches, or all is flat at the centre."""
        if not least_radius(self.setting) < math.inf:
            return None
        if not self._home[1]:
            home = self._regions.phases(self._home[0][None])[0]
            self._decide(home, home, self.reach)
            return None
        return Population(self._regions, np.random.default_rng(self.seed), self._least, self._home[1])

    # --- from a point to a collision ---------------------------------------------------------------------------------

    def _follow(self, offset: Array) -> None:
        """Bring the fold on the way to a point nearer, and confirm it."""
        before, behind, length = self._change(offset)
        fold = self._surface.between(before, behind, FARTHER * length)
        if fold is not None:
            self._bring_nearer(fold)
        elif self.descent.best is None:
            self._decide(before, behind, FARTHER * length)

    def _bring_nearer(self, fold: Fold) -> None:
        if self.descent.best is None:  # time may end before a nearer one is found
            self._confirm(fold)
        lowest = self._surface.lowest(fold)
        self._confirm(lowest)
        self._keep(lowest)

    def _keep(self, fold: Fold) -> None:
        """Remember a fold that others start from, if it is one of the nearest and a new one."""
        length = fold.nearest.length
        if all(abs(length - other.nearest.length) > NEW * length for other in self._lowest):
            self._lowest = sorted([*self._lowest, fold], key=lambda f: f.nearest.length)[:KEPT]

    def _start_elsewhere(self, population: Population) -> None:
        """Beyond the nearest fold many points lie across one: down from any of them."""
        offset = population.across(BEYOND * self._limit)
        if offset is not None:
            self._follow(offset)

    def _wander(self) -> None:
        """From one of the nearest folds across some ridges, and down from there."""
        start = self._lowest[int(len(self._lowest) * self._ways.random() ** 2)]
        limit = WIDER * start.nearest.length
        fold = self._surface.wandered(start, self._ways, int(self._ways.integers(1, RIDGES)), limit)
        if fold is not None:
            self._bring_nearer(fold)

    def _change(self, offset: Array) -> tuple[Phases, Phases, float]:
        """The patterns on both sides of a change of orientation on the way from home to a point, and how far it is."""
        home, reference = self._home
        low, high = 0.0, 1.0
        before, behind = self._regions.phases(np.stack([home, offset]))
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            phases = self._regions.phases((home + middle * (offset - home))[None])
            if self._regions.orientations(phases)[0] == reference:
                low, before = middle, phases[0]
            else:
                high, behind = middle, phases[0]
        return before, behind, float(self.setting.norm.lengths((home + high * (offset - home))[None])[0])

    def _look_around(self, population: Population) -> None:
        """Folds may be too narrow to step into them: look at all facets of a region with a small determinant."""
        for i in np.argsort(population.heights, kind="stable"):
            key = population.phases[i].tobytes()
            if len(self._seen) > REMEMBERED:
                self._seen.clear()
            if key in self._seen or population.heights[i] == -np.inf:
                continue
            self._seen.add(key)
            fold = self._surface.around(population.phases[i], self._limit)
            if fold is not None:
                self._bring_nearer(fold)
            return

    def _confirm(self, fold: Fold) -> None:
        """Give the descent an exact violation next to a fold, if it is nearer than its best."""
        limit = self._limit
        if fold.nearest.length > limit:
            return
        pair = self._violation(fold)
        if pair is not None and self.descent.offer(pair):
            self._best, self._since = fold, 0
        if pair is None or fold.nearest.length < TOUCHING * self._least:
            self._decide(*fold.sides, FARTHER * fold.nearest.length)

    def _violation(self, fold: Fold) -> Pair | None:
        nearest = fold.nearest.offset
        inside = inside_facet(self.setting, fold.region, fold.neuron, max(fold.nearest.length, self._home_length))
        if inside is None:
            return None
        if fold.neuron is None:
            return self._collisions.within(fold.region.phases, nearest, inside)
        return self._collisions.beside(fold.sides, fold.neuron, nearest, inside)

    def _decide(self, first: Phases, second: Phases, radius: float) -> None:
        """Let exact programs decide, once, what floats cannot: perhaps collisions come arbitrarily close."""
        key = first.tobytes() + second.tobytes()
        if key not in self._failed:
            self._failed.add(key)
            self.descent.search(first, second, radius)
