"""The appendix: how the preimages of a point change as it moves along the invariant circle.

J0, where f folds, is mapped to f(J0). Where the circle crosses f(J0), at its points Q, R, S, T, two preimages are born
as one double preimage, which lies on J0. Between these points the number of preimages does not change.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

import ircert
from ircert.analysis.linear_regions import FoldSet, Region
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph
from ircert.reproduction.maps.orbits import ON_CIRCLE, as_loop, attractor
from ircert.reproduction.maps.planar import crossings, distance_to_loop
from ircert.reproduction.maps.sheets import preimages_of

REACH = ((-60.0, -60.0), (60.0, 60.0))
NEAR = 1e-6
"""A birth is looked at from this far before and behind it, as a share of the circle."""
NAMES = "QRSTUVWXYZ"


@dataclass(frozen=True)
class Sample:
    """A point of the circle and its preimages: exact solutions, with their linear regions and signs of determinants.

    primal: the number of the preimage next to the circle, and `off` its distance from it
    """

    point: Array
    preimages: Array
    regions: tuple[Region, ...]
    primal: int
    off: float

    @property
    def signs(self) -> tuple[int, ...]:
        """Of the determinants: the orientation of f at each preimage."""
        return tuple(0 if r.determinant is None else int(np.sign(r.determinant)) for r in self.regions)

    @property
    def extra(self) -> Array:
        """The preimages off the circle."""
        return np.delete(self.preimages, self.primal, axis=0)

    @property
    def extra_signs(self) -> list[int]:
        """The orientation of f at each of them."""
        return [s for i, s in enumerate(self.signs) if i != self.primal]


@dataclass(frozen=True)
class Birth:
    """A point where the circle crosses f(J0): two preimages are born at `double` on J0."""

    name: str
    position: float
    point: Array
    double: Array

    def sides(self, structure: Structure) -> tuple[Sample, Sample]:
        """Points of the circle just before and behind it."""
        shift = NEAR * len(structure.circle)
        before, behind = (at(structure.circle, self.position + s) for s in (-shift, shift))
        return sample(structure.network, structure.circle, before), sample(structure.network, structure.circle, behind)


@dataclass(frozen=True)
class Arc:
    """A part of the circle between two births: A (extra preimages on the left), C (on the right) or B (none).

    `loops` are the extra preimages of its points with f preserving and reversing orientation.
    """

    name: str
    points: Array
    samples: list[Sample]
    loops: tuple[Array, Array]

    @property
    def counts(self) -> list[int]:
        """The numbers of preimages of its samples."""
        return sorted({len(s.preimages) for s in self.samples})


@dataclass(frozen=True)
class Structure:
    """The circle with its arcs and births, and the fold set."""

    network: Graph
    circle: Array
    folds: FoldSet
    births: list[Birth]
    arcs: list[Arc]

    def part(self, letter: str) -> list[Arc]:
        """The arcs whose name starts so."""
        return [arc for arc in self.arcs if arc.name.startswith(letter)]


def structure_of(network: Graph, inside: Any, samples: int, points: int) -> Structure:
    """The structure of a network (x, y) -> (x, y) with a circle around `inside`.

    On each arc `samples` points have their preimages exactly, and `points` in floats.
    """
    circle = as_loop(attractor(network, inside))
    folds = ircert.fold_set(network, domain=REACH)
    images = network(folds.segments.reshape(-1, 2)).reshape(-1, 2, 2)
    met = crossings(circle, images)
    positions = met.edges + met.along
    doubles = _between(folds.segments[met.segments], met.across)
    ends = [*positions, positions[0] + len(circle)] if len(positions) else [0.0, float(len(circle))]
    arcs = [_arc(network, circle, folds, low, high, samples, points) for low, high in pairwise(ends)]
    births = [Birth("", p, at(circle, p), d) for p, d in zip(positions.tolist(), doubles, strict=True)]
    return Structure(network, circle, folds, *_named(births, arcs))


def at(circle: Array, position: float) -> Array:
    """The point of a closed polygon at a position: the number of a corner, and a share of the edge behind it."""
    corner = int(np.floor(position)) % len(circle)
    start, end = circle[corner], circle[(corner + 1) % len(circle)]
    found: Array = start + (position - np.floor(position)) * (end - start)
    return found


def _named(births: list[Birth], arcs: list[Arc]) -> tuple[list[Birth], list[Arc]]:
    """The same with names, from the first arc A on (or else C): A, B1, C, B2 between the points Q, R, S, T."""
    kinds = [_kind(arc) for arc in arcs]
    first = next((kinds.index(kind) for kind in "AC" if kind in kinds), 0)
    births, arcs = births[first:] + births[:first], arcs[first:] + arcs[:first]
    kinds = kinds[first:] + kinds[:first]
    names = [f"{kind}{kinds[: i + 1].count(kind)}" if kinds.count(kind) > 1 else kind for i, kind in enumerate(kinds)]
    return (
        [replace(birth, name=name) for birth, name in zip(births, NAMES, strict=False)],
        [replace(arc, name=name) for arc, name in zip(arcs, names, strict=True)],
    )


def _kind(arc: Arc) -> str:
    extra = np.concatenate([s.extra for s in arc.samples])
    if not len(extra):
        return "B"
    return "A" if extra[:, 0].mean() < arc.points[:, 0].mean() else "C"


def _between(segments: Array, shares: Array) -> Array:
    found: Array = segments[:, 0] + shares[:, None] * (segments[:, 1] - segments[:, 0])
    return found


def _arc(network: Graph, circle: Array, folds: FoldSet, low: float, high: float, samples: int, points: int) -> Arc:
    inner = np.linspace(low, high, samples + 2)[1:-1]
    taken = [sample(network, circle, at(circle, position)) for position in inner]
    margin = (high - low) * 1e-4
    along = np.array([at(circle, position) for position in np.linspace(low + margin, high - margin, points)])
    found = np.concatenate(preimages_of(folds.regions, along))
    extra = found[distance_to_loop(found, circle) >= ON_CIRCLE]
    signs = _signs(network, extra)
    return Arc("", along, taken, (extra[signs > 0], extra[signs < 0]))


def sample(network: Graph, circle: Array, point: Array) -> Sample:
    """All preimages of a point, exactly."""
    found = sorted(ircert.preimages(network, point, domain=REACH), key=lambda p: p.exact)
    points = np.array([p.point for p in found])
    regions = tuple(p.region for p in found if p.region is not None)  # None is for balls of norm 2
    distances = distance_to_loop(points, circle)
    return Sample(point, points, regions, int(np.argmin(distances)), float(distances.min()))


def _signs(network: Graph, points: Array) -> Array:
    """The signs of the determinant at points, by differences: for colours."""
    if not len(points):
        return np.zeros(0)
    h = 1e-6
    columns = [(network(points + s) - network(points - s)) / (2 * h) for s in h * np.eye(2)]
    found: Array = np.sign(np.linalg.det(np.stack(columns, axis=2)))
    return found
