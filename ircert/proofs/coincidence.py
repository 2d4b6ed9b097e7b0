"""K(P, Q): the pairs x in P, y in Q with equal givens, as an exact polytope in any dimension.

P and Q are patterns: every neuron has a side. With u = x - c and v = y - c the pairs are z = (u, v) (`pseudo`: z = u),
subject to the equations of the givens and the signs of all neurons. The largest coordinate bounds the length from
below; for norms 1 and 2 so do s·u (s a vector of signs) and, for the square, 2 g·u - |g|² (any g), as many as needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ircert.ir.rational import Integers, integer_type
from ircert.limits import Undecided
from ircert.proofs.exact_map import ExactMaps
from ircert.proofs.exact_program import Optimum, as_floats, maximise, reduce
from ircert.proofs.least_distance import nearest_in_floats
from ircert.proofs.setting import Phases, Setting

ROUNDS = 60
CLOSE = Fraction(1, 2**36)
ACTIVE = (1e-5, 1e-7, 1e-9, 1e-11)
"""Rows of at most that size, relative to their terms, may be 0."""

Vector = list[Fraction]


@dataclass(frozen=True)
class Pair:
    """Two points relative to the centre."""

    u: tuple[Fraction, ...]
    v: tuple[Fraction, ...]

    def towards(self, other: Pair, share: Fraction) -> Pair:
        """The pair this share of the way to another one."""
        mixed = (
            tuple(a + share * (b - a) for a, b in zip(p, q, strict=True))
            for p, q in ((self.u, other.u), (self.v, other.v))
        )
        return Pair(*mixed)

    def measure(self, norm: str) -> Fraction:
        """That of the farther point (norm 2: squared)."""
        return max(measure(self.u, norm), measure(self.v, norm))


def measure(u: tuple[Fraction, ...], norm: str) -> Fraction:
    """The length of a vector; its square for norm 2."""
    if norm == "2":
        return sum((a * a for a in u), Fraction(0))
    sizes = [abs(a) for a in u]
    return max(sizes) if norm == "inf" else sum(sizes, Fraction(0))


class Coincidence:
    """The polytope of a pair of patterns; inside, lengths are counted in a unit, a power of two near the scale."""

    def __init__(self, setting: Setting, maps: ExactMaps, first: Phases, second: Phases, scale: float = 1.0) -> None:
        self.setting = setting
        self._exponent = max(-900, min(900, math.frexp(scale)[1]))
        self.unit = Fraction(2) ** self._exponent
        self.size = setting.size
        here, there = maps.of(first), maps.at_center if setting.pseudo else maps.of(second)
        self._here, self._there = here, there
        n, m = self.size, setting.givens
        if setting.pseudo:
            center = there.values[:m, -1]
            equations = here.values[:m].copy()
            equations[:, -1] = equations[:, -1] - center
            inside = [here.z * first[:, None]]
        else:
            equations = _beside(here.values[:m], -there.values[:m], n)
            nothing = np.zeros_like(here.z)
            inside = [
                _beside(here.z * first[:, None], nothing, n),
                _beside(nothing, there.z * second[:, None], n),
            ]
        self.width = n if setting.pseudo else 2 * n
        inside.append(self._domain())
        self._solve(self._scaled(equations))
        self._inside = self._restricted(self._scaled(np.concatenate(inside))) if self.consistent else None
        self._separate = [i for i in range(len(first)) if first[i] != second[i]]
        self._sides = first, second

    def _scaled(self, rows: Integers) -> Integers:
        """Forms over (z, 1) as forms over (z / unit, 1), up to a factor."""
        rows = rows.copy()
        if self._exponent < 0:
            rows[:, -1] = rows[:, -1] * integer_type()(1 << -self._exponent)
        else:
            rows[:, :-1] = rows[:, :-1] * integer_type()(1 << self._exponent)
        return rows

    # --- the polytope ------------------------------------------------------------------------------------------------

    def _solve(self, equations: Integers) -> None:
        """z = (origin + basis s) / below."""
        reduced = reduce((equations), self.width)
        rank = len(reduced.pivots)
        self.consistent = not any(row[-1] for row in reduced.table[rank:])
        free = [j for j in range(self.width) if j not in reduced.pivots]
        kind = integer_type()
        table = np.full((self.width, len(free) + 1), kind(0), dtype=object)
        for row, column in enumerate(reduced.pivots):
            table[column] = [*(-reduced.table[row, j] for j in free), -reduced.table[row, -1]]
        for k, column in enumerate(free):
            table[column, k] = reduced.below
        self._table, self._below = table, reduced.below

    @property
    def dimension(self) -> int:
        """Of the solutions of the equations."""
        return int(self._table.shape[1] - 1)

    def _restricted(self, rows: Integers) -> Integers:
        """Forms over (z, 1) as forms over (s, 1), up to the factor `below`."""
        result = rows[:, :-1].dot(self._table)
        result[:, -1] = result[:, -1] + rows[:, -1] * self._below
        return result

    def _domain(self) -> Integers:
        rows = []
        setting = self.setting
        for start in (0,) if setting.pseudo else (0, self.size):
            for j in range(self.size):
                for bound, sign in ((setting.low[j], 1), (setting.high[j], -1)):
                    if np.isfinite(bound):
                        gap = Fraction(float(bound)) - setting.exact_center[j]
                        rows.append(self._row(start, {j: Fraction(sign)}, -sign * gap))
        return np.array(rows, dtype=object).reshape(-1, self.width + 1)

    def _row(self, start: int, terms: dict[int, Fraction], constant: Fraction) -> list[Any]:
        """Integers for sum terms[j] z[start + j] + constant."""
        below = _common(terms, constant)
        kind = integer_type()
        row = [kind(0)] * (self.width + 1)
        for j, value in terms.items():
            row[start + j] = kind(int(value * below))
        row[-1] = kind(int(constant * below))
        return row

    def _starts(self) -> tuple[int, ...]:
        return (0,) if self.setting.pseudo else (0, self.size)

    def _pair(self, s: Vector) -> Pair:
        below = Fraction(int(self._below)) / self.unit
        z = [
            (sum((int(a) * t for a, t in zip(row[:-1], s, strict=True)), Fraction(0)) + int(row[-1])) / below
            for row in self._table
        ]
        zero = tuple(Fraction(0) for _ in range(self.size))
        return Pair(tuple(z[: self.size]), zero if self.setting.pseudo else tuple(z[self.size :]))

    # --- what is asked of it -----------------------------------------------------------------------------------------

    def violation(self, radius: Fraction) -> Pair | None:
        """A pair in the closed ball that violates the property; None if there is none for sure."""
        if not self.consistent:
            return None
        cuts = self._box(radius)
        for form in self._gaps():
            best = self._maximise(form, cuts)
            if best is None:
                return None
            if best.value > 0:
                pair = self._inside_ball(form, self._pair(best.point), radius)
                if pair is not None:
                    return pair  # otherwise this form says nothing of the others
        return None

    def _inside_ball(self, form: Integers, far: Pair, radius: Fraction) -> Pair | None:
        """A violation in the ball, from one in the box around it."""
        limit, norm = self._limit(radius), self.setting.norm
        if far.measure(norm) <= limit:
            return far
        found = self.nearest()
        if found is None or found[0] > limit:
            return None
        near = found[1]
        if near.measure(norm) < limit:
            if self.violates(near):
                return near
            share = Fraction(1)
            while (pair := near.towards(far, share)).measure(norm) > limit:
                share /= 2
            return pair
        if norm == "1":
            return self._by_planes(form, radius)
        raise Undecided

    def _by_planes(self, form: Integers, radius: Fraction) -> Pair | None:
        """Norm 1, where finitely many planes make the ball."""
        cuts = self._box(radius)
        for _ in range(ROUNDS):
            best = self._maximise(form, cuts)
            if best is None or best.value <= 0:
                return None
            pair = self._pair(best.point)
            outside = [w for w in self._points(pair) if measure(w[1], "1") > radius]
            if not outside:
                return pair
            cuts = [*cuts, *(self._plane(start, u, radius) for start, u in outside)]
        raise Undecided

    def _holds_center(self) -> bool:
        """Whether x = y = c is a pair."""
        m = self.setting.givens
        here, there = self._here, self._there
        if any(a != b for a, b in zip(here.values[:m, -1], there.values[:m, -1], strict=True)):
            return False
        first, second = self._sides
        signs = [here.z[:, -1] * first] + ([] if self.setting.pseudo else [there.z[:, -1] * second])
        return not any(v < 0 for part in signs for v in part)

    def violates(self, pair: Pair) -> bool:
        """Whether a pair of the polytope violates the property."""
        if not self.setting.unknowns:
            return pair.u != pair.v
        rows = self.setting.unknowns
        here, there = (
            values[rows].dot(np.array([*w, Fraction(1)], dtype=object))
            for values, w in ((self._here.values, pair.u), (self._there.values, pair.v))
        )
        return any(a != b for a, b in zip(here, there, strict=True))

    def nearest(
        self, *, patient: bool = True, goes_on: Callable[[], bool] = lambda: True
    ) -> tuple[Fraction, Pair] | None:
        """A lower bound on the least measure of a pair, and a pair close to it; Undecided where time ends before."""
        if not self.consistent:
            return None
        if self._holds_center():
            zero = tuple(Fraction(0) for _ in range(self.size))
            return Fraction(0), Pair(zero, zero)
        cuts: list[tuple[int, dict[int, Fraction], Fraction]] = self._first_planes()
        best: tuple[Fraction, Pair] | None = None
        if self.setting.norm == "2" and (near := self._near_pair()) is not None:
            pair, holds = near
            cuts += [self._tangent(start, u) for start, u in self._points(pair)]
            if holds:
                best = pair.measure("2"), pair
        bound = Fraction(0)
        for turn in range(ROUNDS):
            if not goes_on():
                raise Undecided
            try:
                found = self._minimise_height(cuts, patient=patient and turn == 0)
            except Undecided:
                if best is None:
                    raise
                break
            if found is None:
                return None
            bound, pair = max(bound, found[0]), found[1]
            far = pair.measure(self.setting.norm)
            if best is None or far < best[0]:
                best = far, pair
            if best[0] - bound <= CLOSE * 2**turn * best[0]:
                break  # exact programs with many planes take long
            cuts = [*cuts, *(self._tangent(start, u) for start, u in self._points(pair))]
        assert best is not None
        return bound, best[1]

    def _near_pair(self) -> tuple[Pair, bool] | None:
        """A pair close to the one of least measure in norm 2, and whether it belongs to the polytope for sure.

        Rows that are about 0 in floats are made 0 exactly; how many there are is not known.
        """
        assert self._inside is not None
        if not self.dimension:
            return None
        below = int(self._below)
        maps = np.array([[float(Fraction(int(v), below)) for v in row] for row in self._table])
        rows = as_floats(self._inside)
        found = nearest_in_floats([maps[start : start + self.size] for start in self._starts()], rows)
        if found is None:
            return None
        size = np.abs(rows[:, :-1]) @ np.abs(found) + np.abs(rows[:, -1])
        values = np.abs(rows[:, :-1] @ found + rows[:, -1])
        for limit in ACTIVE:
            s = _onto(self._inside[values <= limit * size], [Fraction(v) for v in found.tolist()])
            if self._holds(s):
                return self._pair(s), True
        return self._pair(s), False

    def _holds(self, s: Vector) -> bool:
        """Whether all rows hold, exactly."""
        assert self._inside is not None
        below, kind = math.lcm(*(v.denominator for v in s)), integer_type()
        point = np.array([*(kind(int(v * below)) for v in s), kind(below)], dtype=object)
        return not any(v < 0 for v in self._inside.dot(point))

    def _points(self, pair: Pair) -> list[tuple[int, tuple[Fraction, ...]]]:
        return [(0, pair.u)] if self.setting.pseudo else [(0, pair.u), (self.size, pair.v)]

    def _limit(self, radius: Fraction) -> Fraction:
        return radius * radius if self.setting.norm == "2" else radius

    def _gaps(self) -> list[Integers]:
        """Forms over (z, 1), one of which is positive where the property is violated."""
        n, rest = self.size, self.setting.unknowns
        if rest:
            gaps = _beside(self._here.values[rest], -self._there.values[rest], n)
        else:
            first, second = self._sides
            if self._separate and not self.setting.pseudo and self._injective():
                # x and y differ iff a neuron that tells P from Q is not 0 in one of them
                apart = self._separate
                total = (self._here.z[apart] * first[apart][:, None]).sum(axis=0)
                total2 = (self._there.z[apart] * second[apart][:, None]).sum(axis=0)
                return [np.concatenate([total[:-1], total2[:-1], [total[-1] + total2[-1]]])]
            kind = integer_type()
            gaps = np.full((n, self.width + 1), kind(0), dtype=object)
            for j in range(n):
                gaps[j, j] = kind(1)
                if not self.setting.pseudo:
                    gaps[j, n + j] = kind(-1)
        return [sign * gap for gap in gaps for sign in (1, -1)]

    def _injective(self) -> bool:
        linear = self._here.values[: self.setting.givens, :-1]
        return len(reduce((linear), self.size).pivots) == self.size

    # --- programs ----------------------------------------------------------------------------------------------------

    def _maximise(self, form: Integers, cuts: list[list[Any]]) -> Optimum | None:
        assert self._inside is not None
        objective = self._restricted(self._scaled(form[None, :]))[0]
        rows = np.concatenate([self._inside, self._restricted(np.array(cuts, dtype=object))])
        best = maximise(objective[:-1], -rows[:, :-1], rows[:, -1])
        return None if best is None else Optimum(best.value + int(objective[-1]), best.point)

    def _minimise_height(
        self, cuts: list[tuple[int, dict[int, Fraction], Fraction]], *, patient: bool
    ) -> tuple[Fraction, Pair] | None:
        """min t with t >= every cut."""
        assert self._inside is not None
        kind = integer_type()
        rows = [np.insert(self._inside, -1, kind(0), axis=1)]
        for start, terms, constant in cuts:
            row = self._row(start, {j: -v for j, v in terms.items()}, -constant)
            restricted = self._restricted(np.array([row], dtype=object))
            rows.append(np.insert(restricted, -1, kind(_common(terms, constant)) * self._below, axis=1))
        table = np.concatenate(rows)
        objective = np.full(self.dimension + 1, kind(0), dtype=object)
        objective[-1] = kind(-1)
        best = maximise(objective, -table[:, :-1], table[:, -1], patient=patient)
        power = 2 if self.setting.norm == "2" else 1
        return None if best is None else (best.point[-1] * self.unit**power, self._pair(best.point[:-1]))

    def _box(self, radius: Fraction) -> list[list[Any]]:
        """The box around the ball."""
        return [
            self._row(start, {j: Fraction(sign)}, radius / self.unit)
            for start in self._starts()
            for j in range(self.size)
            for sign in (1, -1)
        ]

    def _plane(self, start: int, u: tuple[Fraction, ...], radius: Fraction) -> list[Any]:
        """A plane between a point and the ball of norm 1."""
        return self._row(start, {j: Fraction(-1 if a > 0 else 1) for j, a in enumerate(u) if a}, radius / self.unit)

    def _first_planes(self) -> list[tuple[int, dict[int, Fraction], Fraction]]:
        """Lower bounds on the measure by linear forms: that of the largest coordinate, or 0."""
        zero = Fraction(0)
        bottom: list[tuple[int, dict[int, Fraction], Fraction]] = [(0, {0: zero}, zero)]
        slope, offset = (Fraction(2), Fraction(-1)) if self.setting.norm == "2" else (Fraction(1), zero)
        return bottom + [
            (start, {j: sign * slope}, offset) for start in self._starts() for j in range(self.size) for sign in (1, -1)
        ]

    def _tangent(self, start: int, u: tuple[Fraction, ...]) -> tuple[int, dict[int, Fraction], Fraction]:
        if self.setting.norm == "1":
            return start, {j: Fraction(1 if a > 0 else -1) for j, a in enumerate(u) if a}, Fraction(0)
        g = [Fraction(float(a / self.unit)) for a in u]
        return start, {j: 2 * a for j, a in enumerate(g)}, -sum((a * a for a in g), Fraction(0))


def _onto(rows: Integers, s: Vector) -> Vector:
    """The point with as many rows 0 as can be, found by changing one variable for each of them."""
    reduced = reduce(rows, len(s))
    moved, below = list(s), int(reduced.below)
    for row, column in zip(reduced.table, reduced.pivots, strict=False):
        rest = sum(
            (int(a) * v for j, (a, v) in enumerate(zip(row, s, strict=False)) if j not in reduced.pivots), Fraction(0)
        )
        moved[column] = -(rest + int(row[-1])) / below
    return moved


def _common(terms: dict[int, Fraction], constant: Fraction) -> int:
    return math.lcm(constant.denominator, *(v.denominator for v in terms.values()))


def _beside(x: Integers, y: Integers, n: int) -> Integers:
    """Forms over (u, 1) and (v, 1) added up as forms over (u, v, 1)."""
    return np.concatenate([x[:, :n], y[:, :n], x[:, n:] + y[:, n:]], axis=1)
