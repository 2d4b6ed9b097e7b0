"""A bound on a linear program from any multipliers: a solver's are good, and bad ones only make it weaker.

For rows a <= A x <= b, bounds l <= x <= u and multipliers p

    max c x  <=  sum_i max(p_i a_i, p_i b_i) + sum_j max(r_j l_j, r_j u_j),     r = c - A' p,

evaluated in floats with a bound on the rounding error, so that it holds in real arithmetic. With c = 0 a negative bound
proves that there is no x.
"""

from __future__ import annotations

import numpy as np

from ircert.bounds.rounding import UNIT, magnitude, slack
from ircert.ir.arrays import Array, Matrix

Sides = tuple[Array, Array]


def dual_bound(
    matrix: Matrix, rows: Sides, columns: Sides, cost: Array, multipliers: Array, absolute: Matrix | None = None
) -> float:
    """An upper bound on cost · x; `absolute` is abs(matrix), where it is known already. Columns have finite sides."""
    p = np.where((multipliers < 0) & np.isinf(rows[0]), 0.0, multipliers)
    p = np.where((p > 0) & np.isinf(rows[1]), 0.0, p)
    reduced = cost - p @ matrix
    wrong = slack(len(p) + 1, np.abs(p) @ (abs(matrix) if absolute is None else absolute) + np.abs(cost))
    reach = magnitude(*columns)
    corners = np.maximum(reduced * columns[0], reduced * columns[1])
    products = p * np.where(p > 0, rows[1], np.where(p < 0, rows[0], 0.0))
    lost = wrong @ reach * (1 + 4 * (len(reach) + 2) * UNIT)
    total = products.sum() + corners.sum() + lost
    size = np.abs(products).sum() + (np.abs(reduced) * reach).sum() + lost
    return float(total + slack(2 * len(corners) + 2 * len(products) + 8, np.array(size)))
