"""Points near the centre at which the determinant of a smooth map has the other sign than at home.

Two such points refute a ball (R-12). Directions are tried in floats: along each, where the determinant first changes
its sign. Points that follow gradients bring what is found nearer; then the best direction is varied, also towards the
nearest point of the fold's tangent plane. What is found is proved by interval arithmetic at two float points.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from ircert.engines.boxes.enclosures.secants import Secants
from ircert.engines.boxes.falsification.fold_seekers import FoldSeekers
from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array
from ircert.ir.enclosure import enclosed_determinant
from ircert.ir.ops import Affine
from ircert.limits import OutOfTime, checkpoint, left

DIRECTIONS, STEPS = 192, 24
"""Directions that are tried at first, and points on each …"""
FEWEST, WORK = 16, 1_000_000_000
"""… and at least, where so many would take more multiplications than that."""
VARIED, FINER = 48, 12
"""… and around the best ones."""
STARTS = 2
MUCH_NEARER = 1 - 1e-3
"""Rounds of seekers go on as long as each finds a point that is nearer by this factor."""
LINE, FARTHER = 4, 1.05
"""Rounds of one line, and how much larger than that of the nearest point known the ball is in which one begins."""
HALVINGS, PRECISION = 48, 1e-4
"""How often a place on a ray is halved at most, and how well it is known, in parts of how far directions are varied."""
BITS, WORK_A_SECOND, SHORT = (128, 512), 1e10, 0.05
"""Of intervals, about how many of their products, times bits, a second takes, and seconds that are none: a longer proof
is not begun where less is left."""
WIDEST, NARROWEST, SHRINKING = 0.5, 1e-8, 0.6
"""How far directions are varied, and how much less after every round that found nothing better."""
SHARES = np.array([1.0, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 3e-3, 1e-3, 3e-4])
"""Of the way to the nearest point of a tangent plane."""
OUTWARD = 2.0 ** -np.arange(46, 12, -3)
"""How much farther away a determinant is asked for where it is too close to 0."""
NEARER = 1 - 1e-9
ENTRIES, PRODUCTS = 1 << 22, 400_000_000
"""Numbers in the matrices, and multiplications, after which time is looked at again."""


@dataclass
class TurnedPoints:
    """The search; `best` is the nearest point that was proved to be turned over, with the radius of a ball that holds
    it and `home`: a point close to the centre that is not turned."""

    setting: Setting
    seed: int = 0
    best: tuple[float, Array] | None = None
    home: Array | None = field(init=False)

    def __post_init__(self) -> None:
        self._secants = Secants(self.setting)
        entries = self.setting.size * max(self.setting.graph.sizes.values())
        products = max(1, self._secants.products + self.setting.size**3)
        self._directions = max(FEWEST, min(DIRECTIONS, WORK // (STEPS * products)))
        self._at_once = max(1, min(ENTRIES // entries, PRODUCTS // products))
        self._generator = np.random.default_rng(self.seed)
        self._sign, self._here = 0, (np.zeros(0), np.inf)
        self._sought, self.home, self._unproved = False, None, False
        self._rounds = 0
        self._line: Array | None = None
        self._look_for_home()

    def _look_for_home(self) -> None:
        """Once, and not before there is time for it."""
        if not self._sought and seconds_of_sign(self.setting, BITS[0]) <= left():
            self.home, self._sought = self._found_home(), True

    def _found_home(self) -> Array | None:
        """A point with a determinant of a sure sign, at the centre or very close to it, inside the domain."""
        setting = self.setting
        size = 1e-9 * (1.0 + np.abs(setting.center))
        for attempt in range(8):
            step = self._generator.uniform(-1, 1, setting.size) * size * min(attempt, 1)
            inner = np.clip(setting.center + step, setting.low + size * (setting.low > -np.inf), setting.high - size)
            if self._is_inside(inner):
                self._sign = proved_sign(self.setting, inner)
                if self._sign:
                    return np.asarray(inner)
        return None

    def _is_inside(self, point: Array) -> bool:
        return bool(((point > self.setting.low) & (point < self.setting.high)).all())

    # --- searching ---------------------------------------------------------------------------------------------------

    def look(self, reach: float, near: list[Array] | None = None) -> bool:
        """Whether a nearer turned point was found within the reach; `near` are points that seem turned over."""
        self._look_for_home()
        if self.home is None:
            return False
        found = self._here[1] <= reach and self.catch_up()
        if self.best is None:
            found |= self._along_rays(reach, near)
        if self.best is not None:
            found |= self.seek(reach, near)
            found |= not found and self._along_rays(reach, near)
        if found or self._unproved:
            if self.best is not None and not self._unproved:
                self._here = self._ray_to(self.best[1])
            try:
                self._refine()
            finally:  # also where time ends
                found |= self._keep()
        return found

    def _along_rays(self, reach: float, near: list[Array] | None) -> bool:
        """Whether a nearer turned point was found along directions from the centre."""
        reach = self._news_within(reach)
        rays = self._generator.standard_normal((self._directions, self.setting.size))
        if near:
            rays = np.concatenate([*(part[:STARTS] - self.setting.center for part in near), rays])
            rays = rays[: 2 * self._directions]
        if self.best is not None:
            rays = np.concatenate([self.best[1][None] - self.setting.center, rays])
        rays = self._unit(rays)
        distances = self._first_turns(rays, reach, STEPS)
        found = False
        for k in np.argsort(distances, kind="stable")[:STARTS].tolist():
            if distances[k] < np.inf and not (found or self._unproved):
                self._here = rays[k], float(distances[k])
                found = self._keep()
        return found

    def seek(self, reach: float, near: list[Array] | None = None) -> bool:
        """Whether points that follow gradients met a nearer turned point within the reach, in rounds as long as these
        find much nearer ones."""
        self._look_for_home()
        found, goes_on = self._here[1] <= reach and self.catch_up(), True
        while self.home is not None and goes_on and not self._unproved:
            before = self._news_within(reach)
            better = self._round(reach, near)
            found |= better
            goes_on = better and self.best is not None and self.best[0] < MUCH_NEARER * before
        return found

    def _round(self, reach: float, near: list[Array] | None) -> bool:
        """Whether a round of seekers met a nearer turned point, which is kept also where time ends.

        Some rounds go on from what the last one met. Then points begin anew, in a ball that may be larger than that of
        the nearest turned point: what is known lies in one of many valleys.
        """
        met = np.concatenate([np.zeros((0, self.setting.size)), *(part[:STARTS] for part in near or [])])
        limit = reach if self.best is None else min(reach, FARTHER * self.best[0])
        if self._rounds % LINE and self._line is not None:
            limit, met = min(limit, self._ray_to(self._line)[1]), np.concatenate([self._line[None], met])
        self._rounds, better = self._rounds + 1, False
        try:
            self._seekers.advance(limit, met - self.setting.center)
        finally:
            offset = self._seekers.nearest
            self._line = None if offset is None else self.setting.center + offset
            if self._line is None:
                self._rounds = 0
            elif (ray := self._ray_to(self._line))[1] <= self._news_within(reach):
                self._here = ray
                better = self._keep()
        return better

    @cached_property
    def _seekers(self) -> FoldSeekers:
        return FoldSeekers(self.setting, self._sign, self.seed)

    def _ray_to(self, point: Array) -> tuple[Array, float]:
        """The direction of a point, and how far away it is."""
        offset = point - self.setting.center
        distance = float(self.setting.norm.lengths(offset[None])[0])
        return offset / distance, distance

    def _news_within(self, reach: float) -> float:
        return reach if self.best is None else min(reach, NEARER * self.best[0])

    def catch_up(self) -> bool:
        """Whether something nearer was found before that there was no time to prove, and is proved now."""
        return self._unproved and self._keep()

    def _refine(self) -> None:
        """Make the direction better, and its distance less."""
        spread = WIDEST
        ray, distance = self._here
        while spread > NARROWEST:
            checkpoint()
            steps = self._generator.standard_normal((VARIED, self.setting.size)) * spread
            steps[::2] *= self._generator.random((len(steps[::2]), self.setting.size)) < 0.5
            rays = self._unit(np.concatenate([ray + steps, self._towards_plane(ray, distance)]))
            distances = self._first_turns(rays, distance, FINER, PRECISION * spread)
            k = int(np.argmin(distances))
            if distances[k] >= distance * (1 - 1e-3 * spread):
                spread *= SHRINKING
            if distances[k] < distance:
                self._here = ray, distance = rays[k], float(distances[k])

    def _towards_plane(self, ray: Array, distance: float) -> Array:
        """Directions on the way to the nearest point of the plane that touches the fold where a ray meets it."""
        n, step = self.setting.size, 1e-5 * distance
        around = self.setting.center + distance * ray + np.concatenate([step * np.eye(n), -step * np.eye(n)])
        values = self._determinants(around)
        slope = values[:n] - values[n:]
        if not np.isfinite(slope).all() or not slope.any():
            return np.zeros((0, n))
        target = _steepest(self.setting.norm, slope)
        target = target * np.sign(slope @ ray)
        return np.asarray(ray + SHARES[:, None] * (target - ray))

    def _unit(self, rays: Array) -> Array:
        lengths = self.setting.norm.lengths(rays)
        good = np.isfinite(lengths) & (lengths > 0)
        return np.asarray(rays[good] / lengths[good][:, None])

    def _determinants(self, points: Array) -> Array:
        """At some points; raises OutOfTime."""
        found = np.zeros(len(points))
        with np.errstate(all="ignore"):
            for start in range(0, len(points), self._at_once):
                checkpoint()
                some = slice(start, start + self._at_once)
                found[some] = np.linalg.det(self._secants.jacobians(self.setting.derivatives(points[some])))
            return np.nan_to_num(found * self._sign)

    def _first_turns(self, rays: Array, reach: float, steps: int, precision: float = 0.0) -> Array:
        """How far along each ray the determinant changes its sign first, as far as some points show; else infinite."""
        halvings = HALVINGS if not precision else min(HALVINGS, max(4, int(np.ceil(-np.log2(steps * precision)))))
        most = np.minimum(reach, self._room(rays))
        parts = most[:, None] * (np.arange(1, steps + 1) / steps)
        points = self.setting.center + parts[:, :, None] * rays[:, None]
        turned = self._determinants(points.reshape(-1, self.setting.size)).reshape(parts.shape) < 0
        some = np.flatnonzero(turned.any(axis=1) & (most > 0))
        found = np.full(len(rays), np.inf)
        if not len(some):
            return found
        first = turned[some].argmax(axis=1)
        high = parts[some, first]
        low = high - most[some] / steps
        for _ in range(halvings):
            checkpoint()
            middle = low / 2 + high / 2
            over = self._determinants(self.setting.center + middle[:, None] * rays[some]) < 0
            low, high = np.where(over, low, middle), np.where(over, middle, high)
        found[some] = high
        return found

    def _room(self, rays: Array) -> Array:
        """How far each ray stays inside the domain."""
        with np.errstate(all="ignore"):
            ends = np.where(rays > 0, self.setting.high, self.setting.low) - self.setting.center
            room = np.where(rays == 0, np.inf, ends / rays)
        return np.asarray(room.min(axis=1) * (1 - 1e-12))

    # --- proofs ------------------------------------------------------------------------------------------------------

    def _keep(self) -> bool:
        """Prove the determinant's sign a little beyond the fold; the next look does where there is no time for it."""
        ray, distance = self._here
        self._unproved = seconds_of_sign(self.setting, BITS[0]) > left()
        if self._unproved:
            return False
        with suppress(OutOfTime):
            distance = min(distance, float(self._first_turns(ray[None], distance, 2)[0]))
        for more in OUTWARD.tolist():
            point = self.setting.center + distance * (1 + more) * ray
            if not self._is_inside(point):
                return False
            assert self.home is not None
            away = max(self.distance(point), self.distance(self.home))
            if self.best is not None and away >= self.best[0]:
                return False
            if proved_sign(self.setting, point) == -self._sign:
                self.best = away, point
                return True
        return False

    def distance(self, point: Array) -> float:
        """How far a point is from the centre, rounded up."""
        norm = self.setting.norm
        return norm.length_up(norm.distance([Fraction(v) for v in point.tolist()], self.setting.exact_center))


def proved_sign(setting: Setting, point: Array) -> int:
    """The sign of the determinant at a float point, by interval arithmetic; 0 where that cannot tell, or takes longer
    than is left."""
    for bits in BITS:
        if seconds_of_sign(setting, bits) > left():
            break
        value = enclosed_determinant(setting.graph, point.tolist(), bits)
        if value > 0 or value < 0:
            return 1 if value > 0 else -1
    return 0


def seconds_of_sign(setting: Setting, bits: int) -> float:
    """How long a determinant of intervals takes, about, where it is long."""
    weights = sum(math.prod(node.op.weight.shape) for node in setting.graph.nodes if isinstance(node.op, Affine))
    work = bits * setting.size * (setting.size**2 + weights)
    return work / WORK_A_SECOND if work > SHORT * WORK_A_SECOND else 0.0


def _steepest(norm: Norm, slope: Array) -> Array:
    """The direction of length 1 in which a linear function grows most."""
    if norm == "inf":
        return np.sign(slope)
    if norm == "2":
        return np.asarray(slope / np.linalg.norm(slope))
    found = np.zeros(len(slope))
    k = int(np.abs(slope).argmax())
    found[k] = np.sign(slope[k])
    return found
