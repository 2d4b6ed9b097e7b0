"""Programs without coefficients that are too small for a solver, as relaxations of the programs they come from.

A row may be multiplied by a power of two, and so may the unit of a continuous variable: only exponents change. A term
a x that is too small all the same lies between the ends of a x over the bounds of x. It is left out, and its row is
widened by these ends, rounded outward; an equation becomes two inequalities. So every point of the program satisfies
the relaxation, with an objective that is no worse: a dual bound of the relaxation is one of the program.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array, vstack

from ircert.bounds.rounding import TINY, UNIT
from ircert.errors import ProgramError
from ircert.ir.arrays import Array, Indices, Mask
from ircert.programs.program import Block, Program, QuadraticRow

FARTHEST = 60
"""Right-hand sides, bounds and costs are not scaled beyond two to this power: solvers take 1e20 for infinite."""
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
    program: Program, smallest: float, largest: float, *, normal: bool = False, keep_units: bool = False
) -> Relaxation:
    """The program without linear coefficients up to `smallest` or beyond `largest` in size; ProgramError if it cannot.

    Rows that hold one are rescaled first: those with entries below 1 to a largest entry from 1 to 2. With `normal` all
    rows are, so that `smallest` is relative to them.
    """
    if not normal and not _is_extreme(program, smallest, largest):
        return Relaxation(program, program, np.ones(program.columns), smallest)
    units = np.ones(program.columns) if keep_units else _units(program, smallest, normal=normal)
    scaled, rhs_error = _scaled_rows(_in_units(program, units), smallest, largest, normal=normal)
    small = (np.abs(scaled.matrix.data) <= smallest) & (program.matrix.data != 0)  # also what became 0
    costs = (np.abs(scaled.objective) <= smallest) & (scaled.objective != 0)
    made = _without(scaled, small, rhs_error)
    made, dropped = _without_linear_parts(_without_costs(made, costs), smallest)
    return Relaxation(program, made, units, smallest, int(small.sum() + costs.sum()) + dropped)


def _is_extreme(program: Program, smallest: float, largest: float) -> bool:
    values = [program.matrix.data, program.objective, *(row.linear for row in program.quadratic_rows)]
    sizes = np.abs(np.concatenate(values))
    return bool(((sizes > largest) | ((sizes <= smallest) & (sizes > 0))).any())


# --- powers of two ---------------------------------------------------------------------------------------------------


def _row_maxima(program: Program) -> Array:
    found = np.zeros(len(program.rhs))
    np.maximum.at(found, _row_numbers(program), np.abs(program.matrix.data))
    return found


def _column_maxima(program: Program) -> Array:
    found = np.zeros(program.columns)
    np.maximum.at(found, program.matrix.indices, np.abs(program.matrix.data))
    return found


def _row_numbers(program: Program) -> Indices:
    return np.repeat(np.arange(len(program.rhs)), np.diff(program.matrix.indptr))


def _reach(program: Program) -> Array:
    return np.maximum(np.abs(program.lower), np.abs(program.upper))


def _units(program: Program, smallest: float, *, normal: bool) -> Array:
    """Units in which wide variables reach about 1, where that makes a coefficient large enough."""
    sizes, tops, columns = np.abs(program.matrix.data), _row_maxima(program), program.matrix.indices
    least = smallest * (tops if normal else np.minimum(tops, 1.0))[_row_numbers(program)]
    reach = _reach(program)
    able = ~program.integer & ~_is_squared(program) & np.isfinite(reach) & (reach > 1)
    # costs and entries must not grow out of bounds
    highest = np.maximum(_column_maxima(program), np.abs(program.objective))
    room = np.maximum(0, FARTHEST // 2 - np.frexp(highest)[1])
    units = np.ldexp(1.0, np.where(able, np.minimum(np.frexp(np.where(able, reach, 1.0))[1], room), 0))
    helped = np.zeros(program.columns, dtype=bool)
    helped[columns[(sizes <= least) & (sizes * units[columns] > least)]] = True
    return np.where(helped, units, 1.0)


def _is_squared(program: Program) -> Mask:
    """Which variables occur in quadratic rows or in the objective's squares: they keep their units."""
    found = np.zeros(program.columns, dtype=bool)
    for row in program.quadratic_rows:
        found[row.quadratic.indices] = True
        found |= row.linear != 0
    if program.quadratic is not None:
        found[program.quadratic.indices] = True
    return found


def _in_units(program: Program, units: Array) -> Program:
    if (units == 1.0).all():
        return program
    matrix = program.matrix.copy()
    matrix.data = matrix.data * units[matrix.indices]
    return replace(
        program,
        lower=_outward(program.lower, 1 / units, -np.inf),
        upper=_outward(program.upper, 1 / units, np.inf),
        matrix=matrix,
        objective=program.objective * units,
    )


def _outward(values: Array, factors: Array, towards: float) -> Array:
    """Products with powers of two, rounded towards an end where they underflow."""
    found = values * factors
    return np.where(found / factors == values, found, np.nextafter(found, towards))


def _scaled_rows(program: Program, smallest: float, largest: float, *, normal: bool) -> tuple[Program, Array]:
    """The rows times powers of two, and how far each right-hand side may be off where it underflowed."""
    tops = _row_maxima(program)
    rows = _row_numbers(program)
    sizes = np.abs(program.matrix.data)
    low = np.zeros(len(tops), dtype=bool)
    low[rows[(sizes <= smallest) & (sizes > 0)]] = True
    chosen = (tops > 0) & (((tops < 1) & low) | (tops > largest) | normal)
    exponents = np.where(chosen, 1 - np.frexp(np.where(chosen, tops, 1.0))[1], 0)
    exponents = np.minimum(exponents, np.maximum(0, FARTHEST - np.frexp(program.rhs)[1]))
    matrix = program.matrix.copy()
    matrix.data = np.ldexp(matrix.data, exponents[rows])
    rhs = np.ldexp(program.rhs, exponents)
    return replace(program, matrix=matrix, rhs=rhs), np.where(np.ldexp(rhs, -exponents) == program.rhs, 0.0, TINY)


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
