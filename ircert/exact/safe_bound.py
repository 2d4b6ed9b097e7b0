"""Bounds on linear programs from rough weights, exact all the same: variables' ranges pay for what weights miss.

For any C > 0 and weights y, y >= 0 at inequalities, and all x with rows g x <= h and l <= x <= u:

    C c x  =  y G x + r x  <=  y h + sum_j max(r_j l_j, r_j u_j),     r = C c - y G.

With C = 0 a negative right side shows that there is no such x. Weights come from floats; this is summed up in integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ircert.exact.rows import Rows
from ircert.ir.arrays import Array, Indices
from ircert.ir.rational import Integers, integer_array, integer_type

BITS = 62
"""Of the largest weight that are kept."""


@dataclass(frozen=True)
class Box:
    """What is known of each variable; None where nothing is."""

    lower: list[Fraction | None]
    upper: list[Fraction | None]

    @staticmethod
    def of(rows: Rows, reach: Fraction | None = None) -> Box:
        """From rows with one number, and where these say nothing |x_j| <= reach."""
        lower: list[Fraction | None] = [None] * rows.width
        upper: list[Fraction | None] = [None] * rows.width
        for i in np.flatnonzero(rows.lengths == 1):
            number, j = int(rows.numbers[rows.starts[i]]), int(rows.columns[rows.starts[i]])
            end = Fraction(int(rows.limits[i]), number)
            if number > 0 or rows.equal[i]:
                upper[j] = end if (old := upper[j]) is None else min(old, end)
            if number < 0 or rows.equal[i]:
                lower[j] = end if (old := lower[j]) is None else max(old, end)
        if reach is not None:
            lower, upper = [-reach if v is None else v for v in lower], [reach if v is None else v for v in upper]
        return Box(lower, upper)

    def most(self, form: Integers) -> Fraction | None:
        """The largest value of a linear form."""
        total = Fraction(0)
        for value, low, high in zip(form, self.lower, self.upper, strict=True):
            if value:
                end = high if value > 0 else low
                if end is None:
                    return None
                total += int(value) * end
        return total


def bound(rows: Rows, box: Box, objective: Integers, weights: Array, exponents: Indices, scale: int) -> Fraction | None:
    """An upper bound on the objective; weights[i] 2^(scale - exponents[i]) is about that of row i, and of the rows
    with one number nothing is needed."""
    whole, power = _whole(weights, exponents, scale)
    factor = integer_type()(1) << (BITS + power - scale)
    most = _right(rows, box, objective * factor, whole)
    return None if most is None else most / int(factor)


def contradiction(rows: Rows, box: Box, weights: Array, exponents: Indices) -> bool:
    """Whether weights (up to their sign) show that no point satisfies the rows."""
    nothing = np.full(rows.width, integer_type()(0), dtype=object)
    for sign in (1.0, -1.0):
        whole, _ = _whole(sign * weights, exponents, 0)
        most = _right(rows, box, nothing, whole)
        if most is not None and most < 0:
            return True
    return False


def _whole(weights: Array, exponents: Indices, scale: int) -> tuple[Integers, int]:
    """The weights as integers, in units of 2^(scale - power - BITS)."""
    power = int(max(exponents.max(initial=0), scale))
    numbers = integer_array([int(v) for v in np.round(np.ldexp(weights, BITS)).tolist()])
    return numbers << (power - exponents).astype(object), power


def _right(rows: Rows, box: Box, objective: Integers, weights: Integers) -> Fraction | None:
    """y h + max r x."""
    zero = integer_type()(0)
    weights = np.array([w if w > 0 or e else zero for w, e in zip(weights, rows.equal, strict=True)], dtype=object)
    used = np.flatnonzero((weights != 0) & (rows.lengths > 1))
    chosen, weights = rows.take(used), weights[used]
    rest = box.most(objective - _summed(chosen, weights))
    return None if rest is None else rest + int(weights.dot(chosen.limits) if len(weights) else 0)


def _summed(rows: Rows, weights: Integers) -> Integers:
    """weights · rows."""
    result = np.full(rows.width, integer_type()(0), dtype=object)
    if len(rows.columns):
        order = np.argsort(rows.columns, kind="stable")
        columns, starts = np.unique(rows.columns[order], return_index=True)
        result[columns] = np.add.reduceat((rows.numbers * weights[rows.owners])[order], starts)
    return result
