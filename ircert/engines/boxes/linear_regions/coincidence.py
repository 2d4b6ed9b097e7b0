"""K(P, Q): the pairs x in P, y in Q with equal constrained outputs, as an exact polytope in any dimension.

P and Q are patterns: every neuron has a side. With u = x - c and v = y - c the pairs are z = (u, v) (`pseudo`: z = u),
subject to the equations of the constrained outputs and the signs of all neurons. Balls of norms inf and 1 are rows too.
The square of norm 2 is bounded from below by 2 g·u - |g|² (any g), as many as needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from ircert.engines.boxes.linear_regions.coincidence_rows import PairRows, beside
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.engines.boxes.linear_regions.round_distance import downward, nearest_round
from ircert.engines.boxes.problem.setting import Phases, Setting
from ircert.exact.elimination import full_rank
from ircert.exact.linear_program import LinearOptimum, Program
from ircert.exact.rows import Rows
from ircert.geometry.pair import Pair
from ircert.ir.arrays import Array
from ircert.ir.rational import Integers, integer_array, integer_type
from ircert.limits import Undecided

Vector = list[Fraction]


def values_at(forms: Integers, u: tuple[Fraction, ...]) -> Integers:
    """Forms over (u, 1) at a point, all times one positive number."""
    below = math.lcm(*(v.denominator for v in u))
    return forms.dot(integer_array([*(v.numerator * (below // v.denominator) for v in u), below]))


class Coincidence:
    """The polytope of a pair of patterns; inside, lengths are counted in a unit, a power of two near the scale.

    basis: rows that may hold with equality at the nearest pair; once it is known, those that do (norms inf and 1)
    slope: … and a subgradient of the least distance as a function of the centre, which is convex
    """

    basis: list[int] | None = None
    slope: Array | None = None

    def __init__(self, setting: Setting, maps: ExactMaps, first: Phases, second: Phases, scale: float = 1.0) -> None:
        self.setting = setting
        self.size = setting.size
        self._here, self._there = maps.of(first), maps.at_center if setting.pseudo else maps.of(second)
        self._sides = first, second
        exponent = max(-900, min(900, math.frexp(scale)[1]))
        self._rows = PairRows(setting, self._here, self._there, self._sides, exponent)
        self.unit = self._rows.unit

    def _pair(self, z: Vector) -> Pair:
        zero = tuple(Fraction(0) for _ in range(self.size))
        points = [tuple(v * self.unit for v in z[start : start + self.size]) for start in self._rows.starts]
        return Pair(*points) if len(points) == 2 else Pair(points[0], zero)

    # --- violations --------------------------------------------------------------------------------------------------

    def violation(self, radius: Fraction) -> Pair | None:
        """A pair in the closed ball that violates the property; None if there is none for sure."""
        program = self._within(radius)
        for form in self._gaps():
            scaled = self._rows.scaled(form[None, :])[0]
            objective = np.full(program.width, integer_type()(0), dtype=object)
            objective[: self._rows.width] = scaled[:-1]
            found = program.above(objective, -scaled[-1])
            if program.empty:
                return None
            if found is not None:
                pair = self._inside_ball(self._pair(found), radius)
                if pair is not None:
                    return pair  # otherwise this form says nothing of the others
        return None

    def _within(self, radius: Fraction) -> Program:
        """The pairs in a ball; norm 2: in the box around it."""
        rows = self._rows
        ball = rows.diamond(radius) if self.setting.norm == "1" else rows.box(radius)
        return Program(Rows.joined([rows.all, ball]), reach=radius / self.unit)

    def _inside_ball(self, far: Pair, radius: Fraction) -> Pair | None:
        """A violation in the ball, from one in the box around it."""
        norm = self.setting.norm
        limit = radius**norm.power
        if far.measure(norm) <= limit:
            return far
        found = self.nearest()
        if found is None or found[0] > limit:
            return None
        near = found[1]
        if near.measure(norm) >= limit:
            raise Undecided
        if self.violates(near):
            return near
        share = Fraction(1)
        while (pair := near.towards(far, share)).measure(norm) > limit:
            share /= 2
        return pair

    def violates(self, pair: Pair) -> bool:
        """Whether a pair of the polytope violates the property."""
        if not self.setting.unknowns:
            return pair.x != pair.y
        rows = self.setting.unknowns
        gaps = beside(self._here.values[rows], -self._there.values[rows], self.size)
        return any(values_at(gaps, (*pair.x, *pair.y)))

    def _gaps(self) -> list[Integers]:
        """Forms over (u, v, 1), one of which is positive where the property is violated."""
        n, rest, pseudo = self.size, self.setting.unknowns, self.setting.pseudo
        first, second = self._sides
        apart = np.flatnonzero(first != second)
        if rest:
            gaps = beside(self._here.values[rest], -self._there.values[rest], n)
        elif len(apart) and not pseudo and self._injective():
            # x and y differ iff a neuron that tells P from Q is not 0 in one of them
            total = (self._here.z[apart] * first[apart].astype(object)[:, None]).sum(axis=0)
            total2 = (self._there.z[apart] * second[apart].astype(object)[:, None]).sum(axis=0)
            return [np.concatenate([total[:-1], total2[:-1], [total[-1] + total2[-1]]])]
        else:
            gaps = np.full((n, self._rows.width + 1), integer_type()(0), dtype=object)
            for j in range(n):
                for start, sign in zip(self._rows.starts, (1, -1), strict=False):
                    gaps[j, start + j] = integer_type()(sign)
        return [sign * gap for gap in gaps for sign in (1, -1)]

    def _injective(self) -> bool:
        return full_rank(self._here.values[: self.setting.constrained, :-1])

    # --- nearest pairs -----------------------------------------------------------------------------------------------

    def nearest(
        self, *, patient: bool = True, goes_on: Callable[[], bool] = lambda: True
    ) -> tuple[Fraction, Pair] | None:
        """A lower bound on the least measure of a pair, and a pair close to it; Undecided where time ends before."""
        if self._holds_center():
            zero = tuple(Fraction(0) for _ in range(self.size))
            return Fraction(0), Pair(zero, zero)
        if not goes_on():
            raise Undecided
        if self.setting.norm == "2":
            found = nearest_round(self._rows, patient, goes_on)
            return None if found is None else (found[0] * self.unit**2, self._pair(found[1]))
        rows = self._rows
        ball = rows.cube() if self.setting.norm == "inf" else rows.diamond(None)
        program = Program(Rows.joined([rows.all, ball]))
        best = program.maximise(downward(program), patient=patient, start=self.basis)
        if best is None:
            self.basis = None
            return None
        self.basis, self.slope = best.basis, self._slope(best, len(program.rows) - len(ball))
        return -best.value * self.unit, self._pair(best.point)

    def _slope(self, best: LinearOptimum, start: int) -> Array | None:
        """How the least t moves with the centre c. In the network's coordinates rows sign x_j - a <= sign c_j alone
        depend on it, which begin at `start`, two for each coordinate: -t grows by their weights (`PairRows.cube`)."""
        rows, weights = best.basis, best.weights
        if rows is None or weights is None:
            return None
        slope = np.zeros(self.size)
        for row, weight in zip(rows, weights, strict=True):
            at = row - start
            if 0 <= at < 2 * self._rows.width:
                slope[at // 2 % self.size] -= weight if at % 2 == 0 else -weight
        return slope

    def _holds_center(self) -> bool:
        """Whether x = y = c is a pair."""
        m = self.setting.constrained
        here, there = self._here, self._there
        if any(a != b for a, b in zip(here.values[:m, -1], there.values[:m, -1], strict=True)):
            return False
        inside = [self._rows.starts, (here.z[:, -1], there.z[:, -1]), self._sides]
        return not any((z * sides.astype(object) < 0).any() for _, z, sides in zip(*inside, strict=False))
