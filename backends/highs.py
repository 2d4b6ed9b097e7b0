"""HiGHS: the free solver that comes with ircert, given a program as sparse arrays in one call."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

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
from ircert.programs.relaxation import Relaxation

SMALLEST = 1e-12
"""The least value of HiGHS's option `small_matrix_value`: smaller entries are dropped with a mere warning."""

STATUS = {
    "kOptimal": Status.OPTIMAL,
    "kModelEmpty": Status.OPTIMAL,
    "kInfeasible": Status.INFEASIBLE,
    "kUnbounded": Status.UNBOUNDED,
    "kUnboundedOrInfeasible": Status.INFEASIBLE_OR_UNBOUNDED,
    "kTimeLimit": Status.TIME_LIMIT,
    "kSolutionLimit": Status.NODE_LIMIT,
    "kInterrupt": Status.INTERRUPTED,
    "kHighsInterrupt": Status.INTERRUPTED,
}


class Highs(Solver):
    """HiGHS through highspy. Its quadratic programming is left out: it does not go with integers."""

    name = "highs"
    offers = frozenset({BINARIES, INTEGERS})
    package = "highspy"

    def build(self, program: Program) -> Any:
        """A highspy.Highs that holds the program."""
        self.check(program)
        program = model_program(program, self.name, SMALLEST)
        import highspy

        model = highspy.Highs()
        _set(model, output_flag=False, small_matrix_value=SMALLEST)
        if model.passModel(_linear_program(program)) == highspy.HighsStatus.kError:
            raise BackendError("HiGHS refuses the model", backend=self.name)
        # A warning is not an error, but dropped entries are: the numbers decide.
        require_count(model.getNumNz(), nonzeros(program), self.name)
        return model

    def _solve(self, program: Program, limits: Limits) -> Outcome:
        begun = time.monotonic()
        found = fitted(program, self.name, SMALLEST)
        program = found.program
        model = self.build(program)
        _apply(model, limits.since(begun))
        started = time.monotonic()
        _subscribe(model, limits, found, started)
        _run(model)
        return carried(found, _outcome(program, model, time.monotonic() - started))


def _linear_program(program: Program) -> Any:
    import highspy

    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = program.columns, len(program.rhs)
    lp.col_cost_, lp.offset_ = program.objective, program.constant
    lp.sense_ = highspy.ObjSense.kMaximize if program.maximise else highspy.ObjSense.kMinimize
    lp.col_lower_, lp.col_upper_ = whole_bounds(program)
    lp.row_lower_ = np.where(program.senses == "<=", -np.inf, program.rhs)
    lp.row_upper_ = np.where(program.senses == ">=", np.inf, program.rhs)
    matrix = program.matrix.copy()
    matrix.eliminate_zeros()
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.num_col_, lp.a_matrix_.num_row_ = program.columns, len(program.rhs)
    lp.a_matrix_.start_, lp.a_matrix_.index_ = matrix.indptr, matrix.indices
    lp.a_matrix_.value_ = matrix.data
    if program.integer.any():
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        lp.integrality_ = [kinds[flag] for flag in program.integer.tolist()]
    lp.col_names_, lp.row_names_ = program.column_names, program.row_names
    return lp


def _set(model: Any, **options: Any) -> None:
    import highspy

    for name, value in options.items():
        if model.setOptionValue(name, value) != highspy.HighsStatus.kOk:
            raise BackendError(f"HiGHS does not take {name}={value!r}", backend=Highs.name)


def _apply(model: Any, limits: Limits) -> None:
    _set(model, threads=limits.threads, random_seed=limits.seed)
    if limits.time_limit is not None:
        _set(model, time_limit=float(limits.time_limit))
    if limits.gap is not None:
        _set(model, mip_rel_gap=float(limits.gap))
    if limits.tolerance is not None:
        tolerance = float(limits.tolerance)
        _set(model, primal_feasibility_tolerance=tolerance, dual_feasibility_tolerance=tolerance)
        _set(model, mip_feasibility_tolerance=tolerance)


def _subscribe(model: Any, limits: Limits, found: Relaxation, started: float) -> None:
    is_mip = bool(found.program.integer.any())

    def told(event: Any) -> Progress:
        data = event.data_out
        # What these fields hold during an LP is neither; its running time is -1.
        value, bound = (data.mip_primal_bound, data.mip_dual_bound) if is_mip else (None, None)
        return Progress.of(time.monotonic() - started, value, bound, data.mip_node_count)

    def tell(event: Any) -> None:
        assert limits.progress is not None
        if limits.progress(told(event)):
            event.data_in.user_interrupt = True

    def show(event: Any) -> None:
        assert limits.progress is not None
        point = found.point(np.array(event.data_out.mip_solution, dtype=np.float64))
        limits.progress(replace(told(event), point=point))

    if limits.progress is not None:
        callbacks = [model.cbSimplexInterrupt, model.cbIpmInterrupt]
        for callback in [model.cbMipInterrupt] if is_mip else callbacks:
            callback.subscribe(tell)
        if is_mip:
            model.cbMipImprovingSolution.subscribe(show)


def _run(model: Any) -> None:
    """Run; where postsolve spoiled the point, which HiGHS calls a solve error, once more without presolve."""
    from highspy import HighsStatus

    if model.run() != HighsStatus.kError:
        return
    if model.getModelStatus().name == "kSolveError":
        _set(model, presolve="off")
        model.clearSolver()
        if model.run() != HighsStatus.kError:
            return
    # Its scheduler could be renewed for another number of threads, but HiGHS then hangs or crashes at times.
    raise BackendError(
        "HiGHS failed",
        backend=Highs.name,
        remedy="within one process it takes only one number of threads; else try another backend",
    )


def _outcome(program: Program, model: Any, seconds: float) -> Outcome:
    info, word = model.getInfo(), model.getModelStatus()
    status = doubted(program, STATUS.get(word.name, Status.UNKNOWN))
    point = _point(model, info)
    value = info.objective_function_value if point is not None else None
    return judged(
        program,
        Highs.name,
        status,
        point=point,
        value=value,
        # Without integers HiGHS has no dual bound of its own; at an optimum of an LP it is the value.
        bound=info.mip_dual_bound if program.integer.any() else (value if status is Status.OPTIMAL else None),
        nodes=max(0, info.mip_node_count),
        seconds=seconds,
        message="" if status is Status.OPTIMAL else model.modelStatusToString(word),
    )


def _point(model: Any, info: Any) -> Array | None:
    import highspy

    if info.primal_solution_status != int(highspy.SolutionStatus.kSolutionStatusFeasible):
        return None
    return np.array(model.getSolution().col_value, dtype=np.float64)
