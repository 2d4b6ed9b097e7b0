"""Points inside of halfspaces, and sides of planes that have none in common.

Every point of a part lies in the closure of a region with an interior. So a pattern whose planes leave no interior
need not be looked at: its points have another pattern as well. Where many planes go through one point that is most of
the patterns, and since all of their closed sides meet there, no relaxation of them is empty.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.engines.boxes.problem.setting import Phases, first_layer
from ircert.exact.linear_program import Program
from ircert.exact.rows import Rows
from ircert.ir.rational import Integers, integer_array, integer_type
from ircert.limits import Undecided

FEWEST = 3
"""Planes through one point; two of them leave an interior on every side, unless they are parallel."""


class FlatSides:
    """Whether sides of planes of the first layer leave no interior; what was found is remembered."""

    def __init__(self, maps: ExactMaps) -> None:
        self.maps = maps
        self.first = first_layer(maps.setting)
        self._known: dict[tuple[bytes, float], bool] = {}

    def have_none(self, phases: Phases, given: Phases, radius: float) -> bool:
        """Whether there is none near the ball, for sure, on the sides that were chosen in addition to the given ones.

        Given sides hold on a part that may be flat: then both sides of a plane through it are as good.
        """
        chosen = self.first & (phases != 0) & (given == 0)
        if int(chosen.sum()) < FEWEST:
            return False
        key = np.where(chosen, phases, 0).astype(np.int8).tobytes(), radius
        if key not in self._known:
            rows = self.maps.at_center.z[chosen] * phases[chosen].astype(object)[:, None]
            self._known[key] = self._empty(rows, Fraction(radius))
        return self._known[key]

    def _empty(self, rows: Integers, radius: Fraction) -> bool:
        n = self.maps.setting.size
        still = np.array([not any(row[:-1]) for row in rows], dtype=bool)
        box = [[int(i == j) * sign * radius.denominator for i in range(n)] for j in range(n) for sign in (1, -1)]
        around = np.array([integer_array([*row, 2 * radius.numerator]) for row in box], dtype=object)
        try:
            return deepest(np.concatenate([rows[~still], around]), float(radius)) is None
        except Undecided:
            return False


def deepest(table: Integers, scale: float) -> list[Fraction] | None:
    """A point where all forms over (u, 1) are positive, or None if there is none; they bound the point."""
    exponent = max(-900, min(900, math.frexp(scale)[1]))
    unit, kind = Fraction(2) ** exponent, integer_type()
    slopes, limits = table[:, :-1] * kind(unit.numerator), table[:, -1] * kind(unit.denominator)
    size = np.array([max(1, *(abs(v) for v in row)) for row in slopes], dtype=object)
    left = np.concatenate([-slopes, size[:, None]], axis=1)
    top = np.full((1, left.shape[1]), kind(0), dtype=object)
    top[0, -1] = kind(1)
    rows = Rows.of(np.concatenate([left, top]), np.concatenate([limits, np.array([kind(1)], dtype=object)]))
    found = Program(rows).above(top[0])
    return None if found is None else [v * unit for v in found[:-1]]
