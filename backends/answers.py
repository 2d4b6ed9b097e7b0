"""What all solvers share: programs without numbers that a solver would drop, and judging what it answers."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection
from dataclasses import replace

import numpy as np

from ircert.backends.base import INFINITE, Outcome, Status
from ircert.errors import BackendError, CoefficientWarning, ProgramError
from ircert.ir.arrays import Array
from ircert.programs.program import Program
from ircert.programs.relaxation import Relaxation, relaxed

LARGEST_COEFFICIENT = 1e15
FARTHEST_POINT = 1e15
DISAGREEMENT = 1e-4
"""Relative: more than any tolerance explains."""
TOLERANCE = 1e-5
"""By how much, relative to the row, a point of a relaxation may violate the program and still be a point of it."""
NO_POINT = frozenset({Status.INFEASIBLE, Status.UNBOUNDED, Status.INFEASIBLE_OR_UNBOUNDED})


def fitted(program: Program, backend: str, smallest: float, keep: Collection[str] | None = ()) -> Relaxation:
    """The program as the solver takes it: rescaled, and coefficients that it would drop left out soundly.

    BackendError where a variable of such a term has no bounds, and for numbers that the solver would refuse.
    """
    try:
        found = relaxed(program, smallest, LARGEST_COEFFICIENT, keep=keep)
    except ProgramError as error:
        raise BackendError(
            f"it drops coefficients up to {smallest:g} in size, and {error.problem}",
            backend=backend,
            remedy=error.remedy,
        ) from None
    _require_numbers(found.program, backend, smallest)
    _require_no_infinity(found.program, backend)
    return found


def model_program(program: Program, backend: str, smallest: float) -> Program:
    """The program of a solver's own model, with a CoefficientWarning where it is a relaxation."""
    found = fitted(program, backend, smallest, keep=None)
    if found.dropped:
        warnings.warn(f"backend `{backend}`: {found.note()}", CoefficientWarning, stacklevel=3)
    return found.program


def carried(found: Relaxation, outcome: Outcome) -> Outcome:
    """The outcome of a relaxation as one of the program: its bound holds, its point may not."""
    if found.program is found.source:
        return outcome
    point = None if outcome.point is None else found.point(outcome.point)
    value = None if point is None else objective_value(found.source, point)
    status, notes = outcome.status, [outcome.message, found.note()]
    if found.dropped and status in NO_POINT - {Status.INFEASIBLE}:
        status = Status.UNKNOWN
    if point is not None and (excess := violation(found.source, point)) > TOLERANCE:
        notes.append(f"its point violates the program itself by {excess:.2g}")
        point = value = None
        status = Status.UNKNOWN if status is Status.OPTIMAL else status
    message = "; ".join(note for note in notes if note)
    return replace(outcome, status=status, value=value, point=point, message=message)


def _require_numbers(program: Program, backend: str, smallest: float) -> None:
    """Raise BackendError for quadratic coefficients that the solver would drop, and for all that it would refuse."""
    forms = [row.quadratic.data for row in program.quadratic_rows]
    forms += [] if program.quadratic is None else [program.quadratic.data]
    sizes = np.abs(np.concatenate([np.zeros(0), *forms]))
    sizes = sizes[sizes > 0]
    if len(sizes) and sizes.min() <= smallest:
        raise BackendError(
            f"it would drop the quadratic coefficient {sizes.min():g} (up to {smallest:g}) and solve another problem",
            backend=backend,
            remedy="count its variables in smaller units",
        )
    linear = [program.matrix.data, program.objective, *(row.linear for row in program.quadratic_rows)]
    top = max((np.abs(values).max(initial=0.0) for values in (*linear, sizes)), default=0.0)
    if top > LARGEST_COEFFICIENT:
        raise BackendError(
            f"the coefficient {top:g} is too large (largest: {LARGEST_COEFFICIENT:g})",
            backend=backend,
            remedy="count its variables in larger units, or tighten the bounds it comes from",
        )


def _require_no_infinity(program: Program, backend: str) -> None:
    bounds = [row.bound for row in program.quadratic_rows]
    sizes = np.abs(np.concatenate([program.rhs, program.lower, program.upper, bounds]))
    if (np.isfinite(sizes) & (sizes >= INFINITE)).any():
        raise BackendError(
            f"it takes bounds and right-hand sides from {INFINITE:g} on for infinite",
            backend=backend,
            remedy="scale the program, or leave the bound out",
        )


def whole_bounds(program: Program) -> tuple[Array, Array]:
    """The bounds, rounded inwards for integers: HiGHS's presolve takes a fractional bound for a value."""
    lower = np.where(program.integer, np.ceil(program.lower), program.lower)
    return lower, np.where(program.integer, np.floor(program.upper), program.upper)


def doubted(program: Program, status: Status) -> Status:
    """HiGHS's status, but not its word that a program with unbounded variables is infeasible: it may be unbounded."""
    bounded = np.isfinite(program.lower).all() and np.isfinite(program.upper).all()
    return Status.INFEASIBLE_OR_UNBOUNDED if status is Status.INFEASIBLE and not bounded else status


def require_count(got: int, wanted: int, backend: str) -> None:
    """Raise BackendError unless the solver's model has as many nonzeros as the program."""
    if got != wanted:
        raise BackendError(
            f"its model has {got} nonzeros where the program has {wanted}",
            backend=backend,
            remedy="scale rows with very small coefficients, or use another backend",
        )


def nonzeros(program: Program) -> int:
    """The number of entries of the matrix that are not zero."""
    return int(np.count_nonzero(program.matrix.data))


def objective_value(program: Program, point: Array) -> float:
    """The objective of a point, constant included."""
    value = float(program.objective @ point) + program.constant
    return value if program.quadratic is None else value + float(point @ (program.quadratic @ point))


def violation(program: Program, point: Array) -> float:
    """The largest violation of a row (relative to its scale), a bound or integrality."""
    parts = [
        _excess(program.lower, program.lower - point),
        _excess(program.upper, point - program.upper),
        np.where(program.integer, np.abs(point - np.round(point)), 0.0),
        _row_violations(program, point),
    ]
    for row in program.quadratic_rows:
        excess = float(point @ (row.quadratic @ point) + row.linear @ point) - row.bound
        parts.append(np.array([excess / max(1.0, abs(row.bound))]))
    return float(np.max(np.concatenate(parts), initial=0.0))


def _excess(bounds: Array, gaps: Array) -> Array:
    given = np.isfinite(bounds)
    return gaps[given] / np.maximum(1.0, np.abs(bounds[given]))


def _row_violations(program: Program, point: Array) -> Array:
    gaps = program.matrix @ point - program.rhs
    largest = abs(program.matrix).max(axis=1).toarray().ravel() if program.matrix.nnz else np.zeros(len(gaps))
    excess = np.where(program.senses == "<=", gaps, np.where(program.senses == ">=", -gaps, np.abs(gaps)))
    return excess / np.maximum(1.0, np.maximum(np.abs(program.rhs), largest))


def judged(
    program: Program,
    backend: str,
    status: Status,
    *,
    point: Array | None,
    value: float | None,
    bound: float | None,
    nodes: int,
    seconds: float,
    message: str = "",
) -> Outcome:
    """The outcome of a run, with `value` (the solver's word) replaced by the objective of the point.

    The status is UNKNOWN, and there is no bound, where the solver contradicts itself.
    """
    if status in NO_POINT:
        return Outcome(status, None, None, None, nodes, seconds, backend, message)
    bound = finite(bound)
    if point is None or not np.isfinite(point).all():
        lost = status is Status.OPTIMAL
        kept = Status.UNKNOWN if lost else status
        message = "the solver claims an optimum but has no finite point" if lost else message
        return Outcome(kept, None, None if lost else bound, None, nodes, seconds, backend, message)
    point = np.ascontiguousarray(point, dtype=np.float64)
    own = objective_value(program, point)
    complaints = _contradictions(program, own, finite(value), bound)
    if np.abs(point).max() >= FARTHEST_POINT:  # seen of CBC: an unbounded program, "solved"
        complaints.append("the solver's point is at infinity")
    notes = [message, *complaints]
    if (excess := violation(program, point)) > DISAGREEMENT:
        notes.append(f"the point violates the program by {excess:.2g}")
    if complaints:
        status, bound = Status.UNKNOWN, None
    return Outcome(status, own, bound, point, nodes, seconds, backend, "; ".join(note for note in notes if note))


def _contradictions(program: Program, own: float, value: float | None, bound: float | None) -> list[str]:
    found = []
    if value is not None and _apart(own, value):
        found.append(f"the solver reports the value {value!r}, its point has {own!r}")
    if bound is not None and _apart(own, bound) and (own > bound) == program.maximise:
        found.append(f"the solver reports the bound {bound!r}, its point has {own!r}")
    return found


def _apart(a: float, b: float) -> bool:
    return abs(a - b) > DISAGREEMENT * max(1.0, abs(a), abs(b))


def finite(number: float | None) -> float | None:
    """A number, or None where a solver means that it has none."""
    return None if number is None or not math.isfinite(number) or abs(number) >= INFINITE else float(number)
