"""Points of a ball whose linear regions a matrix should know, and their Jacobians; in floats, for choices only."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ircert.engines.boxes.enclosures.secants import Secants
from ircert.engines.boxes.problem.setting import Setting
from ircert.ir.arrays import Array, Indices, Mask

SAMPLES = 1_500
"""Points of a ball that are looked at, at first …"""
SMOOTH_SAMPLES = 300
"""… and where Jacobians change slowly …"""
PRODUCTS = 100_000_000
"""… and the multiplications that their Jacobians may take, if they are not few …"""
FEW, FEWEST, MOST_PRODUCTS = 64, 8, 2_000_000_000
"""… and if they are: of large networks fewer points are looked at."""
AT_ONCE = 50_000_000
STARTING = 32
"""Of so many points one is followed."""
NEIGHBORS = 16
NEAR = 0.01
"""Points close to faces, and not on them: where a neuron is 0 no region has the slopes that floats see."""
STARTS, COPIES, PROJECTIONS = 3, 8, 2
"""Places where neurons are 0 together that are looked for from a region, steps to such a place, and points around."""
RIDGE = 1e-9
"""Planes that are nearly parallel meet far away: in parts of a plane's own weight, what keeps them from it."""
ANY = 0.7
"""How far the neurons that meet there are from the nearest ones: a factor, as a logarithm."""


@dataclass
class Points:
    """Draws points around the centre of a setting."""

    setting: Setting
    seed: int = 0
    _generator: np.random.Generator = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.secants = Secants(self.setting)
        self._generator = np.random.default_rng(self.seed)

    def reference(self, radius: float) -> Array:
        """The Jacobian at a point near the centre."""
        steps = self._generator.uniform(-1, 1, (1, self.setting.size)) * 1e-9 * radius
        return self.jacobians(self._inside(steps))[0]

    def sampled(self, radius: float, share: float = 1.0) -> Array:
        """Points of different linear regions of a ball, half of them near some of its faces."""
        count = self._count(share)
        steps = self._generator.uniform(-1, 1, (count, self.setting.size))
        if self.setting.norm == "inf":
            chance = self._generator.random((count, 1)) * (np.arange(count) % 2)[:, None]
            at = self._generator.random(steps.shape) < chance
            steps = np.where(at, np.sign(steps) * (1 - NEAR * np.abs(steps)), steps)
        else:
            lengths = self.setting.norm.lengths(steps)[:, None]
            far = self._generator.random((count, 1)) ** (1 / self.setting.size) * (1 - NEAR / 10)
            far[::2] = 1 - NEAR
            steps = steps * (far / np.maximum(lengths, 1e-300))
        return self.of_different_regions(self._inside(radius * steps))

    def crossings(self, points: Array, radius: float) -> Array:
        """Points of the ball close to where some neurons near given points are 0 together, of different regions: they
        may be too thin to be met otherwise."""
        if len(points) < 2 or self.setting.is_smooth:
            return points[:0]
        points = np.concatenate([points] * STARTS)[: self._count(1 / 2)]
        count, n = points.shape
        with np.errstate(all="ignore"):
            values, rows = self.setting.preactivations(points), self.secants.rows(self._slopes(points))
            distances = np.abs(values) / np.linalg.norm(rows, axis=2)
            distances *= np.exp(ANY * self._generator.standard_normal(distances.shape))
            chosen = np.argsort(distances, axis=1)[:, :n]
            used = np.arange(chosen.shape[1]) < self._generator.integers(1, n + 1, (count, 1))
            for _ in range(PROJECTIONS):
                points = self._inside(self._pulled(points + _to_planes(values, rows, chosen, used), radius))
                values, rows = self.setting.preactivations(points), self.secants.rows(self._slopes(points))
            spread = radius * np.exp2(-self._generator.integers(3, 30, (count, COPIES, 1)).astype(np.float64))
            moved = points[:, None] + spread * self._generator.standard_normal((count, COPIES, n))
            moved = self._inside(self._pulled(moved.reshape(-1, n), radius))
        return self.of_different_regions(moved[np.isfinite(moved).all(axis=1)])

    def _pulled(self, points: Array, radius: float) -> Array:
        """Offsets of points that are moved into the ball, though not onto its boundary."""
        steps = points - self.setting.center
        inner = radius * (1 - np.exp2(-self._generator.uniform(7, 40, (len(points), 1))))
        if self.setting.norm == "inf":
            return np.clip(steps, -inner, inner)
        return steps * np.minimum(1.0, inner / np.maximum(self.setting.norm.lengths(steps)[:, None], 1e-300))

    def _count(self, share: float) -> int:
        most = SMOOTH_SAMPLES if self.setting.is_smooth else SAMPLES
        products = max(1, self.secants.products)
        return int(share * min(most, max(min(FEW, MOST_PRODUCTS // products), FEWEST, PRODUCTS // products)))

    @property
    def starts(self) -> int:
        """How many points are worth to be followed step by step."""
        return max(1, self._count(1 / STARTING))

    def around(self, points: Array, radius: float) -> Array:
        """Points near some points, of different regions, in the ball."""
        return self.of_different_regions(self.near(points, radius).reshape(-1, self.setting.size))

    def near(self, points: Array, radius: float) -> Array:
        """Points near some points, in the ball (points, neighbors, inputs)."""
        shape = len(points), NEIGHBORS, self.setting.size
        spread = radius * np.exp2(-self._generator.integers(1, 12, (len(points), NEIGHBORS, 1)).astype(np.float64))
        steps = spread * self._generator.standard_normal(shape)
        moved = (points[:, None] + steps).reshape(-1, self.setting.size) - self.setting.center
        moved *= np.minimum(1.0, (1 - NEAR / 10) * radius / np.maximum(self.setting.norm.lengths(moved), 1e-300))[
            :, None
        ]
        return self._inside(moved).reshape(shape)

    def shares(self, shape: tuple[int, ...]) -> Array:
        """Numbers between 0 and 1, not close to these."""
        return self._generator.uniform(0.02, 0.98, shape)

    def chosen(self, count: int, most: int) -> Indices:
        """At most so many of a row of things, any of them."""
        return np.sort(self._generator.permutation(count)[:most])

    def of_different_regions(self, points: Array) -> Array:
        """One point for every pattern of neurons; those on kinks are left out, because floats see slopes of no region
        there (neurons that are 0 everywhere do no harm)."""
        if self.setting.is_smooth:  # every point has slopes of its own
            return points
        z = self.setting.preactivations(points)
        zeros = (z == 0).sum(axis=1)
        inner = zeros == zeros.min(initial=z.shape[1])
        return np.asarray(points[inner][np.sort(np.unique(_keys(z[inner] > 0), return_index=True)[1])])

    def patterns(self, points: Array) -> list[bytes]:
        """Which neurons are on at some points; where slopes are not these alone, the points themselves."""
        if self.setting.is_smooth:
            return [row.tobytes() for row in points]
        return [row.tobytes() for row in np.packbits(self.setting.preactivations(points) > 0, axis=1)]

    def jacobians(self, points: Array) -> Array:
        """The Jacobians at some points, or of their regions (count, constrained, inputs)."""
        return self.at_slopes(self._slopes(points))

    def _slopes(self, points: Array) -> Array:
        return self.setting.derivatives(points)

    def at_slopes(self, slopes: Array) -> Array:
        """J at slopes of all neurons (count, neurons)."""
        step = max(1, AT_ONCE // max(1, self.secants.products))
        parts = [self.secants.jacobians(slopes[k : k + step]) for k in range(0, len(slopes), step)]
        return np.concatenate([np.zeros((0, self.setting.constrained, self.setting.size)), *parts])

    def radii(self, points: Array) -> Array:
        """How far points lie from the centre."""
        return np.asarray(self.setting.norm.lengths(points - self.setting.center))

    def places(self, points: Array) -> Array:
        """Where points lie among the inputs."""
        return points

    def _inside(self, steps: Array) -> Array:
        return np.clip(self.setting.center + steps, self.setting.low, self.setting.high)


def _keys(patterns: Mask) -> Array:
    """Numbers of patterns (rows), different ones for different patterns but for accidents."""
    bits = np.packbits(patterns, axis=1)
    words = np.zeros((len(bits), -(-bits.shape[1] // 8) * 8), dtype=np.uint8)
    words[:, : bits.shape[1]] = bits
    numbers = words.view(np.uint64)
    factors = np.random.default_rng(numbers.shape[1]).integers(0, 2**63, numbers.shape[1], dtype=np.uint64) * 2 + 1
    return np.asarray((numbers * factors).sum(axis=1, dtype=np.uint64))


def _to_planes(values: Array, rows: Array, chosen: Indices, used: Mask) -> Array:
    """The shortest steps to where some neurons are 0, as they go on at the points."""
    slopes = np.take_along_axis(rows, chosen[:, :, None], axis=1) * used[:, :, None]
    aims = -np.take_along_axis(values, chosen, axis=1) * used
    table = np.matmul(slopes, slopes.transpose(0, 2, 1))
    diagonal = np.arange(table.shape[1])
    table[:, diagonal, diagonal] += RIDGE * table[:, diagonal, diagonal].max(axis=1, keepdims=True) + 1e-300
    found = np.matmul(slopes.transpose(0, 2, 1), np.linalg.solve(table, aims[:, :, None]))[:, :, 0]
    return np.where(np.isfinite(found), found, 0.0)
