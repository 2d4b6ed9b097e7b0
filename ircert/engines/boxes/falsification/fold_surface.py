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

from ircert.engines.boxes.falsification.facet_distance import FacetPoint, inside_facet, nearest_on_facet
from ircert.engines.boxes.falsification.float_regions import FloatRegions, Region
from ircert.engines.boxes.problem.setting import Phases
from ircert.ir.arrays import Array

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
            if neuron is not None:
                yield from self._around_ridge(region, neuron, other, behind)

    def _around_ridge(self, region: Region, neuron: int, other: int, behind: Region) -> Iterator[tuple[Region, int]]:
        """Where a fold goes on behind another neuron: straight on first, then to either side."""
        if behind.turns[neuron]:
            yield behind, neuron
        if region.turns[other]:
            yield region, other
        else:
            across = self._regions.of(region.across(neuron))
            if across.turns[other]:
                yield across, other

    def wandered(self, fold: Fold, generator: np.random.Generator, ridges: int, limit: float) -> Fold | None:
        """Another facet of a fold: across some ridges on random ways inside a ball; None where that leads nowhere."""
        if fold.neuron is None:
            return None
        region, neuron = fold.region, fold.neuron
        self._regions.products += self._regions.program_cost
        point = inside_facet(self._regions.setting, region, neuron, fold.nearest.length)
        came: int | None = None
        for _ in range(ridges):
            if point is None:
                return None
            point, other = _way(region, neuron, point, generator, came)
            if other is None or not self._regions.setting.norm.lengths(point[None])[0] <= limit:
                break
            behind = self._regions.of(region.across(other))
            ahead = next(self._around_ridge(region, neuron, other, behind), None)
            if ahead is None:
                return None
            came = other if ahead[1] == neuron else neuron
            region, neuron = ahead
        return self.at(region, neuron, limit)


def _way(
    region: Region, neuron: int, point: Array, generator: np.random.Generator, came: int | None
) -> tuple[Array, int | None]:
    """The end of a random way in a facet, and the neuron that ends it; away from the one whose plane it came across."""
    rows = region.rows * region.phases[:, None]
    plane = rows[neuron, :-1]
    way = generator.standard_normal(len(plane))
    way -= plane * (plane @ way) / (plane @ plane)
    still = region.together(neuron)
    if came is not None:
        way = way if rows[came, :-1] @ way > 0 else -way
        still = np.concatenate([still, region.together(came)])
    slopes, heights = rows[:, :-1] @ way, np.maximum(rows[:, :-1] @ point + rows[:, -1], 0.0)
    slopes[still] = 0.0
    steps = np.where(slopes < 0.0, heights / -slopes, np.inf)
    first = int(np.argmin(steps))
    if not steps[first] < np.inf:
        return point, None
    return point + steps[first] * way, first
