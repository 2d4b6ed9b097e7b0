"""From region to region across facets to smaller and smaller determinants, inside a ball and from many places at once.

A region tells the determinants of all regions behind its planes (`float_regions`); whether a plane is one of its facets
inside the ball is a small linear program. So walks enter regions that are too thin to step into them, and end at a
fold, in a flat region, or where no determinant around is smaller. All in floats.
"""

from __future__ import annotations

import numpy as np

from ircert.engines.boxes.falsification.facet_distance import WHOLE
from ircert.engines.boxes.falsification.float_regions import FloatRegions, Regions
from ircert.engines.boxes.falsification.fold_walkers import Folds, FoldWalkers
from ircert.engines.boxes.problem.setting import Phases
from ircert.ir.arrays import Array, Indices

TRIED, FOLDS = 4, 16
"""Planes of a region that are looked at in one step, those with the smallest determinants behind them; and where these
have another sign."""
SMALLER = 1 - 1e-6
"""Determinants behind a plane are smaller by at least this factor."""
WIDER = 16.0
"""Facets are looked for within so many times the distance of a walk from the centre."""
MOST, FEWEST, NUMBERS = 256, 16, 250_000
"""Walks side by side, and at least: as many as have so many numbers in the rows of their regions."""
REMEMBERED = 200_000
"""Regions that are not entered again."""


class RegionWalkers:
    """Walks side by side, from patterns that are added."""

    def __init__(self, regions: FloatRegions, folds: FoldWalkers) -> None:
        self._regions, self._folds = regions, folds
        self._phases: Phases = np.zeros((0, regions.setting.neurons), dtype=np.int8)
        self._lengths = np.zeros(0)
        self._seen: set[bytes] = set()
        numbers = regions.setting.neurons * (regions.setting.size + 1)
        self.most = min(MOST, max(FEWEST, NUMBERS // max(1, numbers)))

    def __len__(self) -> int:
        return len(self._phases)

    def add(self, phases: Phases, lengths: Array) -> None:
        """Walk from regions, and points of them at some distances from the centre; not from those seen before, and not
        from more than there is room for."""
        if len(self._seen) > REMEMBERED:
            self._seen.clear()
        new: list[int] = []
        for k, key in enumerate(np.packbits(phases > 0, axis=1)):
            if len(self) + len(new) == self.most:
                break
            if (text := key.tobytes()) not in self._seen:
                self._seen.add(text)
                new.append(k)
        self._phases = np.concatenate([self._phases, phases[new]])
        self._lengths = np.concatenate([self._lengths, lengths[new]])

    def step(self, limit: float) -> Folds:
        """One region on for everybody; the folds and flat regions within the ball that were met, whose walks end."""
        regions, lengths = self._regions.of(self._phases), self._lengths
        self._phases, self._lengths = self._phases[:0], self._lengths[:0]
        limits = np.minimum(limit, WIDER * lengths)
        which, neurons = self._chosen(regions)
        found, near = self._folds.measured(regions, which, neurons, limits[which])
        which, neurons = which[near], neurons[near]
        ratios = np.where(neurons == WHOLE, -1.0, regions.ratios[which, neurons])
        ends = np.zeros(len(regions), dtype=bool)
        ends[which[ratios < 0.0]] = True
        on = np.flatnonzero(~ends[which])
        order = on[np.lexsort((ratios[on], which[on]))]
        first = order[np.diff(which[order], prepend=-1) != 0]
        self.add(regions.across(which[first], neurons[first]), found.lengths[first])
        return found.of(ratios < 0.0)

    def _chosen(self, regions: Regions) -> tuple[Indices, Indices]:
        """Regions and neurons whose planes are looked at; flat regions as a whole."""
        order = np.argsort(regions.ratios, axis=1, kind="stable")[:, :FOLDS]
        ratios = np.take_along_axis(regions.ratios, order, 1)
        few = np.arange(order.shape[1]) < TRIED
        which, place = np.nonzero((ratios < 0.0) | ((ratios < SMALLER) & few))
        flat = np.flatnonzero(regions.signs == 0.0)
        return np.r_[which, flat], np.r_[order[which, place], np.full(len(flat), WHOLE)]
