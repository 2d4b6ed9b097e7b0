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

from ircert.engines.boxes.cutting.orientation import OrientationFrontier, OrientationSearch
from ircert.engines.boxes.cutting.pair_search import PairFrontier, PairSearch
from ircert.engines.boxes.cutting.turning import turning
from ircert.engines.boxes.effort.divisible import Subject
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.contractions import Slopes
from ircert.engines.boxes.enclosures.enclosures import Enclosures, enclose
from ircert.engines.boxes.enclosures.splitting import scores
from ircert.engines.boxes.problem.boxes import SAFE, around
from ircert.engines.boxes.problem.outcome import Counts, Outcome
from ircert.engines.boxes.problem.setting import Setting
from ircert.ir.arrays import Array, Indices, Mask

MOST_INPUTS = 4
"""With more, pairs of boxes lead nowhere."""
NEAR = 4.0
"""Boxes are close if one of that many times their width holds both."""


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
class BoundaryPairs(PairSearch):
    """Pairs of points of a boundary, with slopes of secants in intervals; in one process, without trees."""

    def _slopes(self, low: tuple[Array, Array], high: tuple[Array, Array], still: Mask) -> Slopes:
        """Of a curve: those of all derivatives between the least and the greatest number that it reads."""
        found = super()._slopes(low, high, still)
        bottom, top = np.minimum(*low), np.maximum(*high)
        for name, curve in self.network.curves.items():
            where = self.setting.relus[name]
            least, most = curve.slopes(bottom[where], top[where])
            part = Slopes.within(least, most, np.ones(len(least), dtype=bool), still)
            found.middle[where], found.spare[where] = part.middle, part.spare
        return found

    def _kernel_free(
        self, here: PairFrontier, known: Enclosures, first: Indices, second: Indices
    ) -> tuple[Mask, Array]:
        """Where boxes are close: f(x) - f(y) is the mean of J on the segment, which lies in the least box that holds
        both, times x - y."""
        closed, weights = np.zeros(len(first), dtype=bool), np.zeros((len(known.low), len(first)))
        low, high = np.minimum(here.x.low, here.y.low), np.maximum(here.x.high, here.y.high)
        widths = np.maximum(here.x.widths, here.y.widths).max(axis=1)
        near = np.flatnonzero((high - low).max(axis=1) <= NEAR * widths)
        if len(near):
            boxes = enclose(self.network, low[near], high[near], known.radius, tilted=True)
            found = turning(self.network, Slopes.on_boxes(boxes, np.zeros_like(boxes.half, dtype=bool)))
            closed[near], weights[:, near] = found.regular, found.weights
        rest = np.flatnonzero(~closed)
        if len(rest):
            closed[rest], weights[:, rest] = super()._kernel_free(here.take(rest), known, first[rest], second[rest])
        return closed, weights


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
            self._boundary = BoundaryPairs(network, [], *given, boundary=True)
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
