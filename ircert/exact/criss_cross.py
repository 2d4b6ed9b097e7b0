"""Small linear programs in exact rationals: maximise c s subject to G s <= h, with s free and the feasible set bounded.

The criss-cross method (Terlaky): from any basis, repair the infeasible variable of least index, primal or dual; it ends
for every program, needs no phases, and with integers over one common denominator no number is ever rounded. The last
resort of `linear_program`, for a few variables and some tens of rows; it knows nothing of floats.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ircert.ir.rational import integer_type
from ircert.limits import checkpoint

Rational = Fraction | int


@dataclass(frozen=True)
class LinearOptimum:
    """The largest value and a point that has it."""

    value: Fraction
    point: tuple[Fraction, ...]


def maximise(
    objective: Sequence[Rational],
    rows: Sequence[Sequence[Rational]],
    limits: Sequence[Rational],
    start: Sequence[int] = (),
) -> LinearOptimum | None:
    """max objective · s subject to rows s <= limits; None if no s satisfies the rows.

    start: rows of a basis to begin with, close to the best one; their order and number do not matter
    """
    table = _Dictionary(objective, rows, limits, start)
    while True:
        pivot = table.next_pivot()
        if pivot is None:
            break
        if not all(pivot):
            return None
        table.pivot(*pivot)
    point = table.point()
    value = sum((Fraction(c) * v for c, v in zip(objective, point, strict=True)), Fraction(0))
    return LinearOptimum(value, point)


class _Dictionary:
    """basic = (constants + coefficients · nonbasic) / denominator; row 0 is the objective, column 0 the constants.

    Variables are numbered: 0..d-1 the free s, which enter the basis first and never leave, then the slacks h - G s.
    """

    def __init__(
        self,
        objective: Sequence[Rational],
        rows: Sequence[Sequence[Rational]],
        limits: Sequence[Rational],
        start: Sequence[int] = (),
    ) -> None:
        self.free = len(objective)
        self.table = np.zeros((len(rows) + 1, self.free + 1), dtype=object)
        self.table[0, 1:] = integers(objective)
        for i, (row, limit) in enumerate(zip(rows, limits, strict=True), start=1):
            constant, *coefficients = integers([limit, *row])
            self.table[i] = [constant, *(-v for v in coefficients)]
        self.denominator: Any = integer_type()(1)
        self.basic = [-1, *range(self.free, self.free + len(rows))]
        self.nonbasic = [-1, *range(self.free)]
        order = [*(i + 1 for i in start), *range(1, len(self.basic))]
        for column in range(1, self.free + 1):
            usable = (i for i in order if self._is_slack(i) and self.table[i, column])
            leaving = next(usable, 0)
            if not leaving:
                raise ValueError("a variable is not restrained: the feasible set is not bounded")
            self.pivot(leaving, column)

    def _is_slack(self, row: int) -> bool:
        return self.basic[row] >= self.free

    def next_pivot(self) -> tuple[int, int] | None:
        """(row, column) of the next pivot; None at the optimum; a zero in the pair if nothing is feasible."""
        slacks = [i for i in range(1, len(self.basic)) if self._is_slack(i)]
        columns = range(1, len(self.nonbasic))
        row = min((i for i in slacks if self.table[i, 0] < 0), key=self.basic.__getitem__, default=0)
        column = min((j for j in columns if self.table[0, j] > 0), key=self.nonbasic.__getitem__, default=0)
        if not row and not column:
            return None
        if row and (not column or self.basic[row] < self.nonbasic[column]):
            rising = (j for j in columns if self.table[row, j] > 0)
            return row, min(rising, key=self.nonbasic.__getitem__, default=0)
        falling = (i for i in slacks if self.table[i, column] < 0)
        return min(falling, key=self.basic.__getitem__, default=0), column

    def pivot(self, row: int, column: int) -> None:
        """Exchange a basic and a nonbasic variable; the division is exact (Edmonds)."""
        checkpoint()
        table, old = self.table, self.denominator
        p = table[row, column]
        sign = 1 if p > 0 else -1
        pivot_row, pivot_column = table[row].copy(), table[:, column].copy()
        table = sign * ((table * p - np.outer(pivot_column, pivot_row)) // old)
        table[row] = -sign * pivot_row
        table[:, column] = sign * pivot_column
        table[row, column] = sign * old
        self.table, self.denominator = table, sign * p
        self.basic[row], self.nonbasic[column] = self.nonbasic[column], self.basic[row]

    def point(self) -> tuple[Fraction, ...]:
        """The values of the free variables."""
        values = {variable: self.table[i, 0] for i, variable in enumerate(self.basic)}
        return tuple(Fraction(int(values[j]), int(self.denominator)) for j in range(self.free))


def integers(numbers: Sequence[Rational]) -> list[Any]:
    """Rationals times their least common denominator."""
    common = math.lcm(*(v.denominator for v in numbers))
    kind = integer_type()
    return [kind(v.numerator * (common // v.denominator)) for v in numbers]
