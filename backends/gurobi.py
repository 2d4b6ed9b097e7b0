"""Gurobi: commercial; the licence that comes with its package solves small programs."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from ircert.backends.answers import carried, fitted, judged, model_program, nonzeros, require_count, whole_bounds
from ircert.backends.base import Limits, Outcome, Progress, Solver, Status
from ircert.errors import BackendError
from ircert.ir.arrays import Array
from ircert.programs.program import FEATURES, Program

SMALLEST = 1e-13
"""Gurobi drops smaller coefficients."""

STATUS = {
    2: Status.OPTIMAL,
    3: Status.INFEASIBLE,
    4: Status.INFEASIBLE_OR_UNBOUNDED,
    5: Status.UNBOUNDED,
    8: Status.NODE_LIMIT,
    9: Status.TIME_LIMIT,
    11: Status.INTERRUPTED,
}
INFEASIBLE_OR_UNBOUNDED, INTERRUPTED = 4, 11
TOO_LARGE = 10010
LICENCE_ERRORS = frozenset({10009, 10015, 10016, 10030, 10031, 10032})
"""No licence, expired, for another version, token and cloud servers that refuse."""


class Gurobi(Solver):
    """Gurobi through gurobipy's matrix interface."""

    name = "gurobi"
    offers = frozenset(FEATURES)
    package = "gurobipy"
    extra = "gurobi"

    def build(self, program: Program) -> Any:
        """A gurobipy.Model of the program."""
        self.check(program)
        program = model_program(program, self.name, SMALLEST)
        import gurobipy

        try:
            return _model(gurobipy, program)
        except gurobipy.GurobiError as error:
            raise _refusal(error) from error

    def _solve(self, program: Program, limits: Limits) -> Outcome:
        import gurobipy

        begun = time.monotonic()
        found = fitted(program, self.name, SMALLEST)
        program = found.program
        model = self.build(program)
        try:
            return carried(found, _run(gurobipy, program, model, limits.since(begun)))
        except gurobipy.GurobiError as error:
            raise _refusal(error) from error
        finally:
            model.dispose()


def _model(gurobipy: Any, program: Program) -> Any:
    with gurobipy.Env(params={"OutputFlag": 0}) as env:
        model = gurobipy.Model(env=env)
    kinds = np.where(program.binary, "B", np.where(program.integer, "I", "C"))
    x = model.addMVar(program.columns, *whole_bounds(program), program.objective, kinds, program.column_names)
    if len(program.rhs):
        matrix = program.matrix.copy()
        matrix.eliminate_zeros()
        senses = np.where(program.senses == "<=", "<", np.where(program.senses == ">=", ">", "="))
        model.addMConstr(matrix, x, senses, program.rhs, program.row_names)
    goal = gurobipy.GRB.MAXIMIZE if program.maximise else gurobipy.GRB.MINIMIZE
    # Copies: gurobipy wants writeable arrays, and a program's are not.
    quadratic = None if program.quadratic is None else program.quadratic.copy()
    model.setMObjective(quadratic, program.objective.copy(), program.constant, x, x, x, goal)
    for row in program.quadratic_rows:
        model.addMQConstr(row.quadratic.copy(), row.linear.copy(), "<", row.bound, x, x, x, row.name)
    model.update()
    require_count(model.NumNZs, nonzeros(program), Gurobi.name)
    return model


def _apply(model: Any, limits: Limits) -> None:
    model.setParam("Threads", limits.threads)
    model.setParam("Seed", limits.seed)
    if limits.time_limit is not None:
        model.setParam("TimeLimit", float(limits.time_limit))
    if limits.gap is not None:
        model.setParam("MIPGap", float(limits.gap))
    if limits.tolerance is not None:
        # Each has a range of its own, narrower than what a caller may ask.
        model.setParam("FeasibilityTol", min(1e-2, max(1e-9, limits.tolerance)))
        model.setParam("OptimalityTol", min(1e-2, max(1e-9, limits.tolerance)))
        model.setParam("IntFeasTol", min(1e-1, max(1e-9, limits.tolerance)))


def _run(gurobipy: Any, program: Program, model: Any, limits: Limits) -> Outcome:
    stopped = []

    def tell(running: Any, where: int) -> None:
        told = _progress(gurobipy.GRB.Callback, running, where)
        if told is not None and limits.progress is not None and limits.progress(told):
            stopped.append(True)
            running.terminate()

    _apply(model, limits)
    started = time.monotonic()
    model.optimize(tell)
    if model.Status == INFEASIBLE_OR_UNBOUNDED:  # ask again in the way that tells which
        model.setParam("DualReductions", 0)
        model.optimize(tell)
    if model.Status == INTERRUPTED and not stopped:
        raise KeyboardInterrupt  # Gurobi catches Ctrl-C itself
    return _outcome(program, model, time.monotonic() - started)


def _progress(code: Any, model: Any, where: int) -> Progress | None:
    if where == code.MIP:
        known = (model.cbGet(code.MIP_OBJBST), model.cbGet(code.MIP_OBJBND))
        return Progress.of(model.cbGet(code.RUNTIME), *known, int(model.cbGet(code.MIP_NODCNT)))
    if where == code.MIPSOL:
        known = (model.cbGet(code.MIPSOL_OBJBST), model.cbGet(code.MIPSOL_OBJBND))
        return Progress.of(model.cbGet(code.RUNTIME), *known, int(model.cbGet(code.MIPSOL_NODCNT)))
    if where in (code.SIMPLEX, code.BARRIER):
        return Progress.of(model.cbGet(code.RUNTIME), None, None, 0)
    return None


def _outcome(program: Program, model: Any, seconds: float) -> Outcome:
    status = STATUS.get(model.Status, Status.UNKNOWN)
    point = _point(model) if model.SolCount else None
    value = model.ObjVal if point is not None else None
    return judged(
        program,
        Gurobi.name,
        status,
        point=point,
        value=value,
        bound=_bound(model, status),
        nodes=int(model.NodeCount) if model.IsMIP else 0,
        seconds=seconds,
        message="" if status is Status.OPTIMAL else f"Gurobi's status {model.Status}",
    )


def _bound(model: Any, status: Status) -> float | None:
    try:
        return float(model.ObjBound)
    except AttributeError:  # a continuous convex program
        return float(model.ObjVal) if status is Status.OPTIMAL else None


def _point(model: Any) -> Array:
    return np.array(model.getAttr("X", model.getVars()), dtype=np.float64)


def _refusal(error: Any) -> BackendError:
    """What Gurobi's error means for the user."""
    if error.errno == TOO_LARGE:
        return BackendError(
            "the program is too large for this Gurobi licence "
            "(the one of its package: 2000 variables, 2000 rows, 200 variables with a quadratic term)",
            backend=Gurobi.name,
            remedy="install a full licence, or use `highs`, or `scip` for quadratic programs",
        )
    if error.errno in LICENCE_ERRORS:
        return BackendError(
            f"there is no valid Gurobi licence ({error})",
            backend=Gurobi.name,
            remedy="install one, or use `highs`, or `scip` for quadratic programs",
        )
    return BackendError(f"Gurobi failed ({error})", backend=Gurobi.name, remedy="try another backend")
