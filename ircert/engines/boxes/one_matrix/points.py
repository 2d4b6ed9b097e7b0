"""Points of a ball whose linear regions a matrix should know, and their Jacobians; in floats, for choices only."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ircert.engines.boxes.enclosures.secants import Secants
from ircert.engines.boxes.problem.setting import Setting
from ircert.ir.arrays import Array, Indices

SAMPLES = 1_500
"""Points of a ball that are looked at, at first …"""
SMOOTH_SAMPLES = 300
"""… and where Jacobians change slowly …"""
PRODUCTS = 100_000_000
"""… and the multiplications that their Jacobians may take."""
AT_ONCE = 50_000_000
NEIGHBORS = 16
NEAR = 0.01
"""Points close to faces, and not on them: where a neuron is 0 no region has the slopes that floats see."""


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
            near = (np.arange(count) % 2 == 0)[:, None]
            steps = steps / np.where(near, lengths * (1 + NEAR), np.maximum(lengths, 1.0))
        return self.of_different_regions(self._inside(radius * steps))

    def _count(self, share: float) -> int:
        most = SMOOTH_SAMPLES if self.setting.is_smooth else SAMPLES
        return int(share * min(most, max(64, PRODUCTS // max(1, self.secants.products))))

    def around(self, points: Array, radius: float) -> Array:
        """Points near some points, of different regions, in the ball."""
        spread = radius * np.exp2(-self._generator.integers(1, 12, (len(points), NEIGHBORS, 1)).astype(np.float64))
        steps = spread * self._generator.standard_normal((len(points), NEIGHBORS, self.setting.size))
        moved = (points[:, None] + steps).reshape(-1, self.setting.size) - self.setting.center
        moved *= np.minimum(1.0, (1 - NEAR / 10) * radius / np.maximum(self.setting.norm.lengths(moved), 1e-300))[
            :, None
        ]
        return self.of_different_regions(self._inside(moved))

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
        patterns = np.packbits(z[inner] > 0, axis=1)
        return np.asarray(points[inner][np.sort(np.unique(patterns, axis=0, return_index=True)[1])])

    def jacobians(self, points: Array) -> Array:
        """The Jacobians at some points, or of their regions (count, constrained, inputs)."""
        return self.at_slopes(self.setting.derivatives(points))

    def at_slopes(self, slopes: Array) -> Array:
        """J at slopes of all neurons (count, neurons)."""
        step = max(1, AT_ONCE // max(1, self.secants.products))
        parts = [self.secants.jacobians(slopes[k : k + step]) for k in range(0, len(slopes), step)]
        return np.concatenate([np.zeros((0, self.setting.constrained, self.setting.size)), *parts])

    def radii(self, points: Array) -> Array:
        """How far points lie from the centre."""
        return np.asarray(self.setting.norm.lengths(points - self.setting.center))

    def _inside(self, steps: Array) -> Array:
        return np.clip(self.setting.center + steps, self.setting.low, self.setting.high)
