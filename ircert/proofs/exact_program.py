"""Linear programs max c s, G s <= h in exact rationals: a float solver proposes the basis, integers confirm it.

The point of a basis solves G_B s = h_B exactly. It is optimal iff it satisfies every row and c = y G_B with y >= 0;
that is checked in integers. Where the proposal fails, the criss-cross method decides, beginning with that basis.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ircert import exact_lp
from ircert.ir.arrays import Array
from ircert.ir.rational import Integers, integer_type
from ircert.limits import Undecided

LARGEST, SMALL = 40_000, 2_000
"""Rows times variables squared: larger programs are not handed to the criss-cross method; small ones are at once."""


@dataclass(frozen=True)
class Optimum:
    """The largest value and a point that has it."""

    value: Fraction
    point: list[Fraction]


def maximise(objective: Integers, rows: Integers, limits: Integers, *, patient: bool = True) -> Optimum | None:
    """max objective · s subject to rows s <= limits, a bounded set; None if it is empty.

    Undecided where the proposals fail and the program is too large for the criss-cross method: far less is too large
    without patience.
    """
    size = len(objective)
    still = ~np.array([any(row) for row in rows], dtype=bool) if size else np.ones(len(rows), dtype=bool)
    if any(limit < 0 for limit in limits[still]):
        return None
    if not size:
        return Optimum(Fraction(0), [])
    rows, limits = rows[~still], limits[~still]
    proposal = _proposed(objective, rows, limits)
    if proposal is not None:
        found = _confirmed(objective, rows, limits, proposal)
        if found is not None:
            return found
    elif _is_empty(rows, limits):
        return None
    if len(rows) * size * size > (LARGEST if patient else SMALL):
        raise Undecided
    best = exact_lp.maximise(_plain(objective), [_plain(row) for row in rows], _plain(limits), proposal or ())
    return None if best is None else Optimum(best.value, list(best.point))


def _plain(numbers: Integers) -> list[int]:
    return [int(v) for v in numbers]


def _is_empty(rows: Integers, limits: Integers) -> bool:
    """Whether max -t, rows s - scale t <= limits, t >= -1, has a negative value for sure."""
    kind = integer_type()
    scale = np.array([max(1, max(abs(v) for v in row)) for row in rows], dtype=object)
    wide = np.concatenate([rows, -scale[:, None]], axis=1)
    bottom = np.full((1, wide.shape[1]), kind(0), dtype=object)
    bottom[0, -1] = kind(-1)
    wide, wider = np.concatenate([wide, bottom]), np.concatenate([limits, np.array([kind(1)], dtype=object)])
    objective = bottom[0]
    proposal = _proposed(objective, wide, wider)
    found = None if proposal is None else _confirmed(objective, wide, wider, proposal)
    return found is not None and found.value < 0


def as_floats(rows: Integers) -> Array:
    """Each row of integers over its largest absolute value."""
    result = np.empty(rows.shape)
    for i, row in enumerate(rows):
        top = max((abs(v) for v in row), default=0) or 1
        # 200 bits are plenty, and division of short integers is fast
        shift = max(0, int(top).bit_length() - 200)
        result[i] = [float(Fraction(int(v) >> shift, (int(top) >> shift) or 1)) for v in row]
    return result


def _proposed(objective: Integers, rows: Integers, limits: Integers) -> list[int] | None:
    """The rows of a basis that the float solver takes for optimal; None if it sees no solution."""
    import highspy

    size = len(objective)
    floats = as_floats(np.concatenate([rows, limits[:, None]], axis=1))
    lengths = np.abs(floats[:, :-1]).max(axis=1)
    good = lengths > 0
    floats[good] /= lengths[good, None]
    cost = as_floats(objective[None, :])[0]
    solver = highspy.Highs()
    for name, value in (("output_flag", False), ("threads", 1), ("presolve", "off"), ("small_matrix_value", 1e-12)):
        solver.setOptionValue(name, value)
    for name in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
        solver.setOptionValue(name, 1e-9)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = size, len(rows)
    lp.col_cost_ = -cost
    lp.col_lower_, lp.col_upper_ = np.full(size, -np.inf), np.full(size, np.inf)
    lp.row_lower_, lp.row_upper_ = np.full(len(rows), -np.inf), np.clip(floats[:, -1], -1e19, 1e19)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    matrix = np.where(np.abs(floats[:, :-1]) < 1e-12, 0.0, floats[:, :-1])
    lp.a_matrix_.num_col_, lp.a_matrix_.num_row_ = size, len(rows)
    places = matrix.nonzero()
    lp.a_matrix_.start_ = np.concatenate([[0], np.cumsum((matrix != 0).sum(axis=1))]).astype(np.int32)
    lp.a_matrix_.index_ = places[1].astype(np.int32)
    lp.a_matrix_.value_ = matrix[places]
    solver.passModel(lp)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    basis = solver.getBasis()
    basic = highspy.HighsBasisStatus.kBasic
    return [i for i, status in enumerate(basis.row_status) if status != basic]


def _confirmed(objective: Integers, rows: Integers, limits: Integers, basis: list[int]) -> Optimum | None:
    size = len(objective)
    if len(basis) != size:
        return None
    kind = integer_type()
    chosen = rows[basis]
    solved = solve_integers(np.concatenate([chosen, limits[basis][:, None]], axis=1))
    if solved is None:
        return None
    numbers, below = solved
    if any(left > right for left, right in zip(rows.dot(numbers), limits * below, strict=True)):
        return None
    weights = solve_integers(np.concatenate([chosen.T, objective[:, None]], axis=1))
    if weights is None or any(w < kind(0) for w in weights[0]):
        return None
    point = [Fraction(int(v), int(below)) for v in numbers]
    return Optimum(Fraction(int(objective.dot(numbers)), int(below)), point)


def solve_integers(table: Integers) -> tuple[Integers, Any] | None:
    """(v, d) with A v / d = b, d > 0, for the square table [A | b]; None if A is singular."""
    reduced = reduce(table, table.shape[0])
    if len(reduced.pivots) < table.shape[0]:
        return None
    order = np.argsort(reduced.pivots)
    return reduced.table[order, -1], reduced.below


@dataclass(frozen=True)
class Reduced:
    """A table whose pivot rows come first: row i has `below` > 0 at column pivots[i], the other rows 0 there."""

    table: Integers
    pivots: list[int]
    below: Any


def reduce(table: Integers, columns: int) -> Reduced:
    """Gauss and Jordan without fractions (Bareiss): divisions by the last pivot are exact."""
    table = table.copy()
    kind = integer_type()
    last: Any = kind(1)
    pivots: list[int] = []
    for column in range(columns):
        top = len(pivots)
        found = next((i for i in range(top, len(table)) if table[i, column]), None)
        if found is None:
            continue
        if found != top:
            table[[top, found]] = table[[found, top]]
        pivot = table[top, column]
        row = table[top].copy()
        table = (table * pivot - np.outer(table[:, column], row)) // last
        table[top] = row
        last = pivot
        pivots.append(column)
        if len(pivots) == len(table):
            break
    if last < 0:
        table, last = -table, -last
    return Reduced(table, pivots, last)
