"""Linear regions of a ball that shrink most, as far as points that are looked at show; in floats, for choices only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ircert.engines.boxes.one_matrix.points import NEIGHBORS, Points
from ircert.engines.boxes.problem.setting import Setting
from ircert.ir.arrays import Array
from ircert.limits import checkpoint

DRAWS = 3
"""How often points are drawn from the whole ball …"""
ROUNDS, NEAR = 20, 24
"""… and then around those that shrink most …"""
WORK = 30_000_000
"""… with as many multiplications in a round, at most."""
MOST = 4_000
INWARD = 2.0**-10


@dataclass(frozen=True, eq=False)
class Seen:
    """Points of different regions (count, inputs), their Jacobians (count, outputs, inputs) and least singular values,
    in ascending order of these."""

    points: Array
    jacobians: Array
    sizes: Array

    @staticmethod
    def of(points: Points, radius: float, found: Array) -> Seen:
        """Those of some points whose Jacobians are finite."""
        found = _off_the_domain(points.setting, radius, found)
        jacobians = points.jacobians(found)
        good = np.isfinite(jacobians).all(axis=(1, 2))
        found, jacobians = found[good], jacobians[good]
        return Seen(found, jacobians, _least_singular_values(jacobians))._sorted()

    def plus(self, other: Seen) -> Seen:
        """Both, without those that shrink least if there are many."""
        names = ("points", "jacobians", "sizes")
        return Seen(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in names))._sorted()

    def _sorted(self) -> Seen:
        order = np.argsort(self.sizes, kind="stable")[:MOST]
        return Seen(self.points[order], self.jacobians[order], self.sizes[order])


def regions_seen(points: Points, radius: float) -> Seen:
    """Regions of a ball around the centre of a setting."""
    with np.errstate(all="ignore"):
        seen = Seen.of(points, radius, points.sampled(radius))
        for _ in range(1, DRAWS):
            checkpoint()
            seen = seen.plus(Seen.of(points, radius, points.sampled(radius)))
        near = min(NEAR, WORK // (NEIGHBORS * max(1, points.secants.products)))
        for _ in range(ROUNDS if near and len(seen.points) else 0):
            checkpoint()
            seen = seen.plus(Seen.of(points, radius, points.around(seen.points[:near], radius)))
    return seen


def _off_the_domain(setting: Setting, radius: float, points: Array) -> Array:
    """Points on the border of the domain moved inside: kinks may lie there, and no region has the slopes of a kink."""
    ball, most = setting.ball(radius), radius / (4 * setting.size)
    low, high = ball.box
    inner = setting.center + np.clip((low / 2 + high / 2) - setting.center, -most, most)
    on = ((points <= setting.low) | (points >= setting.high)).any(axis=1, keepdims=True)
    return np.where(on, points + INWARD * (inner - points), points)


def _least_singular_values(matrices: Array) -> Array:
    return np.asarray(np.linalg.svd(matrices, compute_uv=False)[:, -1], dtype=np.float64)
