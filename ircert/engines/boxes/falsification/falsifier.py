"""Looking for violations in floats: where determinants change on the way to a point, and solutions of f(x) = f(c).

What is found here are patterns; whether they hold a violation is decided exactly by the descent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from ircert.engines.boxes.enclosures.secants import Secants
from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.boxes.falsification.newton_steps import shortest_steps
from ircert.engines.boxes.linear_regions.exact_signs import ExactSigns
from ircert.engines.boxes.linear_regions.region_path import regions_between
from ircert.engines.boxes.problem.outcome import Violated
from ircert.engines.boxes.problem.setting import Phases, Setting
from ircert.ir.arrays import Array, Indices, Mask
from ircert.limits import checkpoint

RAYS = 48
STEPS = 240
HALVINGS = 60
STARTS = 400
NEWTON = 40
FAR = 64.0
"""No pairs are sought further away at first."""
WAYS = 4
"""… that are walked in rationals to one point."""
SMALLEST = 1e-300
"""Rays shorter than this have no steps in floats."""
PRODUCTS = 100_000_000
"""Multiplications between two looks at the clock."""
SINGULAR_VALUES = 20
"""What a pseudoinverse takes, in products of matrices of its size."""
RAYS_AT_ONCE = 16
"""How many pieces of work a group of rays is, before what it found is followed up."""
FOLLOWED = 24
"""Candidates of one piece that are followed up, nearest first."""


AT_ONCE = 2
"""Points with another orientation than the reference that are followed up in one look, nearest first."""
COMPARED, STEPS_OF_WAY = 64, 8
"""… of so many whose ways are looked at in floats, to a part of 2 to that power."""
FIRST = 8
PER_TRY = 400
"""One try for so many points, beside the first ones: following up a point takes far longer than looking at it."""


@dataclass
class Falsifier:
    """Follows up points whose region is oriented otherwise than the reference.

    The reference is the region around the centre, or one of those that meet there: `start`, which has an interior in
    the domain.
    """

    setting: Setting
    descent: Descent
    looked: int = 0
    tried: int = 0

    def __post_init__(self) -> None:
        self.secants = Secants(self.setting)
        self.signs = ExactSigns(self.descent.maps)
        with np.errstate(all="ignore"):
            guess = sides(self.setting, self.setting.center[None])[0]
        # random steps: planes that were chosen by hand do not hold such a way
        steps = np.random.default_rng(self.setting.size).integers(2**29, 2**30, self.setting.size)
        inside = [Fraction(k, 2**30) for k in (self._inwards * steps).tolist()]
        zero = [Fraction(0)] * self.setting.size
        self.start = next(regions_between(self.signs.maps, guess, zero, inside))
        self.reference = self.signs.of(self.start)

    @cached_property
    def _inwards(self) -> Indices:
        """Signs of a way from the centre into the domain."""
        center = self.setting.center
        return np.where(self.setting.high > center, 1, np.where(self.setting.low < center, -1, 0))

    def _orientations(self, points: Array) -> Array:
        return orientations(self.secants, sides(self.setting, points))

    def look(self, points: Array, radius: float) -> None:
        """Raise Violated if one of these points leads to a violation in the ball; few are tried, nearest first."""
        self.looked += len(points)
        if self.tried > FIRST + self.looked // PER_TRY:
            return
        with np.errstate(all="ignore"):
            distances = np.linalg.norm(points - self.setting.center, ord=self.setting.norm.order, axis=1)
            near = np.flatnonzero(distances < radius)
            if not len(near):
                return
            wrong = near[self._orientations(points[near]) != self.reference]
            wrong = wrong[np.argsort(distances[wrong], kind="stable")[:COMPARED]]
            wrong = wrong[np.argsort(distances[wrong] * self._changes(points[wrong]), kind="stable")]
        for i in wrong[:AT_ONCE]:
            self.try_point(points[i], radius)

    def _changes(self, points: Array) -> Array:
        """About which part of the way from the centre to points of another orientation these begin."""
        low, high = np.zeros(len(points)), np.ones(len(points))
        for _ in range(STEPS_OF_WAY if len(points) > 1 else 0):
            middle = (low + high) / 2
            there = self._orientations(self.setting.center + middle[:, None] * (points - self.setting.center))
            low, high = np.where(there == self.reference, middle, low), np.where(there == self.reference, high, middle)
        return high

    def try_point(self, point: Array, radius: float) -> None:
        """Follow the way from the centre to a point of another orientation."""
        self.tried += 1
        with np.errstate(all="ignore"):
            first, second = orientation_change(self.setting, self.secants, point - self.setting.center, 0.0, 1.0)
            flat = [p for p in (first, second) if orientations(self.secants, p[None])[0] == 0.0]
        for phases in flat:
            self.try_patterns(phases, phases, radius)
        self.try_patterns(first, second, radius)

    def walk_to(self, end: list[Fraction], radius: float) -> None:
        """Raise Violated if the exact way to c + end, in a region of another orientation, leads to a violation.

        Both sides of a facet where the orientation changes hold collisions. A way through a lower face steps over the
        regions between, perhaps at the centre itself: then ways that begin beside it are tried.
        """
        generator = np.random.default_rng(len(end))
        size = max(abs(v) for v in end)
        for turn in range(WAYS):
            beside = self._inwards * generator.integers(1, 2**20, len(end)) * (turn > 0)
            start = [size * Fraction(k, 2 ** (20 + 20 * turn)) for k in beside.tolist()]
            before = self.start
            for phases in regions_between(self.signs.maps, before, start, end):
                sign = self.signs.of(phases)
                if sign == 0:
                    self.try_patterns(phases, phases, radius)
                if sign != self.reference:
                    self.try_patterns(before, phases, radius)
                    break
                before = phases

    def try_patterns(self, first: Phases, second: Phases, radius: float) -> None:
        """Raise Violated if two patterns lead to a violation in the ball."""
        if self.descent.search(first, second, radius):
            raise Violated


def falsify(setting: Setting, descent: Descent, reach: float, seed: int) -> None:
    """Give the descent what rays or Newton's method find within the reach."""
    if reach < SMALLEST:
        return
    generator = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        try:
            if setting.pseudo:
                _preimages(setting, descent, reach, generator)
                return
            if setting.constrained == setting.size:
                _folds(setting, descent, reach, generator)
            if setting.constrained != setting.size or setting.unknowns:
                _pairs(setting, descent, reach, generator)
        except np.linalg.LinAlgError:
            return


def sides(setting: Setting, points: Array) -> Phases:
    """The phases at points (rows)."""
    return np.where(setting.preactivations(points) > 0, 1, -1).astype(np.int8)


def _directions(setting: Setting, generator: np.random.Generator) -> Array:
    n = setting.size
    found = np.concatenate([np.eye(n), -np.eye(n), generator.standard_normal((RAYS, n))])
    found = found / np.abs(found).max(axis=1, keepdims=True)
    return np.clip(
        found, np.where(setting.center <= setting.low, 0, -1), np.where(setting.center >= setting.high, 0, 1)
    )


def _inside(setting: Setting, points: Array) -> Mask:
    return np.asarray(((points >= setting.low) & (points <= setting.high)).all(axis=1))


def _pieces(count: int, cost: int) -> Iterator[slice]:
    """Parts of `count` things that take so many multiplications each: a few hundredths of a second at once."""
    step = max(1, PRODUCTS // max(1, cost))
    for start in range(0, count, step):
        checkpoint()
        yield slice(start, start + step)


def orientations(secants: Secants, phases: Phases) -> Array:
    """The signs of determinants on the regions of patterns, in floats; 0 where they are too small to tell."""
    parts = [_signs(secants, phases[part]) for part in _pieces(len(phases), secants.products)]
    return np.concatenate([np.zeros(0), *parts])


def _signs(secants: Secants, phases: Phases) -> Array:
    matrices = secants.jacobians((phases > 0).astype(np.float64))
    size = np.abs(matrices).max(axis=2, keepdims=True)  # of each row, because with many of them the product is tiny
    values = np.linalg.det(matrices / np.where(size > 0, size, 1.0))
    return np.where(np.abs(values) < 1e-13, 0.0, np.sign(values))


def _folds(setting: Setting, descent: Descent, reach: float, generator: np.random.Generator) -> None:
    """Follow up where the orientation changes on rays, some rays after the other: time may end."""
    secants = Secants(setting)
    directions = _directions(setting, generator)
    steps = np.concatenate([[0.0], np.geomspace(reach * 1e-9 if reach > 1e3 else reach * 1e-4, reach, STEPS)])
    groups = _pieces(len(directions), len(steps) * secants.products // RAYS_AT_ONCE)
    for group in groups:
        candidates = [found for d in directions[group] for found in _changes(setting, secants, d, steps)]
        candidates.sort(key=lambda found: found[0])
        for low, d, high in candidates[:FOLLOWED]:
            if descent.best is not None and low > 2 * setting.norm.length(descent.best[0]):
                break
            checkpoint()
            first, second = orientation_change(setting, secants, d, low, high)
            for phases in (first, second):
                if orientations(secants, phases[None])[0] == 0.0:
                    descent.improve(phases, phases)
            descent.improve(first, second)


def _changes(setting: Setting, secants: Secants, d: Array, steps: Array) -> list[tuple[float, Array, float]]:
    """Between which steps along a ray the orientation changes, the first two times.

    Where there are outputs that need not agree, only times at which these change count: nearer folds are no violations.
    """
    points = setting.center + steps[:, None] * d
    points = points[_inside(setting, points)]
    signs = orientations(secants, sides(setting, points))
    turns = np.flatnonzero(signs[1:] != signs[:-1])
    if setting.unknowns and len(turns):
        before, after = (setting.outputs(points[k])[:, setting.constrained :] for k in (turns, turns + 1))
        turns = turns[(before != after).any(axis=1)]
    return [(float(steps[k]), d, float(steps[k + 1])) for k in turns[:2].tolist()]


def _pairs(setting: Setting, descent: Descent, reach: float, generator: np.random.Generator) -> None:
    """Newton's method for f(x) = f(y) from pairs that are far apart, the nearest ones first."""
    n, secants = setting.size, Secants(setting)
    radii = np.geomspace(min(reach, 1.0) * 1e-2, min(reach, FAR), STARTS)
    points = setting.center + radii[:, None, None] * generator.uniform(-1, 1, (STARTS, 2, n))
    cost = 2 * secants.products + SINGULAR_VALUES * setting.constrained * setting.constrained * 2 * n
    for part in _pieces(STARTS, cost):
        found = equal_pairs(setting, secants, points[part], radii[part], reach)
        for _, pair in sorted(found, key=lambda pair: pair[0])[:FOLLOWED]:
            checkpoint()
            descent.improve(*sides(setting, pair))


def equal_pairs(
    setting: Setting, secants: Secants, points: Array, radii: Array, reach: float
) -> list[tuple[float, Array]]:
    """Where Newton's method ends, each step as short as can be: the distance and the pair."""
    n = setting.size
    found: list[tuple[float, Array]] = []
    for _ in range(NEWTON):
        checkpoint()
        points = np.clip(points, setting.low, setting.high)
        finite = np.isfinite(points).all(axis=(1, 2))
        points, radii = points[finite], radii[finite]
        if not len(points):
            break
        flat = points.reshape(-1, n)
        values = setting.outputs(flat)[:, : setting.constrained].reshape(len(points), 2, -1)
        gaps = values[:, 0] - values[:, 1]
        apart = np.abs(points[:, 0] - points[:, 1]).max(axis=1)
        done = np.abs(gaps).max(axis=1) < 1e-9 * (1.0 + np.abs(values).max(axis=(1, 2)))
        distance = np.abs(points - setting.center).max(axis=(1, 2))
        found += [(float(distance[i]), points[i]) for i in np.flatnonzero(done & (apart > 1e-6 * radii))]
        matrices = secants.jacobians((sides(setting, flat) > 0).astype(np.float64)).reshape(len(points), 2, -1, n)
        both = np.concatenate([matrices[:, 0], -matrices[:, 1]], axis=2)
        good = np.isfinite(both).all(axis=(1, 2)) & ~done & (apart > 1e-6 * radii) & (distance < 4 * reach)
        points, gaps, both, radii = points[good], gaps[good], both[good], radii[good]
        points = points - shortest_steps(both, gaps).reshape(-1, 2, n)
    return found


def orientation_change(setting: Setting, secants: Secants, d: Array, low: float, high: float) -> tuple[Phases, Phases]:
    """The patterns on both sides of a change of orientation along a ray.

    They are kept as they were seen: asked again together with others, products may be rounded otherwise.
    """

    def seen(t: float) -> tuple[Phases, float]:
        phases = sides(setting, setting.center[None] + t * d)
        return phases[0], float(orientations(secants, phases)[0])

    first, start = seen(low)
    second, _ = seen(high)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        phases, sign = seen(middle)
        if sign == start:
            low, first = middle, phases
        else:
            high, second = middle, phases
    return first, second


def _preimages(setting: Setting, descent: Descent, reach: float, generator: np.random.Generator) -> None:
    """Newton's method for f(x) = f(c), the nearest starts first."""
    n, secants = setting.size, Secants(setting)
    radii = np.geomspace(min(reach, 1.0) * 1e-3, reach, STARTS)[:, None]
    points = setting.center + radii * generator.uniform(-1, 1, (STARTS, n))
    there = sides(setting, setting.center[None])[0]
    cost = secants.products + SINGULAR_VALUES * setting.constrained * n * min(setting.constrained, n)
    for part in _pieces(STARTS, cost):
        found = _equal_to_center(setting, secants, points[part], reach)
        for _, point in sorted(found, key=lambda pair: pair[0])[:FOLLOWED]:
            checkpoint()
            descent.improve(sides(setting, point[None])[0], there)


def _equal_to_center(setting: Setting, secants: Secants, points: Array, reach: float) -> list[tuple[float, Array]]:
    """Where Newton's method ends, each step as short as can be: the distance and the point."""
    value = setting.outputs(setting.center[None])[0]
    scale = np.abs(value).max() + 1.0
    found: list[tuple[float, Array]] = []
    for _ in range(NEWTON):
        checkpoint()
        points = np.clip(points, setting.low, setting.high)
        points = points[np.isfinite(points).all(axis=1)]
        if not len(points):
            break
        gaps = setting.outputs(points) - value
        distance = np.abs(points - setting.center).max(axis=1)
        done = (np.abs(gaps).max(axis=1) < 1e-9 * scale) & (distance > 1e-7 * min(reach, 1.0)) & (distance < 2 * reach)
        found += [(float(distance[i]), points[i]) for i in np.flatnonzero(done)]
        matrices = secants.jacobians((sides(setting, points) > 0).astype(np.float64))
        good = np.isfinite(matrices).all(axis=(1, 2)) & ~done
        points, gaps, matrices = points[good], gaps[good], matrices[good]
        points = points - shortest_steps(matrices, gaps)
    return found
