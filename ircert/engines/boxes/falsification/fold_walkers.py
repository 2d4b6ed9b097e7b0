"""Down the folds of a network to points near to the centre, from many places at once, in floats.

Where the orientation changes between two regions P and Q, their common facet is part of the fold. Its nearest point is
held back by other neurons that are 0 there. Behind such a neuron j lie P' and Q', and around the ridge where both
neurons are 0 the orientation changes an even number of times: between P' and Q' as well, or else between P and P', or
between Q and Q'. So the fold goes on, and the nearest point of that facet may be nearer.

Where no facet around is nearer a walk is at an end, at one of many: from there it goes on towards another centre for a
while, and comes back to another end, perhaps a nearer one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ircert.engines.boxes.falsification.facet_distance import WHOLE, FacetDistances
from ircert.engines.boxes.falsification.float_regions import FloatRegions, Regions
from ircert.engines.boxes.problem.setting import Phases
from ircert.ir.arrays import Array, Indices, Mask

NEARER = 1 - 1e-9
"""Facets are followed whose nearest points are nearer by at least this factor."""
AT_ONCE = 3
"""Neurons that hold a point back behind which one step looks, the strongest first."""
FARTHEST = 16.0
"""Coming back from another centre, a facet may be farther away than it was by this factor."""


@dataclass(frozen=True, eq=False)
class Folds:
    """Facets where the orientation changes, or flat regions (neuron -1), and their points nearest to the centre.

    phases:  the patterns of regions on one side
    holding: neurons that hold the nearest points back, the strongest first, then -1
    """

    phases: Phases
    neurons: Indices
    lengths: Array
    offsets: Array
    holding: Indices

    def __len__(self) -> int:
        return len(self.lengths)

    def of(self, which: Indices | Mask) -> Folds:
        """Some of them."""
        return Folds(*(getattr(self, name)[which] for name in self.__dataclass_fields__))

    @staticmethod
    def joined(parts: list[Folds]) -> Folds:
        """All of several."""
        names = Folds.__dataclass_fields__
        return Folds(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


class FoldWalkers:
    """Walks side by side; `ends` are folds whose walks came to an end since that was asked last."""

    def __init__(self, regions: FloatRegions) -> None:
        self._regions = regions
        self._facets = FacetDistances(regions)
        size, neurons = regions.setting.size, regions.setting.neurons
        self._folds = Folds(
            np.zeros((0, neurons), dtype=np.int8), np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros((0, size)),
            np.zeros((0, size + 1), dtype=np.int64),
        )  # fmt: skip
        self._centers = np.zeros((0, size))
        self._looked, self._left = np.zeros((2, 0), dtype=np.int64)
        self._ends: list[Folds] = []

    def __len__(self) -> int:
        return len(self._folds)

    @property
    def coming(self) -> Folds:
        """Those whose walks lead to the centre itself."""
        return self._folds.of(np.flatnonzero(~self._centers.any(axis=1)))

    def measured(
        self, regions: Regions, which: Indices, neurons: Indices, limits: Array, centers: Array | None = None
    ) -> tuple[Folds, Mask]:
        """Facets of some regions within the limits around their centres, and which have a point there."""
        found = self._facets.of(regions, which, neurons, limits, centers)
        near = found.lengths < np.inf
        return Folds(regions.phases[which], neurons, found.lengths, found.offsets, found.holding).of(near), near

    def add(self, folds: Folds, centers: Array | None = None, steps: Indices | None = None) -> None:
        """Walk from some folds down to the centre; for some steps to other centres first, if there are some."""
        if centers is None or steps is None:
            centers, steps = np.zeros_like(folds.offsets), np.zeros(len(folds), dtype=np.int64)
        else:
            folds, near = self._measured_anew(folds, centers)
            centers, steps = centers[near], steps[near]
        self._folds = Folds.joined([self._folds, folds])
        self._centers = np.concatenate([self._centers, centers])
        self._looked = np.concatenate([self._looked, np.zeros(len(folds), dtype=np.int64)])
        self._left = np.concatenate([self._left, steps])

    def take_ends(self) -> Folds | None:
        """The ends since this was asked last."""
        ends, self._ends = self._ends, []
        return Folds.joined(ends) if ends else None

    def step(self) -> None:
        """One facet on for everybody who finds a nearer one."""
        folds, count = self._folds, len(self._folds)
        if not count:
            return
        nearer, who = self._nearer()
        moved = np.zeros(count, dtype=bool)
        moved[who] = True
        for name in Folds.__dataclass_fields__:
            getattr(folds, name)[who] = getattr(nearer, name)
        self._looked = np.where(moved, 0, self._looked + AT_ONCE)
        self._left -= moved & (self._left > 0)
        held = (folds.holding != WHOLE).sum(axis=1)
        self._end((self._looked >= held) | (self._centers.any(axis=1) & (self._left == 0)))

    def _end(self, over: Mask) -> None:
        """Walks are over: those to other centres turn back, the others are at an end."""
        away = self._centers.any(axis=1)
        home = over & ~away
        if home.any():
            self._ends.append(self._folds.of(home))
        back = self._folds.of(over & away)
        self._folds, stays = self._folds.of(~over), ~over
        self._centers, self._looked, self._left = self._centers[stays], self._looked[stays], self._left[stays]
        if len(back):
            self.add(self._measured_anew(back, np.zeros_like(back.offsets))[0])

    def _measured_anew(self, folds: Folds, centers: Array) -> tuple[Folds, Mask]:
        """The same facets with their distances from other centres, and which have one."""
        regions = self._regions.of(folds.phases)
        sizes = self._regions.setting.norm.lengths(folds.offsets)
        return self.measured(regions, np.arange(len(folds)), folds.neurons, FARTHEST * sizes, centers)

    def _nearer(self) -> tuple[Folds, Indices]:
        """For those who find some: the nearest of all facets around; and who they are."""
        folds, lengths = self._folds, self._folds.lengths
        here = self._regions.of(folds.phases)
        places = np.minimum(self._looked[:, None] + np.arange(AT_ONCE), folds.holding.shape[1] - 1)
        holding = np.take_along_axis(folds.holding, places, 1)
        new = self._looked[:, None] + np.arange(AT_ONCE) < folds.holding.shape[1]
        walks, slots = np.nonzero((holding != WHOLE) & new)
        others = holding[walks, slots]
        behind = self._regions.of(here.across(walks, others))
        parts = self._around(here, behind, walks, others)
        found, owners = [], []
        for regions, which, neurons, own in parts:
            limits = NEARER * lengths[own]
            folds, near = self.measured(regions, which, neurons, limits, self._centers[own])
            found.append(folds)
            owners.append(own[near])
        nearer, owner = Folds.joined(found), np.concatenate(owners)
        order = np.lexsort((nearer.lengths, owner))
        first = order[np.diff(owner[order], prepend=-1) != 0]
        return nearer.of(first), owner[first]

    def _around(
        self, here: Regions, behind: Regions, walks: Indices, others: Indices
    ) -> list[tuple[Regions, Indices, Indices, Indices]]:
        """What is a fold, or flat, behind some neurons: regions, which of them, the neurons, and whose they are."""
        neurons, at = self._folds.neurons[walks], np.arange(len(walks))
        flat = behind.signs == 0.0
        facet = neurons != WHOLE
        on = facet & (behind.ratios[at, neurons] < 0.0)
        side = facet & (here.ratios[walks, others] < 0.0)
        # P and P' have the same orientation, or not (side); so have P' and Q' (on); P and Q have not
        other = facet & ~flat & (on == side)
        which, place = np.unique(walks[other], return_inverse=True)
        there = self._regions.of(here.across(which, self._folds.neurons[which])) if len(which) else here
        return [
            (behind, at[flat], np.full(int(flat.sum()), WHOLE), walks[flat]),
            (behind, at[on], neurons[on], walks[on]),
            (here, walks[side], others[side], walks[side]),
            (there, place, others[other], walks[other]),
        ]
