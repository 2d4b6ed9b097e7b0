"""The orientation around the centre, and where it changes on the way to a point, in floats."""

from __future__ import annotations

import numpy as np

from ircert.engines.boxes.falsification.facet_distance import WHOLE
from ircert.engines.boxes.falsification.float_regions import FloatRegions
from ircert.engines.boxes.falsification.fold_walkers import Folds, FoldWalkers
from ircert.engines.boxes.falsification.population import directions
from ircert.engines.boxes.problem.setting import Phases
from ircert.ir.arrays import Array

POINTS, NEAR = 32, 1e-3
"""Points next to the centre that tell the reference orientation, and how near, in parts of the first radius."""
HALVINGS = 60
FARTHER = 1.0625
"""Where the regions next to a fold have a collision: as near as this, in parts of the fold's distance."""


class Reference:
    """`home` is a point next to the centre, `orientation` that of most points there that have one."""

    def __init__(self, regions: FloatRegions, least: float) -> None:
        self._regions, setting = regions, regions.setting
        self._setting = setting
        generator = np.random.default_rng(setting.size)
        steps = directions(setting.norm, generator, (POINTS, setting.size))
        low, high = setting.low - setting.center, setting.high - setting.center
        offsets = NEAR * least * steps
        offsets = np.where((offsets < low) | (offsets > high), -offsets, offsets)
        offsets = np.clip(offsets, low, high)
        signs = regions.orientations(regions.phases(offsets))
        self.orientation = 1.0 if signs.sum() >= 0 and signs.max() > 0 else float(signs.min())
        self.home = offsets[np.argmax(signs == self.orientation)]

    @property
    def phases(self) -> Phases:
        """The pattern at home."""
        return self._regions.phases(self.home[None])[0]

    @property
    def length(self) -> float:
        """How far from the centre home is."""
        return float(self._setting.norm.lengths(self.home[None])[0])

    def changes(self, offsets: Array) -> tuple[Phases, Phases, Array]:
        """The patterns on both sides of changes of orientation on ways from home to points, and how far they are."""
        home = self.home
        low, high = np.zeros(len(offsets)), np.ones(len(offsets))
        before, behind = (self._regions.phases(points) for points in (np.tile(home, (len(offsets), 1)), offsets))
        for _ in range(HALVINGS):
            if not ((before != behind).sum(axis=1) > 1).any():
                break
            middle = (low + high) / 2
            phases = self._regions.phases(home + middle[:, None] * (offsets - home))
            same = self._regions.orientations(phases) == self.orientation
            low, high = np.where(same, middle, low), np.where(same, high, middle)
            before, behind = np.where(same[:, None], phases, before), np.where(same[:, None], behind, phases)
        return before, behind, self._setting.norm.lengths(home + high[:, None] * (offsets - home))

    def folds(self, walkers: FoldWalkers, before: Phases, behind: Phases, lengths: Array) -> Folds:
        """The folds between the patterns of such changes, and regions that are flat there."""
        return Folds.joined([self._towards(walkers, *sides, lengths) for sides in ((before, behind), (behind, before))])

    def _towards(self, walkers: FoldWalkers, first: Phases, second: Phases, lengths: Array) -> Folds:
        regions = self._regions.of(first)
        which, neurons = np.nonzero((first != second) & (regions.ratios < 0.0))
        flat = np.flatnonzero(regions.signs == 0.0)
        which, neurons = np.r_[which, flat], np.r_[neurons, np.full(len(flat), WHOLE)]
        return walkers.measured(regions, which, neurons, FARTHER * lengths[which])[0]
