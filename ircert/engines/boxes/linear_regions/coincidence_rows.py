"""The rows of K(P, Q): equations, sides of neurons, the domain, balls and planes, over z = (u, v) / unit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from ircert.engines.boxes.linear_regions.exact_map import RegionMap
from ircert.engines.boxes.problem.setting import Phases, Setting
from ircert.exact.rows import Rows
from ircert.ir.rational import Integers, integer_array, integer_type


@dataclass(frozen=True)
class Plane:
    """A lower bound on a height: terms · z + constant, where z begins at coordinate `start`."""

    start: int
    terms: tuple[tuple[int, Fraction], ...]
    constant: Fraction


@dataclass(frozen=True, eq=False)
class PairRows:
    """What the pairs of two regions satisfy; `pseudo` has u alone. The unit is 2^exponent."""

    setting: Setting
    here: RegionMap
    there: RegionMap
    sides: tuple[Phases, Phases]
    exponent: int

    @property
    def size(self) -> int:
        """The number of inputs."""
        return self.setting.size

    @property
    def starts(self) -> tuple[int, ...]:
        """Where u, and v where there is one, begin in z."""
        return (0,) if self.setting.pseudo else (0, self.size)

    @property
    def width(self) -> int:
        """The number of coordinates of z."""
        return self.size * len(self.starts)

    @property
    def unit(self) -> Fraction:
        """The length that counts as 1."""
        return Fraction(2) ** self.exponent

    def scaled(self, forms: Integers) -> Integers:
        """Forms over (u, v, 1) as forms over (z, 1), up to a factor."""
        forms = forms.copy()
        if self.exponent < 0:
            forms[:, -1] = forms[:, -1] << -self.exponent
        else:
            forms[:, :-1] = forms[:, :-1] << self.exponent
        return forms

    @cached_property
    def all(self) -> Rows:
        """All pairs of the regions and the domain with equal constrained outputs."""
        n, m = self.size, self.setting.constrained
        if self.setting.pseudo:
            equations = self.here.values[:m].copy()
            equations[:, -1] = equations[:, -1] - self.there.values[:m, -1]
        else:
            equations = beside(self.here.values[:m], -self.there.values[:m], n)
        equations = self.scaled(equations)
        parts = [Rows.of(equations[:, :-1], -equations[:, -1], equal=True), *self._domain()]
        for start, region, side in zip(self.starts, (self.here, self.there), self.sides, strict=False):
            inside = self.scaled(region.z * side.astype(object)[:, None])
            parts.append(Rows.of(-inside[:, :-1], inside[:, -1], width=self.width, at=start))
        return Rows.joined(parts)

    def _domain(self) -> list[Rows]:
        setting = self.setting
        ends = [
            (j, sign, sign * (Fraction(float(bound)) - setting.exact_center[j]) / self.unit)
            for j in range(self.size)
            for bound, sign in ((setting.low[j], -1), (setting.high[j], 1))
            if np.isfinite(bound)
        ]
        return [single(self.width, [(start + j, sign, end) for j, sign, end in ends]) for start in self.starts]

    def box(self, radius: Fraction) -> Rows:
        """The box around a ball."""
        return single(self.width, [(j, sign, radius / self.unit) for j in range(self.width) for sign in (1, -1)])

    def cube(self) -> Rows:
        """The ball of norm inf, over (z, t), of radius t."""
        kind, width = integer_type(), self.width
        pairs = [(j, sign) for j in range(width) for sign in (1, -1)]
        numbers = np.array([[kind(sign), kind(-1)] for _, sign in pairs], dtype=object)
        columns = np.array([[j, width] for j, _ in pairs], dtype=np.int64)
        return sparse(width + 1, columns, numbers, np.full(len(pairs), kind(0), dtype=object))

    def diamond(self, radius: Fraction | None) -> Rows:
        """The ball of norm 1, over (z, a) with a_j >= |z_j|; without a radius over (z, a, t), of radius t."""
        kind, width = integer_type(), self.width
        pairs = [(j, sign) for j in range(width) for sign in (1, -1)]
        wide = 2 * width + (radius is None)
        table = np.array([[kind(sign), kind(-1)] for _, sign in pairs], dtype=object).reshape(-1, 2)
        columns = np.array([[j, width + j] for j, _ in pairs], dtype=np.int64)
        sides = sparse(wide, columns, table, np.full(len(pairs), kind(0), dtype=object))
        limit = Fraction(0) if radius is None else radius / self.unit
        last = [] if radius is not None else [2 * width]
        places = [[*(width + start + j for j in range(self.size)), *last] for start in self.starts]
        sums = [[*([kind(limit.denominator)] * self.size), *(kind(-1) for _ in last)] for _ in self.starts]
        limits = np.array([kind(limit.numerator) for _ in self.starts], dtype=object)
        return Rows.joined([sides, sparse(wide, np.array(places), np.array(sums, dtype=object), limits)])

    def above(self, planes: Sequence[Plane]) -> Rows:
        """Rows over (z, t) that say that t lies above planes."""
        return Rows.joined([self._above(plane) for plane in planes])

    def _above(self, plane: Plane) -> Rows:
        width, terms = self.width + 1, [(plane.start + j, v) for j, v in plane.terms if v]
        common = math.lcm(plane.constant.denominator, *(v.denominator for _, v in terms))
        numbers = integer_array([*(int(v * common) for _, v in terms), -common])
        columns = np.array([[*(j for j, _ in terms), width - 1]], dtype=np.int64)
        return sparse(width, columns, numbers[None], integer_array([int(-plane.constant * common)]))


def sparse(width: int, columns: np.ndarray, numbers: Integers, limits: Integers) -> Rows:
    """Rows with the same number of entries each."""
    count, each = columns.shape
    starts = np.arange(count + 1, dtype=np.int64) * each
    return Rows(width, starts, columns.ravel(), numbers.ravel(), limits, np.zeros(count, dtype=bool))


def single(width: int, ends: Sequence[tuple[int, int, Fraction]]) -> Rows:
    """Rows sign z_j <= end."""
    columns = np.array([[j] for j, _, _ in ends], dtype=np.int64).reshape(-1, 1)
    numbers = integer_array([sign * end.denominator for _, sign, end in ends])
    return sparse(width, columns, numbers[:, None], integer_array([end.numerator for _, _, end in ends]))


def beside(x: Integers, y: Integers, n: int) -> Integers:
    """Forms over (u, 1) and (v, 1) added up as forms over (u, v, 1)."""
    return np.concatenate([x[:, :n], y[:, :n], x[:, n:] + y[:, n:]], axis=1)
