"""What pairs of patterns have shown that does not depend on the centre: it helps with the next one.

In the coordinates of the network, K(P, Q) is the same for all centres. So a violation of two patterns stays one, and
patterns that determinants tell apart stay apart. The program of the nearest pair has the same matrix and objective for
all centres, and other limits: weights of a basis stay as they are, and where its point is feasible again it is optimal.
All are proposals, confirmed exactly where they are used, but for the patterns that were told apart.

The distance from a centre to K(P, Q) is convex in the centre, and 1-Lipschitz: what it was at one, and a subgradient,
bound it from below at all others. In floats, because that says only where nothing nearer need be sought.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.pair import Pair
from ircert.ir.arrays import Array

Point = Sequence[Fraction]


@dataclass
class PairMemory:
    """Of centres with the same network, domain, norm and problem; keys are those of two patterns.

    bases: rows that hold with equality at the nearest pair
    apart: whether determinants tell them apart
    """

    bases: dict[bytes, list[int]] = field(default_factory=dict)
    apart: dict[bytes, bool] = field(default_factory=dict)
    _violations: dict[bytes, Pair] = field(default_factory=dict)
    _distances: dict[bytes, tuple[Array, float, Array | None]] = field(default_factory=dict)

    def violation(self, key: bytes, center: Point) -> Pair | None:
        """One of two patterns, relative to a centre."""
        found = self._violations.get(key)
        return None if found is None else found.moved([-c for c in center])

    def keep(self, key: bytes, center: Point, pair: Pair) -> None:
        """Remember a violation, given relative to a centre."""
        self._violations.setdefault(key, pair.moved(center))

    def measured(self, key: bytes, setting: Setting, measure: Fraction | None, slope: Array | None) -> None:
        """Remember the least measure around a centre, None where there is no pair, and how the distance grows."""
        distance = math.inf if measure is None else setting.norm.length(measure)
        self._distances[key] = setting.center, distance, slope

    def least(self, key: bytes, setting: Setting) -> float:
        """How far away pairs of two patterns are at least, about; 0 where nothing is known."""
        if key not in self._distances:
            return 0.0
        center, distance, slope = self._distances[key]
        step = setting.center - center
        return distance - float(setting.norm.lengths(step)) if slope is None else distance + float(np.dot(slope, step))
