"""Programs without coefficients that are too small for a solver, as relaxations of the programs they come from.

A row may be multiplied by a power of two, and so may the unit of a continuous variable: only exponents change. A term
a x that is too small all the same lies between the ends of a x over the bounds of x. It is left out, and its row is
widened by these ends, rounded outward; an equation becomes two inequalities. So every point of the program satisfies
the relaxation, with an objective that is no worse: a dual bound of the relaxation is one of the program.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array, vstack

from ircert.bounds.rounding import TINY, UNIT
from ircert.errors import ProgramError
from ircert.ir.arrays import Array, Indices, Mask
from ircert.programs.program import Block, Program, QuadraticRow

FARTHEST, LOWEST = 60, 1000
"""Nothing is scaled beyond two to this power: solvers take 1e20 for infinite. No unit is below 2^-LOWEST."""
SPLIT = "below"
"""Blocks of rows that are the second half of an equation."""


@dataclass(frozen=True, eq=False)
class Relaxation:
    """A program that holds another one: variable j of `source` is units[j] times variable j of `program`.

    dropped: how many coefficients were left out; with none the two are the same program in other units
    """

    source: Program
    program: Program
    units: Array
    smallest: float
    dropped: int = 0

    def point(self, point: Array) -> Array:
        """A point of the relaxation in the units of the source."""
        return point * self.units

    def note(self) -> str:
        """What was done, in a few words; empty if nothing was left out."""
        if not self.dropped:
            return ""
        return f"{self.dropped} coefficients up to {self.smallest:g} were left out and their rows widened"


def relaxed(
    program: Program, smallest: float, largest: float, *, normal: bool = False, keep: Collection[str] | None = ()
) -> Relaxation:
    """The program without linear coefficients up to `smallest` or beyond `largest` in size; ProgramError if it cannot.

    Rows that hold one are rescaled first, and so are wide variables of small coefficients. With `normal` all variables
    are counted in units in which they reach about 1, and all rows in units of their largest coefficient, so that
    `smallest` is relative to what a row can reach. `keep` names blocks of variables that keep their units; None: all.
    """
    if not normal and not _is_extreme(program, smallest, largest):
        return Relaxation(program, program, np.ones(program.columns), smallest)
    source, program = program, _without_zeros(program)
    able = _may_be_rescaled(program, keep)
    columns = _natural_units(program, able) if normal else _helpful_units(program, able, smallest)
    scaled, rhs_error = _rescaled(program, columns, smallest, largest, normal=normal)
    small = np.abs(scaled.matrix.data) <= smallest  # also what became 0
    costs = (np.abs(scaled.objective) <= smallest) & (program.objective != 0)
    made = _without(scaled, small, rhs_error)
    made, dropped = _without_linear_parts(_without_costs(made, costs), smallest)
    units = np.ldexp(1.0, columns)
    return Relaxation(source, made, units, smallest, int(small.sum() + costs.sum()) + dropped)


def _is_extreme(program: Program, smallest: float, largest: float) -> bool:
    values = [program.matrix.data, program.objective, *(row.linear for row in program.quadratic_rows)]
    sizes = np.abs(np.concatenate(values))
    return bool(((sizes > largest) | ((sizes <= smallest) & (sizes > 0))).any())


def _without_zeros(program: Program) -> Program:
    """The program without entries that are 0, or belong to variables that are."""
    matrix = program.matrix.copy()
    matrix.data = np.where(_reach(program)[matrix.indices] > 0, matrix.data, 0.0)
    matrix.eliminate_zeros()
    return replace(program, matrix=matrix)


# --- powers of two ---------------------------------------------------------------------------------------------------


def _may_be_rescaled(program: Program, keep: Collection[str] | None) -> Mask:
    """Which variables may have other units: continuous ones with bounds that occur in no square."""
    reach = _reach(program)
    able: Mask = ~program.integer & np.isfinite(reach) & (reach > 0)
    for block in program.variables:
        if keep is None or block.name in keep:
            able[block.where] = False
    for row in program.quadratic_rows:
        able[row.quadratic.indices] = False
        able &= row.linear == 0
    if program.quadratic is not None:
        able[program.quadratic.indices] = False
    return able


def _natural_units(program: Program, able: Mask) -> Indices:
    """Exponents of units in which variables reach about 1."""
    # a unit must be a float, and so must what a cost becomes
    most = np.minimum(FARTHEST, FARTHEST - np.frexp(program.objective)[1])
    exponents = np.frexp(np.where(able, _reach(program), 0.0))[1]
    return np.clip(exponents, -LOWEST, np.maximum(most, 0)).astype(np.int64)


def _helpful_units(program: Program, able: Mask, smallest: float) -> Indices:
    """The same for wide variables, where that makes a coefficient large enough; others keep theirs."""
    sizes, tops, columns = np.abs(program.matrix.data), _row_maxima(program), program.matrix.indices
    least = smallest * np.minimum(tops, 1.0)[_row_numbers(program)]
    highest = np.zeros(program.columns)
    np.maximum.at(highest, columns, sizes)
    room = np.maximum(0, FARTHEST // 2 - np.frexp(highest)[1])  # other entries must not grow out of bounds
    wanted = np.clip(_natural_units(program, able), 0, room)
    helped = np.zeros(program.columns, dtype=bool)
    helped[columns[(sizes <= least) & (np.ldexp(sizes, wanted[columns]) > least)]] = True
    return np.where(helped, wanted, 0)


def _row_maxima(program: Program) -> Array:
    found = np.zeros(len(program.rhs))
    np.maximum.at(found, _row_numbers(program), np.abs(program.matrix.data))
    return found


def _row_numbers(program: Program) -> Indices:
    return np.repeat(np.arange(len(program.rhs)), np.diff(program.matrix.indptr))


def _reach(program: Program) -> Array:
    return np.maximum(np.abs(program.lower), np.abs(program.upper))


def _rescaled(
    program: Program, columns: Indices, smallest: float, largest: float, *, normal: bool
) -> tuple[Program, Array]:
    """Columns and rows times powers of two, and how far each right-hand side may be off where it underflowed."""
    rows = _rows_to_scale(program, columns, smallest, largest, normal=normal)
    matrix = program.matrix.copy()
    matrix.data = np.ldexp(matrix.data, rows[_row_numbers(program)] + columns[matrix.indices])
    rhs = np.ldexp(program.rhs, rows)
    made = replace(
        program,
        lower=_outward(program.lower, columns, -np.inf),
        upper=_outward(program.upper, columns, np.inf),
        matrix=matrix,
        rhs=rhs,
        objective=np.ldexp(program.objective, columns),
    )
    return made, np.where(np.ldexp(rhs, -rows) == program.rhs, 0.0, TINY)


def _rows_to_scale(program: Program, columns: Indices, smallest: float, largest: float, *, normal: bool) -> Indices:
    """Exponents that bring the largest entry of a row to 1 … 2, where it needs that."""
    numbers, data = _row_numbers(program), program.matrix.data
    heights = np.frexp(data)[1].astype(np.int64) + columns[program.matrix.indices]
    tops = np.full(len(program.rhs), -(1 << 20), dtype=np.int64)
    np.maximum.at(tops, numbers[data != 0], heights[data != 0])
    low = np.zeros(len(tops), dtype=bool)
    low[numbers[(heights <= np.frexp(smallest)[1]) & (data != 0)]] = True
    chosen = (tops > -(1 << 20)) & (normal | (low & (tops < 1)) | (tops > np.frexp(largest)[1] - 1))
    wanted = np.where(chosen, 1 - tops, 0)
    return np.minimum(wanted, np.maximum(0, FARTHEST - np.frexp(program.rhs)[1]))


def _outward(values: Array, exponents: Indices, towards: float) -> Array:
    """values / 2^exponents, rounded towards an end where they underflow."""
    found = np.ldexp(values, -exponents)
    return np.where(np.ldexp(found, exponents) == values, found, np.nextafter(found, towards))


# --- what is left out ------------------------------------------------------------------------------------------------


def _without(program: Program, small: Mask, rhs_error: Array) -> Program:
    """The program without some entries of the matrix, its rows widened by what these may add up to."""
    rows, columns = _row_numbers(program)[small], program.matrix.indices[small]
    below, above = _ranges(program, program.matrix.data[small], columns)
    count, least, most, reach = (
        np.bincount(rows, weights, len(program.rhs)) for weights in (None, below, above, _reach(program)[columns])
    )
    size = np.bincount(rows, np.maximum(np.abs(below), np.abs(above)), len(program.rhs)) + np.abs(program.rhs)
    wide = (count > 0) | (rhs_error > 0)
    # coefficients may have lost their last bits when they became subnormal, hence the reach
    error = np.where(wide, 4.0 * (count + 4) * (UNIT * size + TINY * (1.0 + reach)) + rhs_error, 0.0)
    high, low = program.rhs - least + error, program.rhs - most - error
    matrix = program.matrix.copy()
    matrix.data = np.where(small, 0.0, matrix.data)
    matrix.eliminate_zeros()
    equations = np.flatnonzero((program.senses == "=") & wide)
    senses = program.senses.copy()
    senses[equations] = "<="
    made = replace(program, matrix=matrix, senses=senses, rhs=np.where(senses == ">=", low, high))
    return _with_rows(made, equations, low[equations]) if len(equations) else made


def _with_rows(program: Program, copied: Indices, rhs: Array) -> Program:
    """The program with the other half of some equations."""
    number = sum(block.name.startswith(SPLIT) for block in program.rows)
    block = Block(f"{SPLIT}{number}", len(program.rhs), len(copied), labels=tuple(copied.tolist()))
    return replace(
        program,
        rows=(*program.rows, block),
        matrix=csr_array(vstack([program.matrix, program.matrix[copied, :]], format="csr")),
        senses=np.concatenate([program.senses, np.full(len(copied), ">=", dtype="<U2")]),
        rhs=np.concatenate([program.rhs, rhs]),
    )


def _ranges(program: Program, values: Array, columns: Indices) -> tuple[Array, Array]:
    """The least and the largest value of each term; ProgramError where its variable has no bounds."""
    endless = ~np.isfinite(_reach(program)[columns])
    if endless.any():
        name = program.column_names[int(columns[np.argmax(endless)])]
        raise ProgramError(
            f"a coefficient of {values[np.argmax(endless)]:g} cannot be left out: variable `{name}` has no bounds",
            remedy="give the variable bounds",
        )
    ends = values * program.lower[columns], values * program.upper[columns]
    return np.minimum(*ends), np.maximum(*ends)


def _without_costs(program: Program, small: Mask) -> Program:
    """The program without some costs; its constant holds the best that they may add up to."""
    if not small.any():
        return program
    best = _ranges(program, program.objective[small], np.flatnonzero(small))[1 if program.maximise else 0]
    error = 4.0 * (len(best) + 2) * (UNIT * np.abs(best).sum() + TINY)
    shift, end = best.sum() + (error if program.maximise else -error), np.inf if program.maximise else -np.inf
    constant = float(np.nextafter(program.constant + shift, end))
    return replace(program, objective=np.where(small, 0.0, program.objective), constant=constant)


def _without_linear_parts(program: Program, smallest: float) -> tuple[Program, int]:
    """The program without small coefficients in the linear parts of quadratic rows, and how many these were."""
    rows, dropped = [], 0
    for row in program.quadratic_rows:
        small = (np.abs(row.linear) <= smallest) & (row.linear != 0)
        dropped += int(small.sum())
        rows.append(_without_linear_part(program, row, small) if small.any() else row)
    return (replace(program, quadratic_rows=tuple(rows)) if dropped else program), dropped


def _without_linear_part(program: Program, row: QuadraticRow, small: Mask) -> QuadraticRow:
    least = _ranges(program, row.linear[small], np.flatnonzero(small))[0]
    error = 4.0 * (len(least) + 2) * (UNIT * np.abs(least).sum() + TINY)
    bound = float(np.nextafter(row.bound - least.sum() + error, np.inf))
    return replace(row, linear=np.where(small, 0.0, row.linear), bound=bound)
