"""A map of the plane beside a smooth network that learned it: J0, attractor, preimages, and both squares."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

import ircert
from ircert.analysis.smooth.fold_curves import FoldCurves
from ircert.analysis.smooth.preimages import Preimages
from ircert.geometry.domain import Box
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph
from ircert.reproduction.frame.answers import all_closed, ask, facts, radius
from ircert.reproduction.frame.report import Claim, Part, Settings, Table
from ircert.reproduction.maps.orbits import as_loop, attractor, thinned
from ircert.reproduction.maps.planar import distance_to_loop, distance_to_segments, square_distance
from ircert.result.result import Result

TOLERANCE, ROUGH = 1e-4, 1e-2
"""Of radii, and in quick versions."""
POINTS, FEW = 60, 8
"""Points of the attractor whose preimages are looked for, and in quick versions."""
COARSE = 60
"""Boxes along a side in quick versions."""
CORNERS = 400
"""Of polygons that stand for attractors."""
MARGIN = 1.0
"""What is drawn around the box that the network learned from."""
NEAR = 0.15
"""J0 and the attractor of the network are this near to those of the map, or nearer."""


class PlaneMap(Protocol):
    """What is known of the map in closed form."""

    @property
    def fixed_point(self) -> Array: ...
    def __call__(self, points: Any) -> Array: ...
    def preimages(self, value: Any) -> Array: ...
    def fold_curves(self, low: Any, high: Any, *, step: float = 0.02) -> list[Array]: ...


@dataclass(frozen=True)
class Learned:
    """A network, the map, the box that it learned from, where preimages are looked for, and the centre of squares.

    sibling:  a relu network of the same task and size
    window:   the part of it that is drawn
    farthest: how far from the centre other preimages of its value are looked for
    """

    name: str
    network: Graph
    sibling: Graph
    map: PlaneMap
    box: Box
    reach: Box
    window: Box
    center: Array
    farthest: float


@dataclass(frozen=True)
class Curves:
    """J0 of a network, and of the map as lines; both attractors, as closed polygons."""

    folds: Any
    lines: list[Array]
    circle: Array
    true_circle: Array
    box: Box

    @property
    def true_folds(self) -> Array:
        """J0 of the map, as segments."""
        return np.concatenate([np.stack([line[:-1], line[1:]], axis=1) for line in self.lines])

    @property
    def fold_gap(self) -> float:
        """How far one J0 is from the other at most, inside the box; infinite if one is not there."""
        ways = [(self.folds.segments, self.true_folds), (self.true_folds, self.folds.segments)]
        gaps = [distance_to_segments(self._inside(one).mean(axis=1), other) for one, other in ways]
        return max(float(gap.max(initial=0.0)) if len(gap) else np.inf for gap in gaps)

    @property
    def circle_gap(self) -> float:
        """How far one attractor is from the other at most."""
        ways = [(self.circle, self.true_circle), (self.true_circle, self.circle)]
        return max(float(distance_to_loop(one, other).max(initial=0.0)) for one, other in ways)

    def _inside(self, segments: Array) -> Array:
        low, high = self.box
        return np.asarray(segments[((segments >= low) & (segments <= high)).all(axis=(1, 2))])


@dataclass(frozen=True)
class Fibre:
    """Preimages of a point of the attractor: of the network, in reach; and of the map, everywhere."""

    found: Preimages
    true: Array

    @property
    def degree(self) -> int:
        """The sum of the orientations: preimages are born and vanish in pairs, which have opposite ones."""
        return sum(p.orientation for p in self.found)

    def within(self, box: Box) -> tuple[int, int]:
        """How many there are in a box, of both."""
        low, high = box
        mine, true = np.array([p.point for p in self.found]).reshape(-1, 2), self.true
        a, b = (int(((points >= low) & (points <= high)).all(axis=1).sum()) for points in (mine, true))
        return a, b


@dataclass(frozen=True)
class Study:
    """All that was found out about a learned map."""

    learned: Learned
    curves: Curves
    sibling: Curves
    far_folds: Any
    fibres: list[Fibre]
    local: Result
    fold_distance: float
    same: Preimages

    @property
    def other(self) -> tuple[float, float]:
        """R: bounds on the distance of the nearest other preimage of f(c); infinite ones if there is none in reach."""
        center = [Fraction(v) for v in self.learned.center.tolist()]
        gaps = [max(abs(a - b) for a, b in zip(p.middle, center, strict=True)) for p in self.same]
        far = [(gap - p.radius, gap + p.radius) for gap, p in zip(gaps, self.same, strict=True) if gap > p.radius]
        low, high = min(far, default=(Fraction(0), Fraction(0)))
        return (float(low), float(high)) if far else (np.inf, np.inf)


def study(settings: Settings, learned: Learned) -> Study:
    """Ask all there is to ask."""
    network, center = learned.network, learned.center
    settings.say(f"{learned.name}: J₀ and attractors")
    low, high = learned.box
    shown = Box(low - MARGIN, high + MARGIN)
    curves = _curves(learned, network, _folds(settings, network, shown))
    sibling = _curves(learned, learned.sibling, ircert.fold_set(learned.sibling, domain=shown))
    settings.say(f"{learned.name}: preimages of the attractor")
    values = thinned(curves.circle, FEW if settings.quick else POINTS)
    fibres = [
        Fibre(ircert.preimages(network, value.tolist(), domain=learned.reach), learned.map.preimages(value))
        for value in values
    ]
    settings.say(f"{learned.name}: radii")
    local = ask(settings, network, center, tol=ROUGH if settings.quick else TOLERANCE)
    reach = 1.25 * (radius(local) or 1.0)
    around = _folds(settings, network, Box(center - reach, center + reach))
    same = ircert.preimages(network, network.enclosure(center), (center, learned.farthest))
    far = _folds(settings, network, learned.window)
    return Study(learned, curves, sibling, far, fibres, local, square_distance(around.segments, center), same)


def _folds(settings: Settings, network: Graph, box: Box) -> Any:
    width = float((box.high - box.low).max()) / COARSE if settings.quick else None
    return ircert.fold_set(network, domain=box, width=width)


def _curves(learned: Learned, network: Graph, folds: Any) -> Curves:
    low, high = learned.box
    shown = Box(low - MARGIN, high + MARGIN)
    lines = learned.map.fold_curves(shown.low, shown.high, step=0.02)
    mine, true = (as_loop(attractor(f, learned.map.fixed_point)) for f in (network, learned.map))
    return Curves(folds, lines, thinned(mine, CORNERS), thinned(true, CORNERS), learned.box)


# --- what is claimed -------------------------------------------------------------------------------------------------


def claims(found: Study) -> tuple[Claim, ...]:
    """What the paper says of networks that learned a map, of this one."""
    name, folds = found.learned.name, found.curves.folds
    assert isinstance(folds, FoldCurves)
    fibres, box = found.fibres, found.learned.box
    counts = sorted({len(f.found) for f in fibres})
    inside = sorted({mine for mine, _ in (f.within(box) for f in fibres)})
    degrees = {f.degree for f in fibres}
    return (
        Claim(
            f"{name}: J₀ of the network is near that of the map, where it learned",
            found.curves.fold_gap < NEAR,
            f"at most {found.curves.fold_gap:.3f} away, in {len(folds.boxes)} boxes {folds.width:.3f} wide",
        ),
        Claim(
            f"{name}: the attractor of the network is near that of the map",
            found.curves.circle_gap < NEAR,
            f"at most {found.curves.circle_gap:.3f} away",
        ),
        Claim(
            f"{name}: all preimages of points of the attractor are proved, and none is missed",
            all(f.found.complete for f in fibres),
            f"{_listed(counts)} for each of {len(fibres)} points, in {_words(found.learned.reach)}",
        ),
        Claim(
            f"{name}: where the network learned, they are as many as under the map",
            all(mine == true for mine, true in (f.within(box) for f in fibres)),
            f"{_listed(inside)} for each point",
        ),
        Claim(
            f"{name}: further ones come in pairs of opposite orientation: all orientations have one sum",
            len(degrees) == 1,
            f"{_listed(sorted(degrees))} for each point",
        ),
        Claim(f"{name}: the radius is answered exactly", all_closed([found.local])),
        Claim(
            f"{name}: the square of problem 1 just touches J₀",
            _touches(found),
            f"r from {radius(found.local):.5f} to {_refuted(found):.5f}, J₀ at {found.fold_distance:.5f}",
        ),
        Claim(
            f"{name}: r <= R, and all preimages of f(c) are known",
            found.same.complete and 0 < radius(found.local) <= found.other[0],
            _second(found),
        ),
    )


def _listed(numbers: list[int]) -> str:
    return " or ".join(map(str, numbers))


def _words(box: Box) -> str:
    return " × ".join(f"[{low:g}, {high:g}]" for low, high in zip(*box, strict=True))


def _second(found: Study) -> str:
    reach = f"{len(found.same) - 1} other preimages within {found.learned.farthest:g}"
    return f"R = {found.other[0]:.5f}, {reach}" if np.isfinite(found.other[0]) else f"{reach}, so that R is more"


def _refuted(found: Study) -> float:
    end = found.local.radius.refuted
    return np.inf if end is None else float(end)


def _touches(found: Study) -> bool:
    """J0 as it is drawn is a polygon: its distance is right to the square of the boxes' width."""
    slack = 1e-3
    if not all_closed([found.local]):
        return False
    return radius(found.local) * (1 - slack) <= found.fold_distance <= _refuted(found) * (1 + slack)


def part(found: Study) -> Part:
    """Claims, a table and facts; pictures are added elsewhere."""
    rows = [(word, c.fold_gap, c.circle_gap) for word, c in (("tanh", found.curves), ("relu", found.sibling))]
    title = f"{found.learned.name}: distances between network and map where they learned, tanh beside relu"
    kept = {
        "fold_gap": {"tanh": found.curves.fold_gap, "relu": found.sibling.fold_gap},
        "attractor_gap": {"tanh": found.curves.circle_gap, "relu": found.sibling.circle_gap},
        "fold_boxes": len(found.curves.folds.boxes),
        "undecided_boxes": len(found.curves.folds.undecided),
        "preimages": [{"network": len(f.found), "map": len(f.true)} for f in found.fibres],
        "local": facts(found.local),
        "fold_distance": found.fold_distance,
        "R": list(found.other),
        "same_value": [p.point for p in found.same],
    }
    return Part(
        claims(found), tables=(Table(title, ("network", "of J₀", "of the attractor"), tuple(rows)),), facts=kept
    )
