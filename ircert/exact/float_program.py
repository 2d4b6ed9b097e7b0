"""A linear program in floats, kept alive in HiGHS: what it says of an exact one is a guess at a basis, never a proof.

Rows and columns are scaled by powers of two. Every iteration looks at the clock; a status that is not optimal or
infeasible says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array

from ircert.exact.live_program import LiveProgram
from ircert.exact.rows import NOTHING, Rows, joined_floats, split
from ircert.ir.arrays import Array, Indices, Mask
from ircert.ir.rational import Integers
from ircert.limits import checkpoint

OPTIONS: dict[str, Any] = {
    "presolve": "off",
    "simplex_scale_strategy": 0,  # that is done here
    "primal_feasibility_tolerance": 1e-9,
    "dual_feasibility_tolerance": 1e-7,
}
SMALL, TINY = 1e-9, 1e-12
"""Numbers that HiGHS leaves out by default, in rows whose largest is about 1, and those that are left out here: with
less than its default it fails to see that programs are infeasible, so that it is changed only where that matters."""
FAR = 1e19
"""Limits of rows that are left out."""
FEWEST, TURNS = 10_000, 50
"""A program that takes so many iterations, and so many for each row and variable, goes round in circles: it failed."""
SWEEPS = 2


@dataclass(frozen=True)
class Guess:
    """Where the simplex method ended: the rows and variables that are not basic, the point and its value.

    weights: of rows with several numbers, in the program's scale; they bound the objective 2^-scale c, or show that no
             point satisfies the rows (of either sign, then)
    against: a row that the others contradict
    """

    status: Literal["optimal", "infeasible", "failed"]
    rows: list[int]
    free: list[int]
    point: Array
    value: float = 0.0
    scale: int = 0
    weights: Array | None = None
    against: int | None = None

    def exceeds(self, threshold: Any) -> bool:
        """Whether the value, 2^scale times `value`, is clearly larger than an integer."""
        mantissa, exponent = split(np.array([threshold], dtype=object))
        other = float(joined_floats(mantissa, exponent - self.scale)[0])
        return self.value - other > 1e-9 * (abs(self.value) + abs(other))


class Bounds:
    """Rows with one number, number x_j <= limit: the tightest of each variable."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.rows, self.columns = (np.zeros(0, dtype=np.int64) for _ in range(2))
        self.values, self.equal = np.zeros(0), np.zeros(0, dtype=bool)

    def add(self, rows: Indices, columns: Indices, values: Array, equal: Mask) -> None:
        """More of them, with the row's number."""
        self.rows, self.columns = np.concatenate([self.rows, rows]), np.concatenate([self.columns, columns])
        self.values, self.equal = np.concatenate([self.values, values]), np.concatenate([self.equal, equal])

    def take(self, limits: Array) -> None:
        """The ends, and the rows they come from, for these limits of all rows."""
        with np.errstate(over="ignore"):
            ends = np.clip(limits[self.rows] / self.values, -FAR, FAR)
        self.upper, self.upper_row = self._tightest(ends, (self.values > 0) | self.equal)
        lower, self.lower_row = self._tightest(-ends, (self.values < 0) | self.equal)
        self.lower = -lower

    def _tightest(self, ends: Array, which: Mask) -> tuple[Array, Indices]:
        order = np.flatnonzero(which & (ends < FAR))
        order = order[np.argsort(-ends[order], kind="stable")]  # of several the last one stays: the least
        end, row = np.full(self.width, np.inf), np.full(self.width, -1, dtype=np.int64)
        end[self.columns[order]], row[self.columns[order]] = ends[order], self.rows[order]
        return end, row

    @property
    def crossed(self) -> Guess | None:
        """Two bounds that exclude each other."""
        wrong = np.flatnonzero(self.lower > self.upper)
        if not len(wrong):
            return None
        j, others = int(wrong[0]), [k for k in range(self.width) if k != wrong[0]]
        row, against = int(self.lower_row[j]), int(self.upper_row[j])
        return Guess("infeasible", [row], others, np.zeros(self.width), against=against)

    def missed(self, column: int, values: list[float]) -> int | None:
        """The bound that a variable misses most."""
        high = values[column] - self.upper[column] > self.lower[column] - values[column]
        row = int((self.upper_row if high else self.lower_row)[column])
        return None if row < 0 else row


class FloatProgram:
    """max cost · x subject to rows; rows can be added, and it can be looked at from close by.

    Rows with one number are bounds of variables.
    """

    def __init__(self, rows: Rows) -> None:
        _, exponents = split(rows.numbers)
        self._row_exponents, self._column_exponents = _scales(rows, exponents)
        free, none = np.full(rows.width, np.inf), np.zeros(0)
        self._live = LiveProgram(csr_array((0, rows.width)), (none, none), (-free, free), watched=True, **OPTIONS)
        self._equal, self._limits = np.zeros(0, dtype=bool), np.zeros(0)
        self._long = np.zeros(0, dtype=np.int64)
        self._bounds = Bounds(rows.width)
        self._entries: list[tuple[Indices, Indices, Array]] = []
        self._current = False
        self._pass(rows, self._row_exponents)

    def add(self, rows: Rows) -> None:
        """More rows."""
        scales = _largest(rows, split(rows.numbers)[1] - self._column_exponents[rows.columns])
        self._row_exponents = np.concatenate([self._row_exponents, scales])
        self._pass(rows, scales)

    def _pass(self, rows: Rows, scales: Indices) -> None:
        first = len(self._equal)
        self._equal = np.concatenate([self._equal, rows.equal])
        self._limits = np.concatenate([self._limits, _scaled(rows.limits, scales)])
        short = rows.lengths == 1
        long = np.flatnonzero(~short)
        self._pass_long(rows.take(long), scales[long], first + long)
        bounds = rows.take(np.flatnonzero(short))
        sizes = split(bounds.numbers)
        values = joined_floats(sizes[0], sizes[1] - self._column_exponents[bounds.columns] - scales[short])
        self._bounds.add(first + np.flatnonzero(short), bounds.columns, values, bounds.equal)
        self._current = False

    def _pass_long(self, rows: Rows, scales: Indices, numbers: Indices) -> None:
        mantissas, exponents = split(rows.numbers)
        values = joined_floats(mantissas, exponents - self._column_exponents[rows.columns] - scales[rows.owners])
        kept = np.abs(values) >= TINY
        if (np.abs(values[kept]) < SMALL).any():
            self._live.set(small_matrix_value=TINY)
        owners, columns, values = rows.owners[kept], rows.columns[kept], values[kept]
        starts = np.searchsorted(owners, np.arange(len(rows)))
        self._live.add_rows(_ends(_scaled(rows.limits, scales), rows.equal), starts, columns, values)
        self._entries.append((owners + len(self._long), columns, values))
        self._long = np.concatenate([self._long, numbers])

    @property
    def row_exponents(self) -> Indices:
        """What rows are scaled by."""
        return self._row_exponents

    def violations(self, slacks: Integers, below: Any) -> Indices:
        """About log2 of what rows miss their limits by, in the program's scale; slacks / below are the exact gaps."""
        exponents = split(slacks)[1] - below.bit_length() - self._row_exponents
        bad = np.array([s < 0 for s in slacks], dtype=bool)
        return np.where(bad, exponents, NOTHING)

    def maximise(self, objective: Integers) -> Guess:
        """Run from the last basis; OutOfTime where the limit comes."""
        if not self._current:
            self._change(self._limits)
            self._current = True
        return self._solved(objective)

    def closer(self, objective: Integers, slacks: Integers, below: Any, shift: int) -> Guess:
        """The same around a point, 2^shift times as large; slacks / below are its gaps."""
        mantissas, exponents = split(slacks)
        top, bottom = split(np.array([below], dtype=object))
        self._change(joined_floats(mantissas / top[0], exponents - bottom[0] - self._row_exponents + shift))
        self._current = False
        return self._solved(objective)

    def _change(self, limits: Array) -> None:
        self._live.set_rows(_ends(limits[self._long], self._equal[self._long]))
        self._bounds.take(limits)
        self._live.set_columns((self._bounds.lower, self._bounds.upper))

    def _solved(self, objective: Integers) -> Guess:
        if self._bounds.crossed is not None:
            return self._bounds.crossed
        mantissas, exponents = split(objective)
        exponents = exponents - self._column_exponents
        scale = int(exponents.max()) if mantissas.any() else 0
        cost = joined_floats(mantissas, exponents - scale)
        checkpoint()
        self._live.set(simplex_iteration_limit=FEWEST + TURNS * (len(cost) + len(self._long)))
        status = self._live.maximise(cost)
        if status not in ("optimal", "infeasible"):
            return Guess("failed", [], [], np.zeros(len(cost)))
        inner = self._live.point
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            point = np.ldexp(inner, np.clip(-self._column_exponents, -4000, 4000))
        if status == "optimal":
            weights = self._spread(self._live.multipliers)
            return Guess("optimal", *self._nonbasic(), point, float(cost @ inner), scale, weights)
        ray = self._live.ray()
        if ray is None:
            return Guess("infeasible", *self._nonbasic(), point)
        return Guess("infeasible", *self._nonbasic(), point, weights=self._spread(ray), against=self._against(ray))

    def _spread(self, values: Array) -> Array:
        """For all rows what is known of the long ones."""
        result = np.zeros(len(self._equal))
        result[self._long] = values
        return result

    def _nonbasic(self) -> tuple[list[int], list[int]]:
        """Rows, and variables that are not at a bound."""
        basis, states = self._live.solver.getBasis(), self._live.api.HighsBasisStatus
        rows = [int(self._long[i]) for i, state in enumerate(basis.row_status) if state != states.kBasic]
        free = []
        for j, state in enumerate(basis.col_status):
            if state != states.kBasic:
                at = int((self._bounds.upper_row if state == states.kUpper else self._bounds.lower_row)[j])
                if at < 0:
                    free.append(j)
                else:
                    rows.append(at)
        return rows, free

    def _times(self, ray: Array) -> Array:
        """ray · rows."""
        result = np.zeros(self._bounds.width)
        for owners, columns, values in self._entries:
            np.add.at(result, columns, values * ray[owners])
        return result

    def _against(self, ray: Array) -> int | None:
        """The one row of a dual ray that is basic, or bound of a basic variable: the others contradict it."""
        basis, basic = self._live.solver.getBasis(), self._live.api.HighsBasisStatus.kBasic
        rows, columns = (
            np.abs(values) * np.array([state == basic for state in states], dtype=bool)
            for values, states in ((ray, basis.row_status), (self._times(ray), basis.col_status))
        )
        if rows.max(initial=0.0) >= columns.max(initial=0.0):
            return int(self._long[np.argmax(rows)]) if rows.any() else None
        return self._bounds.missed(int(np.argmax(columns)), self._live.point.tolist())


def _scales(rows: Rows, exponents: Indices) -> tuple[Indices, Indices]:
    """Exponents of rows and columns, without which the largest number of each row is about 1, and of most columns."""
    columns = np.zeros(rows.width, dtype=np.int64)
    for _ in range(SWEEPS):
        owners = _largest(rows, exponents - columns[rows.columns])
        columns = np.full(rows.width, NOTHING, dtype=np.int64)
        np.maximum.at(columns, rows.columns, exponents - owners[rows.owners])
        columns[columns == NOTHING] = 0
    return _largest(rows, exponents - columns[rows.columns]), columns


def _largest(rows: Rows, exponents: Indices) -> Indices:
    """Of each row."""
    result = np.full(len(rows), NOTHING, dtype=np.int64)
    np.maximum.at(result, rows.owners, exponents)
    return np.where(result == NOTHING, 0, result)


def _scaled(limits: Integers, scales: Indices) -> Array:
    mantissas, exponents = split(limits)
    return joined_floats(mantissas, exponents - scales)


def _ends(values: Array, equal: Mask) -> tuple[Array, Array]:
    upper = np.where(values > FAR, np.inf, np.maximum(values, -FAR))
    return np.where(equal, np.clip(values, -FAR, FAR), -np.inf), np.where(equal, np.clip(values, -FAR, FAR), upper)
