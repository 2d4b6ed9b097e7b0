"""Points of the whole space as (u, s), x = c + u / s: near the centre, at all distances, and nearly at infinity."""

from __future__ import annotations

import numpy as np

from ircert.engines.boxes.one_matrix.points import NEIGHBORS, Points
from ircert.ir.arrays import Array

NEAREST, FARTHEST = 1e-6, 1e9
"""Distances that are looked at, in those where most neurons switch."""
LEAST = 1e-12
"""… and s in those units."""


class Directions(Points):
    """Draws (u, s) for a network made homogeneous (`homogenized`); s > 0, at most where the setting ends.

    Jacobians are by u alone.
    """

    def reference(self, radius: float) -> Array:
        """The Jacobian near the centre."""
        steps = self._generator.uniform(-1, 1, (1, self.setting.size - 1)) * 1e-9
        return self.jacobians(self._scaled(steps, np.ones(1)))[0]

    def sampled(self, radius: float, share: float = 1.0) -> Array:
        """Points of different linear regions: any distance is as likely as its double, or its inverse is."""
        count = self._count(share)
        ways = self._generator.uniform(-1, 1, (count, self.setting.size - 1))
        ways /= np.maximum(np.abs(ways).max(axis=1, keepdims=True), 1e-300)
        distances = np.exp(self._generator.uniform(np.log(NEAREST), np.log(FARTHEST), count))
        around = self._generator.random(count) < 2 / 3
        near = self._generator.random(count)
        distances = np.where(around, np.where(near < 1 / 2, 2 * near, 0.5 / np.maximum(1 - near, LEAST)), distances)
        return self.of_different_regions(self._scaled(ways * np.minimum(distances, 1.0)[:, None], 1 / distances))

    def crossings(self, points: Array, radius: float) -> Array:
        """None: on rays neurons meet as they do around the centre."""
        return points[:0]

    def near(self, points: Array, radius: float) -> Array:
        """Points near some points (points, neighbors, inputs)."""
        shape = len(points), NEIGHBORS, 1
        spread = np.exp2(-self._generator.integers(1, 12, shape).astype(np.float64))
        moved = spread * self._generator.standard_normal((len(points), NEIGHBORS, self.setting.size))
        ways = (points[:, None, :-1] + moved[:, :, :-1]).reshape(-1, self.setting.size - 1)
        scales = (points[:, None, -1] * np.exp(moved[:, :, -1])).ravel() / self.setting.high[-1]
        return self._scaled(ways, scales).reshape(moved.shape)

    def at_slopes(self, slopes: Array) -> Array:
        """J by u."""
        return super().at_slopes(slopes)[:, :, :-1]

    def _scaled(self, ways: Array, scales: Array) -> Array:
        """(u, s), with s in units of the largest one."""
        return np.column_stack([ways, self.setting.high[-1] * np.clip(scales, LEAST, 1.0)])
