"""What the writers of .lp and .mps files share: exact numbers, rows in chunks, the header, and whole files or none."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array, vstack

from ircert import __version__
from ircert.errors import BackendError, CoefficientWarning
from ircert.ir.arrays import Array, Sparse
from ircert.programs.program import FEATURES, Program

OBJECTIVE = "obj"
CONSTANT = "one"
"""Names that no variable or row can have: those of blocks end in a number, those of quadratic rows are checked."""

WRITTEN = frozenset(FEATURES)
CHUNK = 1 << 13
WIDTH = 100
SMALL, SMALLER, TINY, LARGE, INFINITE = 1e-9, 1e-10, 1e-13, 1e15, 1e20
"""Measured: HiGHS and SCIP drop coefficients up to SMALL, COPT up to SMALLER, Gurobi up to TINY; HiGHS refuses them
from LARGE on. SCIP sets bounds up to SMALL to 0. Bounds and right-hand sides from INFINITE on mean infinity."""


@dataclass(frozen=True)
class Form:
    """A program as it is written: maximise or minimise sign * (its objective)."""

    program: Program
    sign: float = 1.0

    @property
    def maximise(self) -> bool:
        """Whether the file maximises."""
        return self.program.maximise == (self.sign > 0)

    @property
    def constant(self) -> float | None:
        """The coefficient of the fixed variable that stands for the constant; None if there is no such variable."""
        needed = self.program.constant or not self.program.columns
        return self.sign * self.program.constant if needed else None


def number(value: float) -> str:
    """The shortest decimal that reads back as this double; zero has no sign."""
    return repr(float(value) + 0.0)


def stored_rows(matrix: Sparse) -> Iterator[tuple[int, list[int], list[float]]]:
    """Each row's number, columns and values without zeros; only a chunk of the entries is a Python object at a time."""
    ends = matrix.indptr
    for start, stop in _row_ranges(ends):
        first, last = int(ends[start]), int(ends[stop])
        columns, values = matrix.indices[first:last].tolist(), matrix.data[first:last].tolist()
        places = (ends[start : stop + 1] - first).tolist()
        for i, (a, b) in enumerate(pairwise(places), start):
            yield i, columns[a:b], values[a:b]


def _row_ranges(ends: np.ndarray[Any, Any]) -> Iterator[tuple[int, int]]:
    """Ranges of rows with about CHUNK entries together (a longer row is a range of its own) and at most CHUNK rows."""
    start, count = 0, len(ends) - 1
    while start < count:
        fitting = int(np.searchsorted(ends, ends[start] + CHUNK, side="right")) - 1
        stop = min(max(fitting, start + 1), start + CHUNK, count)
        yield start, stop
        start = stop


def slices(count: int) -> Iterator[slice]:
    """0 … count in chunks."""
    return (slice(start, min(start + CHUNK, count)) for start in range(0, count, CHUNK))


def tidy(matrix: Sparse) -> Sparse:
    """The same matrix as sorted rows without zeros or repeated entries; copied only if it is not so already."""
    if matrix.has_canonical_format and matrix.data.all():
        return matrix
    copy = matrix.copy()
    copy.sum_duplicates()
    copy.eliminate_zeros()
    return copy


def triangle(matrix: Sparse, diagonal: float, beside: float) -> Sparse:
    """The upper triangle, its diagonal and the entries beside it multiplied by powers of two (so exactly)."""
    entries = tidy(matrix).tocoo()
    rows, columns = entries.coords
    kept = rows <= columns
    values = entries.data[kept] * np.where(rows[kept] == columns[kept], diagonal, beside)
    return coo_array((values, (rows[kept], columns[kept])), shape=matrix.shape).tocsr()


def all_rows(program: Program) -> Sparse:
    """The linear rows followed by the linear parts of the quadratic rows."""
    parts = [csr_array(row.linear.reshape(1, -1)) for row in program.quadratic_rows]
    return tidy(vstack([program.matrix, *parts], format="csr") if parts else program.matrix)


def objective_goal(form: Form) -> str:
    """A line for readers of the file: how its optimum relates to the program's."""
    goal = "maximise" if form.program.maximise else "minimise"
    return goal if form.sign > 0 else f"{goal}, written as minimising the negative: the optimum has the opposite sign"


def header(form: Form, mark: str) -> Iterator[str]:
    """Comment lines that say what the file is; `mark` starts a comment."""
    program = form.program
    integers = int(program.integer.sum())
    facts = [f"ircert {__version__}", *(f"{key}: {value}" for key, value in program.about.items())]
    facts.append(f"goal: {objective_goal(form)}")
    facts.append(
        f"size: {program.columns} variables, {integers} of them integer, {len(program.rhs)} linear rows, "
        f"{program.matrix.nnz} nonzeros, {len(program.quadratic_rows)} quadratic rows"
    )
    facts += [f"note: this file is exact, but its readers change {remark}" for remark in _remarks(program)]
    for fact in facts:
        plain = " ".join(fact.split()).encode("ascii", "backslashreplace").decode()
        yield from (f"{mark} {plain[i : i + WIDTH]}\n" for i in range(0, max(len(plain), 1), WIDTH))


def check_numbers(program: Program, backend: str) -> None:
    """Raise if a number cannot be written; one CoefficientWarning for those that readers change."""
    if any(len(d) and np.abs(d).max() > np.finfo(np.float64).max / 4 for d in _quadratic_data(program)):
        raise BackendError("a quadratic coefficient is too large to be written", backend=backend)
    remarks = _remarks(program)
    if remarks:
        text = f"the file is exact, but its readers change numbers: {'; '.join(remarks)}"
        warnings.warn(text, CoefficientWarning, stacklevel=4)  # whoever called `emit`


def _quadratic_data(program: Program) -> list[Array]:
    forms = [row.quadratic.data for row in program.quadratic_rows]
    return forms + ([program.quadratic.data] if program.quadratic is not None else [])


def _remarks(program: Program) -> list[str]:
    """How many numbers readers change, and who does what."""
    linear = [program.matrix.data, program.objective, *(row.linear for row in program.quadratic_rows)]
    doubled = [2.0 * data for data in _quadratic_data(program)]  # as they are written for the objective
    counted = zip(*map(_extremes, [*linear, *doubled]), strict=True)
    small, smaller, tiny, large = (sum(counts) for counts in counted)
    sides = [program.rhs, program.lower, program.upper, np.array([row.bound for row in program.quadratic_rows])]
    endless = sum(map(_endless, sides))
    near = _extremes(program.lower)[0] + _extremes(program.upper)[0]
    remarks = {
        f"{small} coefficients up to {SMALL:g} in size, which HiGHS and SCIP drop": small,
        f"{smaller} up to {SMALLER:g}, which COPT drops too": smaller,
        f"{tiny} up to {TINY:g}, which Gurobi drops too": tiny,
        f"{large} coefficients from {LARGE:g} on, which HiGHS refuses": large,
        f"{near} bounds up to {SMALL:g} in size, which SCIP takes for 0": near,
        f"{endless} finite bounds or right-hand sides from {INFINITE:g} on, which readers take for infinite": endless,
    }
    return [remark for remark, count in remarks.items() if count]


def _endless(values: Array) -> int:
    return sum(int((np.isfinite(values[s]) & (np.abs(values[s]) >= INFINITE)).sum()) for s in slices(len(values)))


def _extremes(values: Array) -> tuple[int, int, int, int]:
    small = smaller = tiny = large = 0
    for part in slices(len(values)):
        sizes = np.abs(values[part])
        small += int(((sizes <= SMALL) & (sizes > 0)).sum())
        smaller += int(((sizes <= SMALLER) & (sizes > 0)).sum())
        tiny += int(((sizes <= TINY) & (sizes > 0)).sum())
        large += int((sizes >= LARGE).sum())
    return small, smaller, tiny, large
