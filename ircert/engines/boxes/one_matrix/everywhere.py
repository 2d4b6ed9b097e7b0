"""Injectivity on the whole space by one matrix: finitely many boxes, which reach to infinity.

With F(u, s) = s f(c + u / s) every point x lies on a ray of (u, s), s > 0, and every ray meets the rim of
{|u_j| <= 1, 0 <= s <= t} at its top s = t (points within 1 / t of the centre) or on a side u_j = 1 or -1 (all others).
So boxes that cover the top and the sides cover the space, for any t > 0; what holds on closed boxes with s >= 0 holds
for s > 0. Where many neurons are 0 at the centre, the sides are enough for a large t (`rays`). The derivative of F by u
is the Jacobian of f: where one C makes all of them positive definite, f is injective, because the space is convex.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.falsification.work import switching_radii
from ircert.engines.boxes.one_matrix.covering import Covering
from ircert.engines.boxes.one_matrix.directions import Directions
from ircert.engines.boxes.one_matrix.homogenized import homogenized
from ircert.engines.boxes.one_matrix.rays import RaySetting
from ircert.engines.boxes.problem.boxes import Boxes
from ircert.engines.boxes.problem.outcome import Counts, Outcome
from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.ir.arrays import Array

SMALLEST, LARGEST = 2.0**-200, 2.0**200
"""t; any positive float will do."""
BEYOND = 2.0**1000
"""A ball of (u, s) that holds the whole rim."""


@dataclass
class Everywhere:
    """The search for a proof."""

    setting: Setting
    counts: Counts
    report: Callable[[], None]
    seed: int = 0
    _covering: Covering = field(init=False, repr=False)

    def __post_init__(self) -> None:
        rays = RaySetting.of(self.setting)
        around = homogeneous(self.setting) if rays is None else rays
        given = Batches(around), self.counts, self.report, self.seed
        roots = rim(around) if rays is None else rays.sides(math.inf)
        self._covering = Covering(*given, draws=Directions, roots=roots)

    @staticmethod
    def applies(setting: Setting) -> bool:
        """Whether a setting asks about the whole space, and has enough outputs."""
        free = np.isinf(setting.low).all() and np.isinf(setting.high).all()
        return bool(free) and setting.problem != "transform" and setting.constrained >= setting.size

    def advance(self, stop: Callable[[], bool], effort: float = np.inf) -> Outcome:
        """Go on until the space is covered; stops of its own accord where no matrix is left.

        A cover that is expected to take more than an effort is not begun.
        """
        self._covering.effort = effort
        return self._covering.advance(BEYOND, stop)

    @property
    def matrix(self) -> Array | None:
        """C of the proof, or of what was tried last."""
        return self._covering.matrix

    @property
    def left(self) -> float:
        """What the cover that is worked on was expected to take when it was begun; infinite where none is."""
        return self._covering.left

    @property
    def gave_up(self) -> bool:
        """Whether there is no matrix, as far as floats say."""
        return self._covering.gave_up <= BEYOND

    def turned(self) -> list[Array]:
        """Points beyond folds that were met since this was asked last."""
        found, self._covering.turned = self._covering.turned, []
        with np.errstate(all="ignore"):
            points = [self.setting.center + part[:, :-1] / part[:, -1:] for part in found]
        return [part[np.isfinite(part).all(axis=1)] for part in points]


def homogeneous(setting: Setting) -> Setting:
    """F, with the box {|u_j| <= 1, 0 <= s <= t} as its domain."""
    n = setting.size
    low, high = np.r_[np.full(n, -1.0), 0.0], np.r_[np.ones(n), _scale(setting)]
    place = Place(np.zeros(n + 1), Norm.INF, low, high)
    return Setting(homogenized(setting.graph, setting.center), "local", setting.constrained, place)


def busy_radius(setting: Setting) -> float:
    """The radius within which about half of the neurons switch."""
    return 1.0 / _scale(setting)


def _scale(setting: Setting) -> float:
    """t: about half of the neurons switch within 1 / t."""
    radii = switching_radii(setting)
    middle = float(np.median(radii)) if len(radii) else 1.0
    return float(np.clip(np.nan_to_num(1.0 / middle, nan=1.0), SMALLEST, LARGEST))


def rim(setting: Setting) -> Boxes:
    """The top and the sides of the domain of a homogeneous network: each a box that is flat on one side."""
    n = setting.size - 1
    lows, highs = (np.tile(side, (2 * n + 1, 1)) for side in (setting.low, setting.high))
    lows[2 * n, n] = setting.high[n]
    for j in range(n):
        highs[2 * j, j] = setting.low[j]
        lows[2 * j + 1, j] = setting.high[j]
    return Boxes(lows, highs)
