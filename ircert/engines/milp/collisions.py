"""Exact collisions from a solver's points: their linear regions are looked at in rationals, and then nearer ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from ircert.engines.base import Question
from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.boxes.falsification.falsifier import sides
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.engines.boxes.problem.setting import Phases, Setting, flipped
from ircert.geometry.pair import Pair
from ircert.ir.arrays import Array
from ircert.limits import OutOfTime, is_over
from ircert.result.radius import End

Exact: TypeAlias = tuple[list[Fraction], list[Fraction]]

KINK = 1e-5
"""A neuron that reads less than this part of what it reads elsewhere may be on either side, for a solver."""
MOST = 8
"""So many of them are tried on their other side, for each point."""
COLLISION = "the nearest collision of its linear regions, found by exact linear programs"


@dataclass
class Collisions:
    """The nearest exact collision known; what a solver gives is only where to look."""

    question: Question
    setting: Setting = field(init=False)
    descent: Descent = field(init=False)

    def __post_init__(self) -> None:
        asked = self.question
        graph = asked.networks.both.merged
        self.setting = Setting(graph, asked.problem, asked.graph.output_dim, asked.place.simplest)
        self.descent = Descent(self.setting, ExactMaps(self.setting), lambda: not is_over())
        if asked.known is not None and asked.known.witness is not None:
            self.add(asked.known.witness)

    def add(self, pair: Exact) -> None:
        """A collision that was evaluated exactly."""
        center = self.setting.exact_center
        u, v = (tuple(t - c for t, c in zip(point, center, strict=True)) for point in pair)
        size = Pair(u, v).measure(self.setting.norm)
        if self.descent.best is None or size < self.descent.best[0]:
            self.descent.best = size, Pair(u, v)

    def look(self, candidates: Iterable[tuple[Array, Array]], radius: float) -> None:
        """Look on the linear regions of pairs in floats, and from there for nearer ones, until time is up."""
        for x, y in candidates:
            points = np.stack([np.asarray(x, np.float64), np.asarray(y, np.float64)])
            if is_over() or self.is_zero or not np.isfinite(points).all():
                return
            try:
                for first, second in self._patterns(points):
                    if self.descent.search(first, second, radius):
                        break
            except OutOfTime:
                return

    def _patterns(self, points: Array) -> Iterator[tuple[Phases, Phases]]:
        """The patterns of a pair, then those with a neuron that is about 0 on its other side."""
        with np.errstate(all="ignore"):
            first, second = sides(self.setting, points)
            z = np.abs(self.setting.preactivations(np.vstack([points, self.setting.center])))
        yield first, second
        x, y = ([int(i) for i in np.flatnonzero(row <= KINK * z.max(axis=0))[:MOST]] for row in z[:2])
        yield from ((flipped(first, [i]), second) for i in x)
        if not self.setting.pseudo:
            yield from ((first, flipped(second, [i])) for i in y)

    @property
    def is_zero(self) -> bool:
        """Whether collisions come arbitrarily close to the centre."""
        return self.descent.infimum_is_zero

    @property
    def distance(self) -> float:
        """That of the nearest one, as a float; infinite without one."""
        best = self.descent.best
        return math.inf if best is None else float(self.end)

    @property
    def end(self) -> End:
        """The refuted end that the nearest one shows."""
        assert self.descent.best is not None
        if self.is_zero:
            return End(0.0, "collisions come arbitrarily close to the centre")
        root = End.root_above if self.setting.norm == "2" else End.above
        return root(self.descent.best[0], COLLISION)

    def within(self, radius: float) -> Exact | None:
        """The nearest one, if it lies in the closed ball."""
        if not self.descent.has_within(radius):
            return None
        assert self.descent.best is not None
        pair, center = self.descent.best[1], self.setting.exact_center
        x, y = ([c + t for c, t in zip(center, w, strict=True)] for w in (pair.x, pair.y))
        return x, y
