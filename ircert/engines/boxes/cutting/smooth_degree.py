"""Balls of networks with curves by degree: determinants of one sign inside, and no two points of the boundary alike.

One matrix for a whole ball does not exist as far as the nearest fold where the map turns on the way; then this may be
(`spec/engines.md`, E-18). Boxes are closed by contractions with slopes in intervals, pairs of boxes of the boundary by
separate ranges or because their secants have no kernel. There are no phases to make trees of.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from ircert.engines.boxes.cutting.boundary_pairs import BoundaryPairs
from ircert.engines.boxes.cutting.orientation import OrientationFrontier, OrientationSearch
from ircert.engines.boxes.cutting.turning import turning
from ircert.engines.boxes.effort.divisible import Subject
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.contractions import Slopes
from ircert.engines.boxes.enclosures.enclosures import Enclosures
from ircert.engines.boxes.enclosures.splitting import scores
from ircert.engines.boxes.problem.boxes import SAFE, around
from ircert.engines.boxes.problem.outcome import Counts, Outcome
from ircert.engines.boxes.problem.setting import Setting
from ircert.ir.arrays import Array, Indices, Mask

MOST_INPUTS = 4
"""With more, pairs of boxes lead nowhere."""


@dataclass
class SmoothOrientation(OrientationSearch):
    """How far around the centre determinants have a given sign; in one process."""

    network: Batches
    sign: int
    counts: Counts
    report: Callable[[], None]
    reached: float = 0.0
    processes: None = None
    _frontier: OrientationFrontier | None = None
    _root: float = 0.0
    _moving: Array | None = field(default=None, repr=False)

    def _closed(self, known: Enclosures) -> tuple[Mask, Array]:
        still = np.zeros((self.network.size, known.on.shape[1]), dtype=bool)
        found = turning(self.network, Slopes.on_boxes(known, still))
        self._moving = found.gains
        return found.signs == self.sign, found.weights

    def _gains(self, known: Enclosures, weights: Array, rest: Indices) -> Array:
        assert self._moving is not None
        return scores(known, weights) + self._moving[:, rest]

    @property
    def subject(self) -> Subject:
        """It is not shared."""
        raise TypeError("orientations of smooth networks are not shared")

    def _told(self) -> None:
        """Nothing: it is not shared."""

    def _hear(self, told: None) -> None:
        """Nothing."""

    def _found(self) -> None:
        """Nothing."""

    def _learn(self, found: None) -> None:
        """Nothing."""


@dataclass
class SmoothDegree:
    """The search; `reached` is the radius of the largest ball that was proved, `sign` that of the centre."""

    setting: Setting
    sign: int
    counts: Counts
    report: Callable[[], None]
    reached: float = 0.0
    _radius: float = 0.0
    _inside: SmoothOrientation | None = field(default=None, repr=False)
    _boundary: BoundaryPairs | None = field(default=None, repr=False)

    @staticmethod
    def serves(setting: Setting) -> bool:
        """Whether there are as many outputs as inputs, and few of them; and curves, of `transform` perhaps not."""
        return setting.is_smooth and setting.constrained == setting.size <= MOST_INPUTS

    def advance(self, radius: float, stop: Callable[[], bool]) -> Outcome:
        """Go on until the ball is proved."""
        if radius <= self.reached:
            return "closed"
        if radius != self._radius or self._inside is None or self._boundary is None:
            network, self._radius = Batches(replace(_body(self.setting, radius), scale=radius)), radius
            given = self.counts, self.report
            self._inside = SmoothOrientation(network, self.sign, *given)
            self._boundary = BoundaryPairs(network, [], *given)
        reach = _reach(self.setting, radius)
        try:
            if self._inside.advance(reach, stop) != "closed" or self._boundary.advance(reach, stop) != "closed":
                return "stopped"
        except np.linalg.LinAlgError:  # floats ended in the middle of a wave, whose boxes stay open
            return "stopped"
        self.reached = radius
        return "closed"


def _body(setting: Setting, radius: float) -> Setting:
    """The setting in whose balls the body lies that is looked at: in norm inf the least box of floats around a ball."""
    if setting.norm != "inf":
        return setting
    box = around(setting, radius)
    return replace(setting, place=setting.place.within(box.low[0], box.high[0]))


def _reach(setting: Setting, radius: float) -> float:
    """The radius of a ball that holds all of the body."""
    if setting.norm != "inf":
        return radius
    box, most = around(setting, radius), Fraction(radius)
    for c, low, high in zip(setting.exact_center, box.low[0].tolist(), box.high[0].tolist(), strict=True):
        most = max(most, c - Fraction(low), Fraction(high) - c)
    return math.nextafter(float(most), math.inf) * (1 + 8 * SAFE)
