"""The rules of `spec/program.md`, enforced where a program is born."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
from scipy.sparse import csr_array

from ircert.errors import ProgramError
from ircert.ir.arrays import Array, Sparse
from ircert.programs.program import (
    BINARIES,
    CONVEX_OBJECTIVE,
    CONVEX_ROWS,
    INTEGERS,
    NONCONVEX_OBJECTIVE,
    NONCONVEX_ROWS,
    Program,
    QuadraticRow,
)

# Letters first, and nothing that a reader of .lp files takes for a number, a keyword or an operator.
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,79}")
RESERVED = re.compile(
    r"(e[0-9.].*|(inf|nan).*|free|st|s\.t\..*|such|subject|max.*|min.*|bounds?|bin.*|gen.*|int.*|end|sos.*|semi.*|obj|one)",
    flags=re.IGNORECASE,
)


def verify(program: Program) -> None:
    """Raise ProgramError unless the program obeys every rule."""
    _check_names(program)
    _check_shapes(program)
    _check_numbers(program)
    _check_bounds(program)


def required_features(program: Program) -> frozenset[str]:
    """What a solver must be able to do; matrices of quadratic forms are judged by their eigenvalues."""
    needed = set()
    if program.binary.any():
        needed.add(BINARIES)
    if (program.integer & ~program.binary).any():
        needed.add(INTEGERS)
    if program.quadratic is not None and program.quadratic.nnz:
        sign = -1.0 if program.maximise else 1.0
        needed.add(CONVEX_OBJECTIVE if is_psd(sign * program.quadratic) else NONCONVEX_OBJECTIVE)
    for row in program.quadratic_rows:
        convex = is_psd(row.quadratic) or cone_height(row, program.lower) is not None
        needed.add(CONVEX_ROWS if convex else NONCONVEX_ROWS)
    return frozenset(needed)


def cone_height(row: QuadraticRow, lower: Array) -> int | None:
    """For a cone, sum of w_i v_i^2 <= w h^2 with positive weights and h >= 0, the variable h; it is a convex set.

    None if the row is no cone.
    """
    diagonal = row.quadratic.diagonal()
    below = np.flatnonzero(diagonal < 0)
    if len(below) != 1 or row.quadratic.nnz != np.count_nonzero(diagonal) or row.linear.any() or row.bound != 0:
        return None
    return int(below[0]) if lower[below[0]] >= 0 else None


def is_psd(matrix: Sparse) -> bool:
    """Whether a symmetric matrix is positive semidefinite (numerically; only its nonzero part is looked at)."""
    used = np.flatnonzero(np.diff(matrix.indptr))
    diagonal = matrix.diagonal()
    if matrix.nnz == np.count_nonzero(diagonal):
        return bool((diagonal >= 0).all())
    small = matrix[used, :][:, used].toarray()
    return bool(np.linalg.eigvalsh(small).min() >= -1e-12 * np.abs(small).max())


def _check_names(program: Program) -> None:
    for row in program.quadratic_rows:
        _check_name(row.name, "a quadratic row")
    for what, blocks in (("variables", program.variables), ("rows", program.rows)):
        for name, count in Counter(block.name for block in blocks).items():
            _check_name(name, f"a block of {what}")
            if count > 1:
                raise ProgramError(f"two blocks of {what} are called `{name}`")
        starts = np.cumsum([0, *(block.size for block in blocks)]).tolist()
        if [block.start for block in blocks] != starts[:-1]:
            raise ProgramError(f"the blocks of {what} do not follow each other")
    # `a_1` of size 2 and `a` of size 12 would both have an entry a_1_0 or a_1: names must stay unique.
    all_rows = [*program.row_names, *(row.name for row in program.quadratic_rows)]
    for names, what in ((program.column_names, "variables"), (all_rows, "rows")):
        if len(set(names)) < len(names):
            repeated = next(name for name, count in Counter(names).items() if count > 1)
            raise ProgramError(f"two {what} are called `{repeated}`", remedy="rename one of the blocks")


def _check_name(name: str, what: str) -> None:
    if not NAME.fullmatch(name) or RESERVED.fullmatch(name):
        raise ProgramError(
            f"{name[:60]!r} cannot name {what}",
            remedy="use letters, digits, `_` and `.`, starting with a letter, and no keyword of .lp files",
        )


def _check_shapes(program: Program) -> None:
    columns = sum(block.size for block in program.variables)
    count = sum(block.size for block in program.rows)
    for what, shape, wanted in (
        ("lower", program.lower.shape, (columns,)),
        ("upper", program.upper.shape, (columns,)),
        ("integer", program.integer.shape, (columns,)),
        ("objective", program.objective.shape, (columns,)),
        ("matrix", program.matrix.shape, (count, columns)),
        ("senses", program.senses.shape, (count,)),
        ("rhs", program.rhs.shape, (count,)),
        *((f"{row.name}.linear", row.linear.shape, (columns,)) for row in program.quadratic_rows),
    ):
        if shape != wanted:
            raise ProgramError(f"`{what}` has shape {shape}, expected {wanted}")
    for what, matrix in _quadratic_forms(program):
        if matrix.shape != (columns, columns) or abs(matrix - matrix.T).nnz:
            raise ProgramError(f"{what} needs a symmetric matrix of shape {(columns, columns)}")
    if not np.isin(program.senses, ("<=", ">=", "=")).all():
        raise ProgramError("a row is `<=`, `>=` or `=`")


def _check_numbers(program: Program) -> None:
    arrays = [
        ("the matrix", program.matrix.data),
        ("the right-hand sides", program.rhs),
        ("the objective", program.objective),
        ("the constant", np.array([program.constant])),
        *((what, matrix.data) for what, matrix in _quadratic_forms(program)),
        *((f"row {row.name}", np.append(row.linear, row.bound)) for row in program.quadratic_rows),
    ]
    for what, values in arrays:
        if not np.isfinite(values).all():
            raise ProgramError(f"{what} must be finite", remedy="choose a smaller ball, or scale the network")


def _check_bounds(program: Program) -> None:
    wrong = np.flatnonzero(~(program.lower <= program.upper) | (program.lower == np.inf) | (program.upper == -np.inf))
    if len(wrong):
        i = int(wrong[0])
        raise ProgramError(
            f"variable `{program.column_names[i]}` has bounds [{program.lower[i]}, {program.upper[i]}]",
            remedy="lower must not exceed upper",
        )
    unbounded = program.integer & ~(np.isfinite(program.lower) & np.isfinite(program.upper))
    if unbounded.any():
        name = program.column_names[int(np.argmax(unbounded))]
        raise ProgramError(
            f"integer variable `{name}` is unbounded", remedy="a missing bound is never replaced by a guess"
        )


def _quadratic_forms(program: Program) -> list[tuple[str, csr_array]]:
    forms = [(f"row {row.name}", row.quadratic) for row in program.quadratic_rows]
    return forms if program.quadratic is None else [("the objective", program.quadratic), *forms]
