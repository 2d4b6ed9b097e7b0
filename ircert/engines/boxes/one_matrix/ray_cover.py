"""A ball covered in rays from its centre (`rays`): its boxes, and points of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ircert.engines.boxes.effort.divisible import Processes
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.one_matrix.cover import Cover, Frontier
from ircert.engines.boxes.one_matrix.covering import Covering
from ircert.engines.boxes.one_matrix.directions import Directions
from ircert.engines.boxes.one_matrix.points import NEIGHBORS
from ircert.engines.boxes.one_matrix.rays import RaySetting
from ircert.engines.boxes.problem.boxes import Boxes
from ircert.engines.boxes.problem.outcome import Counts
from ircert.ir.arrays import Array, Mask

INNERMOST = 1e-6
"""Points are drawn as far from the centre as this part of the radius, or as Q, if that is farther."""


class RayPoints(Directions):
    """Draws (u, s) of a ball around the centre."""

    setting: RaySetting

    def sampled(self, radius: float, share: float = 1.0) -> Array:
        """Points of different linear regions: half of them at any distance, as likely as at its double."""
        count = self._count(share)
        ways = self._generator.uniform(-1, 1, (count, self.setting.size - 1))
        ways /= np.maximum(np.abs(ways).max(axis=1, keepdims=True), 1e-300)
        shares = self._generator.random(count)
        least = min(1.0, max(INNERMOST, 1 / (self.setting.t * radius)))
        distances = radius * np.where(np.arange(count) % 2, shares ** (1 / ways.shape[1]), least**shares)
        return self.of_different_regions(self._at(ways, distances))

    def near(self, points: Array, radius: float) -> Array:
        """Points near some points, in the ball (points, neighbors, inputs)."""
        shape = len(points), NEIGHBORS, 1
        spread = np.exp2(-self._generator.integers(1, 12, shape).astype(np.float64))
        moved = spread * self._generator.standard_normal((len(points), NEIGHBORS, self.setting.size))
        ways = (points[:, None, :-1] + moved[:, :, :-1]).reshape(-1, self.setting.size - 1)
        distances = np.minimum(np.repeat(self.radii(points), NEIGHBORS) * np.exp(moved[:, :, -1]).ravel(), radius)
        return self._at(ways, distances).reshape(moved.shape)

    def radii(self, points: Array) -> Array:
        """How far points lie from the centre."""
        return np.asarray(self.setting.origin.norm.lengths(points[:, :-1]) / points[:, -1])

    def places(self, points: Array) -> Array:
        """x = c + u / s."""
        with np.errstate(all="ignore"):
            found = self.setting.origin.center + points[:, :-1] / points[:, -1:]
        return np.asarray(found[np.isfinite(found).all(axis=1)])

    def _at(self, ways: Array, distances: Array) -> Array:
        """Points in some directions, a little nearer than these distances."""
        lengths = self.setting.origin.norm.lengths(ways)
        return np.column_stack([ways, lengths / np.maximum(distances, 1e-300) * (1 + 1e-9)])


@dataclass
class RayCover(Cover):
    """A cover of the sides, as far as the ball goes; what is closed is closed for balls of all sizes."""

    @property
    def rays(self) -> RaySetting:
        """The setting of the network in (u, s)."""
        setting = self.network.setting
        assert isinstance(setting, RaySetting)
        return setting

    def roots_of(self, radius: float) -> Frontier:
        """The sides."""
        sides = self.fitted(self.rays.sides(radius), radius)
        return Frontier.fresh(sides, np.zeros(len(sides)), np.zeros(len(sides), dtype=np.int64))

    def matters(self, here: Frontier) -> Mask:
        """Which boxes have points outside of the ball that is proved, and in the domain."""
        return np.asarray(super().matters(here) & self.rays.in_domain(here.boxes))

    def nearest(self, boxes: Boxes) -> Array:
        return self.rays.nearest(boxes)

    def farthest(self, boxes: Boxes) -> Array:
        return self.rays.farthest(boxes)

    def fitted(self, boxes: Boxes, radius: float) -> Boxes:
        return self.rays.beyond(boxes, self.reached)

    def _beyond(self, good: Frontier, radius: float) -> Frontier:
        """None: boxes are closed as a whole."""
        return good.take(np.zeros(0, dtype=np.int64))


def covering_of(
    network: Batches, counts: Counts, report: Callable[[], None], processes: Processes | None = None
) -> Covering:
    """Who covers balls: in boxes or, where many neurons are 0 at the centre, in rays."""
    rays = RaySetting.of(network.setting)
    if rays is None:
        return Covering(network, counts, report, processes=processes)
    return Covering(Batches(rays), counts, report, draws=RayPoints, covers=RayCover)


def alike(covering: Covering) -> float:
    """The radius up to which all balls of a covering have the same linear regions, as far as it knows; else 0."""
    setting = covering.network.setting
    return 1 / setting.t if isinstance(setting, RaySetting) else 0.0
