"""A linear program in floats, kept alive in HiGHS: what it says is a guess, which somebody else proves.

max cost · x  with  low <= A x <= high (rows)  and  low <= x <= high (columns)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from ircert.ir.arrays import Array, Indices
from ircert.limits import OutOfTime, is_over

Status: TypeAlias = Literal["optimal", "infeasible", "stopped", "failed"]
Sides: TypeAlias = tuple[Array, Array]
"""Low and high, perhaps infinite."""

LEAST_SECONDS = 0.01
"""What a program may take when next to no time is left."""


class _Clock:
    """Asked by HiGHS at every iteration whether to stop."""

    def __init__(self) -> None:
        self._error: BaseException | None = None

    def __call__(self, event: Any) -> None:
        try:
            event.data_in.user_interrupt = is_over()
        except BaseException as error:  # Ctrl-C too: it must not run through foreign code
            self._error = error
            event.data_in.user_interrupt = True

    def look(self) -> None:
        """Raise what came up while HiGHS was running."""
        error, self._error = self._error, None
        if error is not None:
            raise error


class LiveProgram:
    """A program whose sides and objective change.

    watched:  every iteration looks at the clock: OutOfTime when it is over
    smallest: coefficients below that are left out
    """

    def __init__(
        self,
        matrix: csr_array,
        rows: Sides,
        columns: Sides,
        *,
        smallest: float = 0.0,
        watched: bool = False,
        **options: Any,
    ) -> None:
        import highspy

        self.api = highspy
        self.solver = highspy.Highs()
        self.set(output_flag=False, threads=1, **options)  # HiGHS takes one number of threads in a process
        if smallest:
            self.set(small_matrix_value=smallest)
            matrix = matrix.copy()
            matrix.data[np.abs(matrix.data) < smallest] = 0.0
            matrix.eliminate_zeros()
        self._clock = _Clock()
        if watched:
            self.solver.cbSimplexInterrupt += self._clock
        self.solver.passModel(self._model(matrix, rows, columns))

    def _model(self, matrix: csr_array, rows: Sides, columns: Sides) -> Any:
        lp = self.api.HighsLp()
        lp.num_row_, lp.num_col_ = matrix.shape
        lp.col_cost_ = np.zeros(lp.num_col_)
        lp.col_lower_, lp.col_upper_ = columns
        lp.row_lower_, lp.row_upper_ = rows
        lp.a_matrix_.format_ = self.api.MatrixFormat.kRowwise
        lp.a_matrix_.num_row_, lp.a_matrix_.num_col_ = matrix.shape
        lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = matrix.indptr, matrix.indices, matrix.data
        return lp

    def set(self, **options: Any) -> None:
        """Options of HiGHS."""
        for name, value in options.items():
            self.solver.setOptionValue(name, value)

    def add_rows(self, rows: Sides, starts: Indices, columns: Indices, values: Array) -> None:
        """More rows, each with its numbers from a start on."""
        parts = starts.astype(np.int32), columns.astype(np.int32), values
        self.solver.addRows(len(starts), *rows, len(values), *parts)

    def set_rows(self, rows: Sides) -> None:
        """Other sides of all rows."""
        self.solver.changeRowsBounds(len(rows[0]), np.arange(len(rows[0]), dtype=np.int32), *rows)

    def set_columns(self, columns: Sides) -> None:
        """Other sides of all variables."""
        self.solver.changeColsBounds(len(columns[0]), np.arange(len(columns[0]), dtype=np.int32), *columns)

    def maximise(self, cost: Array, *, seconds: float = math.inf, goes_on: Callable[[], bool] | None = None) -> Status:
        """Run from the last basis; at the limit of iterations `goes_on` is asked, without it that is a failure."""
        self.solver.changeColsCost(len(cost), np.arange(len(cost), dtype=np.int32), -cost)
        if math.isfinite(seconds):
            self.set(time_limit=self.solver.getRunTime() + max(seconds, LEAST_SECONDS))
        status = self._run()
        while status == self.api.HighsModelStatus.kIterationLimit and goes_on is not None and goes_on():
            status = self._run()  # from where it was
        states = self.api.HighsModelStatus
        if status in (states.kOptimal, states.kInfeasible):
            return "optimal" if status == states.kOptimal else "infeasible"
        self.solver.clearSolver()
        late = status == states.kTimeLimit or (status == states.kIterationLimit and goes_on is not None)
        return "stopped" if late else "failed"

    def _run(self) -> Any:
        self.solver.run()
        self._clock.look()
        status = self.solver.getModelStatus()
        if status == self.api.HighsModelStatus.kInterrupt:
            self.solver.clearSolver()
            raise OutOfTime
        return status

    @property
    def point(self) -> Array:
        """Where it ended."""
        return np.array(self.solver.getSolution().col_value)

    @property
    def multipliers(self) -> Array:
        """Of the rows: at most sides times these, plus what the variables' sides add, is the objective."""
        return -np.array(self.solver.getSolution().row_dual, dtype=np.float64)

    def ray(self) -> Array | None:
        """Multipliers, of either sign, that show that there is no point, as far as floats see; the largest is 1."""
        answer = self.solver.getDualRay()
        ray = np.array(answer[2] if len(answer) > 2 else answer[1], dtype=np.float64)
        if len(ray) != self.solver.getNumRow() or not np.isfinite(ray).all() or not ray.any():
            return None
        return np.asarray(ray / np.abs(ray).max())
