"""Down the folds of a network to the point nearest to the centre, in floats.

Where the orientation changes between two regions P and Q, their common facet is part of the fold. Its nearest point is
held back by other neurons that are 0 there. Behind such a neuron j lie P' and Q', and around the ridge where both
neurons are 0 the orientation changes an even number of times: between P' and Q' as well, or else between P and P', or
between Q and Q'. So the fold goes on, and the nearest point of that facet may be nearer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ircert.engines.boxes.falsification.facet_distance import FacetPoint, nearest_on_facet
from ircert.engines.boxes.falsification.float_regions import FloatRegions, Region
from ircert.engines.boxes.problem.setting import Phases

NEARER = 1 - 1e-9
"""Facets are followed whose nearest points are nearer by at least this factor."""


@dataclass(frozen=True, eq=False)
class Fold:
    """A facet where the orientation changes: a region, the neuron that is 0, and the nearest point.

    Without a neuron: a flat region, all of which collides.
    """

    region: Region
    neuron: int | None
    nearest: FacetPoint

    @property
    def sides(self) -> tuple[Phases, Phases]:
        """The patterns of both regions."""
        phases = self.region.phases
        return phases, phases if self.neuron is None else self.region.across(self.neuron)


class FoldSurface:
    """The folds of a setting."""

    def __init__(self, regions: FloatRegions) -> None:
        self._regions = regions

    def at(self, region: Region, neuron: int | None, limit: float) -> Fold | None:
        """The facet of a region (the flat region itself, without a neuron), if it is a fold within a ball."""
        if not (region.flat if neuron is None else region.turns[neuron]):
            return None
        self._regions.products += self._regions.program_cost
        found = nearest_on_facet(self._regions.setting, region, neuron, limit)
        return None if found is None else Fold(region, neuron, found)

    def around(self, phases: Phases, limit: float) -> Fold | None:
        """The nearest fold of all facets of a region, within a ball."""
        region = self._regions.of(phases)
        neurons: list[int | None] = [None] if region.flat else []
        best = None
        for neuron in [*neurons, *np.flatnonzero(region.turns).tolist()]:
            found = self.at(region, neuron, limit)
            if found is not None:
                best, limit = found, found.nearest.length * NEARER
        return best

    def between(self, first: Phases, second: Phases, limit: float) -> Fold | None:
        """A fold that leads from one of two patterns towards the other, within a ball."""
        apart = np.flatnonzero(first != second).tolist()
        for phases in (first, second):
            region = self._regions.of(phases)
            neurons: list[int | None] = [None] if region.flat else []
            for neuron in [*neurons, *apart]:
                found = self.at(region, neuron, limit)
                if found is not None:
                    return found
        return None

    def lowest(self, fold: Fold) -> Fold:
        """The fold where no facet next to the nearest point has a nearer one."""
        while (lower := self._lower(fold)) is not None:
            fold = lower
        return fold

    def _lower(self, fold: Fold) -> Fold | None:
        limit = NEARER * fold.nearest.length
        for region, neuron in self._next(fold):
            found = self.at(region, neuron, limit)
            if found is not None:
                return found
        return None

    def _next(self, fold: Fold) -> Iterator[tuple[Region, int | None]]:
        """What is a fold, or flat, behind the neurons that hold the nearest point back."""
        region, neuron = fold.region, fold.neuron
        for other in fold.nearest.holding.tolist():
            behind = self._regions.of(region.across(other))
            if behind.flat:
                yield behind, None
            if neuron is None:
                continue
            if behind.turns[neuron]:
                yield behind, neuron
            if region.turns[other]:
                yield region, other
            else:
                yield self._regions.of(region.across(neuron)), other
