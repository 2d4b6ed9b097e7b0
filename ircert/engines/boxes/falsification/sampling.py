"""Folds near the centre, looked for as long as there is time: each one found makes the ball smaller.

All in floats but the last step. Points walk to small determinants (`population`, `greedy_points`), also along gradients
of smoother ones (`smoothed_points`), and regions lead to smaller ones and to folds that are too thin for points
(`region_walkers`).
Points beyond folds come nearer (`beyond`), and folds are followed from facet to facet (`fold_walkers`). Next to the
nearest an exact collision is made (`confirming`): only that one counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ircert.engines.boxes.falsification.beyond import Beyond
from ircert.engines.boxes.falsification.confirming import Confirming
from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.boxes.falsification.float_regions import FloatRegions
from ircert.engines.boxes.falsification.fold_walkers import Folds, FoldWalkers
from ircert.engines.boxes.falsification.greedy_points import GreedyPoints
from ircert.engines.boxes.falsification.population import Population, between, directions
from ircert.engines.boxes.falsification.reference import FARTHER, Reference
from ircert.engines.boxes.falsification.region_walkers import RegionWalkers
from ircert.engines.boxes.falsification.smoothed_points import SmoothedPoints
from ircert.engines.boxes.falsification.work import (
    FARTHEST,
    UNIT,
    first_radius,
    least_radius,
    news_within,
    switching_radii,
)
from ircert.engines.boxes.problem.setting import Setting
from ircert.ir.arrays import Array
from ircert.limits import checkpoint

__all__ = ["FoldSampler", "first_radius"]

FIRST_TURN = 400
"""Work of a first search."""
WAYS = "points", "greedily", "gradients", "regions", "beyond", "folds"
PROMISING, FRESH = 3.0, 50_000_000.0
"""A way gets so many times as much of the work as long as it spent less since it last came nearer than before that; and
so much more, in units of about a nanosecond."""
TURN = 10_000
"""What choosing one of them takes, in units of about a nanosecond."""
GROWTH, ENOUGH = 2.0, 4
"""By how much the first balls grow, and how many points beyond folds one has that is large enough."""
FOLLOWED = 8
"""Points beyond folds from which these are followed down after one step, nearest first."""
KEPT, NEW = 24, 1e-6
"""Folds from which others are looked for, and by what part of their distance they differ at least."""
WALKS, FEWEST, PRODUCTS = 32, 4, 50_000_000
"""Walks down folds side by side, and at least: one step of all of them takes so many multiplications, about."""
AWAY, STEPS = (0.02, 0.7), 24
"""They go on towards centres so far away, in parts of their distance, for so many steps at most."""
SHORTER = 0.95
"""Folds on the way are confirmed where they are nearer than the best by this factor: time may end."""
WAITING = 64
"""Folds that wait for a walk, the nearest."""
CLEARLY = 0.999
"""A way came nearer where it did so by this factor."""
CLOSE = 1.1
"""Points that are stuck are followed where they are nearer than that, in parts of the distance of the best."""
SETTLED = 64
"""Steps of walks without a nearer fold after which the best one is brought nearer by exact programs."""


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
        self._walkers = FoldWalkers(self._regions)
        self._sinking = RegionWalkers(self._regions, self._walkers)
        self._known: Folds | None = None
        self._waiting: Folds | None = None
        self._walks = min(WALKS, max(FEWEST, PRODUCTS // (8 * self._regions.cost)))
        self._since, self._begun = 0, False
        self._used, self._spent, self._nearer = (dict.fromkeys(WAYS, 0.0) for _ in range(3))
        self._came = dict.fromkeys(WAYS, math.inf)
        self.reach = min(self.reach, FARTHEST)

    @property
    def work(self) -> int:
        """What was done so far: the same in every run, about a millisecond each."""
        return int(self._regions.spent) // UNIT

    @property
    def idle(self) -> bool:
        """Whether there is nothing to look for."""
        return self._limit <= 0.0 or self._population is None

    def search(self, start: float, reach: float) -> None:
        """A first turn, with folds sought between two radii."""
        self.reach = reach
        if start < math.inf:
            self.advance(FIRST_TURN)

    def knows(self, clear: float) -> None:
        """There is no violation in the ball of this radius."""
        if not self.idle and self._population is not None:
            self._population.inner = clear

    def suggest(self, points: Array) -> None:
        """Follow up points that may lie beyond a fold, the nearest first; that counts as work."""
        if self.idle:
            return
        offsets = points - self.setting.center
        with np.errstate(all="ignore"):
            offsets = offsets[self.setting.norm.lengths(offsets) < self._limit]
            turned = self._regions.orientations(self._regions.phases(offsets)) != self._reference.orientation
            self._follow(offsets[turned])

    def advance(self, work: int) -> bool:
        """Go on for so much work; whether the descent's best violation got nearer."""
        end, before = self.work + work, self.descent.best
        with np.errstate(all="ignore"):
            while self.work < end and self._limit > 0.0 and self._population is not None:
                self._round(self._population)
        return self.descent.best is not before

    def _begin(self, population: Population) -> None:
        """Points of balls that grow, until some lie beyond a fold: about where the nearest folds are.

        Where no neuron switches nothing folds: balls grow beyond the next switch.
        """
        radius, switches = self._least, switching_radii(self.setting)
        while self._limit > 0.0:
            place = np.searchsorted(switches, radius, side="right")
            switch = float(switches[place]) if place < len(switches) else 0.0
            radius = min(GROWTH * (switch if switch > GROWTH * radius else radius), self._limit)
            found = population.across(radius)
            self._beyond.add(found)
            self._follow(found)
            if len(found) >= ENOUGH or radius >= self._limit:
                break

    def _round(self, population: Population) -> None:
        """A step of those whose turn it is."""
        checkpoint()
        if not self._begun:
            self._begun = True
            self._begin(population)
        ways: dict[str, Callable[[Population], None]] = {
            "greedily": self._step_greedily,
            "points": self._step_points,
            "regions": self._step_regions,
        }
        if self.setting.constrained == self.setting.size:
            ways["gradients"] = self._step_gradients
        if len(self._beyond):
            ways["beyond"] = self._step_beyond
        if len(self._walkers) or self._waiting or self._known:
            ways["folds"] = self._step_folds
        name = min(ways, key=lambda name: self._used[name])
        before = self._regions.spent
        self._regions.spent += TURN
        ways[name](population)
        spent = self._regions.spent - before
        self._spent[name] += spent
        promising = self._spent[name] < 2 * self._nearer[name] + FRESH
        self._used[name] += spent / (PROMISING if promising else 1.0)

    def _came_to(self, name: str, lengths: Array) -> None:
        """A way met violations, in floats, at some distances."""
        nearest = float(lengths.min(initial=math.inf))
        if nearest < CLEARLY * self._came[name]:
            self._came[name], self._nearer[name] = nearest, self._spent[name]

    def _step_points(self, population: Population) -> None:
        population.step(self._limit)
        crossed = population.offsets[population.crossed]
        self._came_to("points", self.setting.norm.lengths(crossed))
        self._beyond.add(crossed)
        self._follow(crossed)
        low = population.heights < np.median(population.heights)
        low &= population.heights > -np.inf
        self._sinking.add(population.phases[low], population.lengths[low])

    def _step_greedily(self, population: Population) -> None:
        crossed = self._greedy.step(population, self._limit)
        self._came_to("greedily", self.setting.norm.lengths(crossed))
        self._beyond.add(crossed)
        self._follow(crossed)

    def _step_gradients(self, population: Population) -> None:
        crossed = self._smoothed.step(population, self._limit)
        self._came_to("gradients", self.setting.norm.lengths(crossed))
        self._beyond.add(crossed)
        self._follow(crossed)

    def _step_regions(self, population: Population) -> None:
        if 4 * len(self._sinking) < self._sinking.most:
            offsets = population.anywhere(self._limit)
            self._sinking.add(self._regions.phases(offsets), self.setting.norm.lengths(offsets))
        folds = self._sinking.step(self._limit)
        self._came_to("regions", folds.lengths)
        self._walk(folds)

    def _step_beyond(self, population: Population) -> None:
        ended = self._beyond.step(population)
        self._came_to("beyond", self.setting.norm.lengths(self._beyond.offsets))
        nearest = self._beyond.nearest[None] if len(self._beyond) else ended
        if len(nearest) and self.setting.norm.lengths(nearest)[0] < SHORTER * self._limit:
            self._follow(nearest)
        self._follow(ended[self.setting.norm.lengths(ended) < CLOSE * self._limit])

    def _step_folds(self, _: Population) -> None:
        self._start()
        self._walkers.step()
        self._since += 1
        self._came_to("folds", self._walkers.coming.lengths)
        self._confirm(self._walkers.coming, SHORTER * self._limit)
        ends = self._walkers.take_ends()
        if ends is not None:
            self._confirm(ends, self._limit)
            self._keep(ends)
        if self._since == SETTLED:
            self._confirming.polish()

    # --- from points to folds ----------------------------------------------------------------------------------------

    def _follow(self, offsets: Array) -> None:
        """Walk down the folds on the ways to points that lie beyond one."""
        if not len(offsets):
            return
        lengths = self.setting.norm.lengths(offsets)
        before, behind, lengths = self._reference.changes(offsets[np.argsort(lengths, kind="stable")[:FOLLOWED]])
        folds = self._reference.folds(self._walkers, before, behind, lengths)
        self._walk(folds)
        if not len(folds) and self.descent.best is None:
            for first, second, length in zip(before, behind, lengths.tolist(), strict=True):
                self._confirming.decide(first, second, FARTHER * length)

    def _walk(self, folds: Folds) -> None:
        """Let folds wait for a walk, the nearest of too many."""
        self._confirm(folds, self._limit if self.descent.best is None else SHORTER * self._limit)
        folds = folds if self._waiting is None else Folds.joined([self._waiting, folds])
        self._waiting = folds.of(np.argsort(folds.lengths, kind="stable")[:WAITING])

    def _start(self) -> None:
        """Begin walks in place of those that are over."""
        room = self._walks - len(self._walkers)
        if self._waiting and room > 0:
            self._walkers.add(self._waiting.of(np.arange(len(self._waiting)) < room))
            self._waiting = self._waiting.of(np.arange(len(self._waiting)) >= room)
            room = self._walks - len(self._walkers)
        if self._known and room > self._walks // 4:
            self._start_again(self._known, room)

    def _start_again(self, known: Folds, count: int) -> None:
        """Walks from folds that are known towards other centres, and back."""
        generator = self._generator
        folds = known.of((len(known) * generator.random(count) ** 2).astype(np.int64))
        sizes = between(generator, AWAY, count) * folds.lengths
        centers = directions(self.setting.norm, generator, folds.offsets.shape) * sizes[:, None]
        self._walkers.add(folds, centers, generator.integers(1, STEPS, count))

    def _keep(self, folds: Folds) -> None:
        """Remember folds that others start from: the nearest ones that differ."""
        known = folds if self._known is None else Folds.joined([self._known, folds])
        order = np.argsort(known.lengths, kind="stable")
        lengths = known.lengths[order]
        self._known = known.of(order[np.diff(lengths, prepend=-1.0) > NEW * lengths][:KEPT])

    def _confirm(self, folds: Folds, limit: float) -> None:
        if self._confirming.confirm(folds, limit):
            self._since = 0

    # --- made when they are needed -----------------------------------------------------------------------------------

    @property
    def _limit(self) -> float:
        return news_within(self.descent, self.reach)

    @cached_property
    def _least(self) -> float:
        return min(least_radius(self.setting), self.reach)

    @cached_property
    def _reference(self) -> Reference:
        return Reference(self._regions, self._least)

    @cached_property
    def _confirming(self) -> Confirming:
        return Confirming(self._regions, self.descent, self._least, self._reference.length)

    @cached_property
    def _generator(self) -> np.random.Generator:
        return np.random.default_rng(self.seed + 1)

    @cached_property
    def _greedy(self) -> GreedyPoints:
        return GreedyPoints(self._regions, self._generator, self._least)

    @cached_property
    def _smoothed(self) -> SmoothedPoints:
        return SmoothedPoints(self._regions, self._reference.orientation)

    @cached_property
    def _beyond(self) -> Beyond:
        return Beyond(self._regions, self._generator, self._least, self._reference.orientation)

    @cached_property
    def _population(self) -> Population | None:
        """None where there is nothing to look for: no neuron switches, or all is flat at the centre."""
        if not least_radius(self.setting) < math.inf:
            return None
        reference = self._reference.orientation
        if not reference:
            self._confirming.decide(self._reference.phases, self._reference.phases, self.reach)
            return None
        return Population(self._regions, np.random.default_rng(self.seed), self._least, reference)
