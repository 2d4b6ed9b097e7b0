"""python-mip: its CBC (backend `mip`) and its HiGHS (backend `mip-highs`), always chosen by name.

python-mip has no way to report or stop in the middle of a run: progress is told once, at the end, which is also when
Ctrl-C takes effect, so give a time limit (`certify` runs it in another process, which can be ended); and it does not
count nodes. It is never asked to write files: it rounds coefficients and forgets the sense of the objective.
"""

from __future__ import annotations

import ctypes
import logging
import math
import os
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, ClassVar

import numpy as np

from ircert.backends.answers import (
    carried,
    doubted,
    fitted,
    judged,
    model_program,
    nonzeros,
    require_count,
    whole_bounds,
)
from ircert.backends.base import Limits, Outcome, Progress, Solver, Status
from ircert.errors import BackendError
from ircert.ir.arrays import Array
from ircert.programs.program import BINARIES, INTEGERS, Program

STATUS = {
    "OPTIMAL": Status.OPTIMAL,
    "INFEASIBLE": Status.INFEASIBLE,
    "INT_INFEASIBLE": Status.INFEASIBLE,
    "UNBOUNDED": Status.UNBOUNDED,
    "INF_OR_UNBD": Status.INFEASIBLE_OR_UNBOUNDED,
}
UNFINISHED = frozenset({"FEASIBLE", "NO_SOLUTION_FOUND", "TRUNCATED"})
SENSES = {"<=": "<", ">=": ">", "=": "="}


class Mip(Solver):
    """CBC through python-mip."""

    name = "mip"
    offers = frozenset({BINARIES, INTEGERS})
    package = "mip"
    stops = False
    solver_name: ClassVar[str] = "CBC"
    smallest: ClassVar[float] = 1e-12

    def build(self, program: Program) -> Any:
        """A mip.Model of the program."""
        self.check(program)
        program = model_program(program, self.name, self.smallest)
        self._require_bounds(program)
        mip = _imported()
        # An empty or unknown solver name would silently become another solver.
        model = mip.Model(sense=mip.MAXIMIZE if program.maximise else mip.MINIMIZE, solver_name=self.solver_name)
        model.verbose = 0
        self._prepare(model)
        variables = _add_variables(model, program)
        _add_rows(mip, model, program, variables)
        if program.constant:  # its attribute `objective_const` does nothing with CBC
            model.objective = mip.LinExpr(variables, program.objective.tolist(), program.constant, model.sense)
        self._require_whole(model, program)
        return model

    def _require_bounds(self, program: Program) -> None:
        unbounded = ~(np.isfinite(program.lower) & np.isfinite(program.upper))
        if program.integer.any() and unbounded.any():
            name = program.column_names[int(np.argmax(unbounded))]
            raise BackendError(
                f"variable `{name}` is unbounded, and with integers CBC then crashes or answers wrongly",
                backend=self.name,
                remedy="give it bounds, or use `highs` or `mip-highs`",
            )

    def _prepare(self, model: Any) -> None:
        """Set what must be set before the model is filled."""
        from mip.cbc import cbc_set_parameter

        # Clique strengthening crashes; preprocessing loses the optimum of one program in some thousands.
        cbc_set_parameter(model.solver, "clqstr", "off")
        model.preprocess = 0

    def _require_whole(self, model: Any, program: Program) -> None:
        # CBC's interface puts an explicit zero into each empty row.
        empty = int((np.diff(program.matrix.indptr) == 0).sum())
        count, wanted = model.num_nz, nonzeros(program)
        require_count(count - empty if count == wanted + empty else count, wanted, self.name)

    def _solve(self, program: Program, limits: Limits) -> Outcome:
        begun = time.monotonic()
        found = fitted(program, self.name, self.smallest)
        program = found.program
        model = self.build(program)
        limits = limits.since(begun)
        self._apply(model, limits)
        started = time.monotonic()
        with nullcontext() if program.integer.any() else self._silence():
            word = self._optimize(model, limits)
        seconds = time.monotonic() - started
        if word.name == "ERROR":
            raise BackendError(f"{self.solver_name} failed", backend=self.name, remedy="try another backend")
        status = doubted(program, _status(word.name, limits, seconds))
        outcome = carried(found, self._outcome(program, model, word, status, seconds))
        if limits.progress is not None:
            limits.progress(Progress.of(seconds, outcome.value, outcome.bound, outcome.nodes))
        return outcome

    def _optimize(self, model: Any, limits: Limits) -> Any:
        # An infinite limit is python-mip's word for none.
        return model.optimize(max_seconds=math.inf if limits.time_limit is None else float(limits.time_limit))

    def _silence(self) -> AbstractContextManager[None]:
        return silent_stdout()

    def _apply(self, model: Any, limits: Limits) -> None:
        model.threads, model.seed = limits.threads, limits.seed
        if limits.gap is not None:
            model.max_mip_gap = float(limits.gap)
        if limits.tolerance is not None:
            model.integer_tol = model.infeas_tol = model.opt_tol = float(limits.tolerance)

    def _outcome(self, program: Program, model: Any, word: Any, status: Status, seconds: float) -> Outcome:
        point = _point(model) if word.name in ("OPTIMAL", "FEASIBLE") else None
        value = model.objective_value if point is not None else None
        proved = value if status is Status.OPTIMAL else None
        return judged(
            program,
            self.name,
            status,
            point=point,
            value=value,
            bound=model.objective_bound if program.integer.any() else proved,
            nodes=0,
            seconds=seconds,
            message="" if status is Status.OPTIMAL else word.name.lower().replace("_", " "),
        )


class MipHighs(Mip):
    """HiGHS through python-mip."""

    name = "mip-highs"
    solver_name = "HiGHS"

    def _prepare(self, model: Any) -> None:
        model.solver._set_double_option_value("small_matrix_value", self.smallest)

    def _optimize(self, model: Any, limits: Limits) -> Any:
        from mip.exceptions import InterfacingError

        try:
            return super()._optimize(model, limits)
        except InterfacingError:  # most likely a point that postsolve spoiled, as in the backend `highs`
            model.solver._set_string_option_value("presolve", "off")
            return super()._optimize(model, limits)

    def _silence(self) -> AbstractContextManager[None]:
        return nullcontext()

    def _require_bounds(self, program: Program) -> None:
        """HiGHS needs none."""

    def _require_whole(self, model: Any, program: Program) -> None:
        require_count(model.num_nz, nonzeros(program), self.name)

    def _apply(self, model: Any, limits: Limits) -> None:
        super()._apply(model, limits)
        # python-mip keeps seed and tolerances to itself when its solver is HiGHS.
        solver = model.solver
        solver._set_int_option_value("random_seed", limits.seed)
        if limits.tolerance is not None:
            for kind in ("primal_feasibility", "dual_feasibility", "mip_feasibility"):
                solver._set_double_option_value(f"{kind}_tolerance", float(limits.tolerance))


@contextmanager
def silent_stdout() -> Iterator[None]:
    """Send what C code prints nowhere: CBC talks while it solves an LP, whatever its log level."""
    library = ctypes.CDLL(None) if os.name == "posix" else ctypes.cdll.msvcrt  # type: ignore[attr-defined,unused-ignore]
    if sys.stdout is not None:
        sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        library.fflush(None)  # or C's buffer would come out later
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def _imported() -> Any:
    import mip

    # Its loggers write to stderr about matters that are errors of ours anyway.
    logging.getLogger("mip").setLevel(logging.CRITICAL)
    return mip


def _add_variables(model: Any, program: Program) -> list[Any]:
    columns = zip(
        program.column_names,
        *(bounds.tolist() for bounds in whole_bounds(program)),
        program.objective.tolist(),
        np.where(program.integer, "I", "C").tolist(),
        strict=True,
    )
    return [model.add_var(name, low, high, cost, kind) for name, low, high, cost, kind in columns]


def _add_rows(mip: Any, model: Any, program: Program, variables: list[Any]) -> None:
    matrix = program.matrix.copy()
    matrix.eliminate_zeros()
    starts, places, values = matrix.indptr.tolist(), matrix.indices.tolist(), matrix.data.tolist()
    senses, rhs = program.senses.tolist(), program.rhs.tolist()
    for i, name in enumerate(program.row_names):
        row = slice(starts[i], starts[i + 1])
        terms = [variables[j] for j in places[row]]
        model.add_constr(mip.LinExpr(terms, values[row], -rhs[i], SENSES[senses[i]]), name)


def _status(word: str, limits: Limits, seconds: float) -> Status:
    """Total: python-mip does not say why a search ended early, but the clock does."""
    if word in UNFINISHED and limits.time_limit is not None and seconds >= 0.9 * limits.time_limit:
        return Status.TIME_LIMIT
    return STATUS.get(word, Status.UNKNOWN)


def _point(model: Any) -> Array | None:
    values = [variable.x for variable in model.vars]
    return None if any(value is None for value in values) else np.array(values, dtype=np.float64)
