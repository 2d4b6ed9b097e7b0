"""SCIP: the free solver for quadratic programs, convex or not."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from ircert.backends.answers import carried, fitted, judged, model_program, nonzeros, require_count, whole_bounds
from ircert.backends.base import Limits, Outcome, Progress, Solver, Status
from ircert.ir.arrays import Array, Sparse
from ircert.programs.program import FEATURES, Program

SMALLEST = 1e-9
"""SCIP's `numerics/epsilon`: it takes smaller coefficients for zero, without a word."""

STATUS = {
    "optimal": Status.OPTIMAL,
    "gaplimit": Status.OPTIMAL,
    "infeasible": Status.INFEASIBLE,
    "unbounded": Status.UNBOUNDED,
    "inforunbd": Status.INFEASIBLE_OR_UNBOUNDED,
    "timelimit": Status.TIME_LIMIT,
    "nodelimit": Status.NODE_LIMIT,
    "totalnodelimit": Status.NODE_LIMIT,
    "stallnodelimit": Status.NODE_LIMIT,
    "userinterrupt": Status.INTERRUPTED,
}


class Scip(Solver):
    """SCIP through PySCIPOpt. It uses one thread whatever is asked."""

    name = "scip"
    offers = frozenset(FEATURES)
    package = "pyscipopt"
    extra = "scip"

    def build(self, program: Program) -> Any:
        """A pyscipopt.Model of the program; a quadratic objective is a variable `objective_` above or below it."""
        self.check(program)
        program = model_program(program, self.name, SMALLEST)
        import pyscipopt

        model = pyscipopt.Model()
        model.hideOutput()
        variables = _add_variables(model, program)
        _add_rows(model, program, variables)
        for row in program.quadratic_rows:
            left = _quadratic(row.quadratic, variables) + _linear(row.linear, variables)
            model.addCons(left <= row.bound, name=row.name)
        _set_objective(model, program, variables)
        model.data = variables  # SCIP's own list is sorted by kind
        return model

    def _solve(self, program: Program, limits: Limits) -> Outcome:
        begun = time.monotonic()
        found = fitted(program, self.name, SMALLEST)
        program = found.program
        model = self.build(program)
        _apply(model, limits.since(begun))
        watch = _watch(model, limits)
        started = time.monotonic()
        getattr(model, "optimizeNogil", model.optimize)()  # newer versions let other threads go on meanwhile
        seconds = time.monotonic() - started
        if model.getStatus() == "userinterrupt" and not watch.stopped:
            raise KeyboardInterrupt  # SCIP catches Ctrl-C itself
        return carried(found, _outcome(program, model, seconds))


def _add_variables(model: Any, program: Program) -> list[Any]:
    kinds = np.where(program.binary, "B", np.where(program.integer, "I", "C")).tolist()
    # None is PySCIPOpt's word for no bound.
    lower, upper = ([x if np.isfinite(x) else None for x in ends.tolist()] for ends in whole_bounds(program))
    costs = program.objective.tolist() if program.quadratic is None else [0.0] * program.columns
    columns = zip(program.column_names, kinds, lower, upper, costs, strict=True)
    return [model.addVar(name, kind, low, high, cost) for name, kind, low, high, cost in columns]


def _add_rows(model: Any, program: Program, variables: list[Any]) -> None:
    matrix = program.matrix.copy()
    matrix.eliminate_zeros()
    starts, places, values = matrix.indptr.tolist(), matrix.indices.tolist(), matrix.data.tolist()
    senses, rhs = program.senses.tolist(), program.rhs.tolist()
    count = 0
    for i, name in enumerate(program.row_names):
        low = None if senses[i] == "<=" else rhs[i]
        high = None if senses[i] == ">=" else rhs[i]
        row = _row(model, name, low, high)
        for j, value in zip(places[starts[i] : starts[i + 1]], values[starts[i] : starts[i + 1]], strict=True):
            model.addCoefLinear(row, variables[j], value)
        count += len(model.getValsLinear(row))
    require_count(count, nonzeros(program), Scip.name)


def _row(model: Any, name: str, low: float | None, high: float | None) -> Any:
    """A row without entries, to be filled: much cheaper than adding expressions up."""
    from pyscipopt.scip import Expr, ExprCons

    return model.addCons(ExprCons(Expr(), low, high), name=name)


def _linear(weights: Array, variables: list[Any]) -> Any:
    from pyscipopt import quicksum

    return quicksum(float(weights[j]) * variables[j] for j in np.flatnonzero(weights))


def _quadratic(form: Sparse, variables: list[Any]) -> Any:
    from pyscipopt import quicksum

    entries = form.tocoo()
    rows, columns = (axis.tolist() for axis in entries.coords)
    return quicksum(
        value * variables[i] * variables[j]
        for i, j, value in zip(rows, columns, entries.data.tolist(), strict=True)
        if value
    )


def _set_objective(model: Any, program: Program, variables: list[Any]) -> None:
    """SCIP's objectives are linear: a quadratic one becomes a variable that it bounds."""
    if program.quadratic is not None:
        height = model.addVar("objective_", "C", None, None, 1.0)
        goal = _quadratic(program.quadratic, variables) + _linear(program.objective, variables)
        model.addCons(height <= goal if program.maximise else height >= goal, name="objective_")
    if program.maximise:
        model.setMaximize()
    model.addObjoffset(program.constant)


def _apply(model: Any, limits: Limits) -> None:
    model.setParam("randomization/randomseedshift", limits.seed)
    model.setParam("parallel/maxnthreads", limits.threads)
    if limits.time_limit is not None:
        model.setParam("limits/time", float(limits.time_limit))
    if limits.gap is not None:
        model.setParam("limits/gap", float(limits.gap))
    if limits.tolerance is not None:
        model.setParam("numerics/feastol", float(limits.tolerance))


class _Tell:
    """What the event handler leaves behind."""

    stopped = False


def _watch(model: Any, limits: Limits) -> _Tell:
    from pyscipopt import SCIP_EVENTTYPE, Eventhdlr

    note = _Tell()
    events = (SCIP_EVENTTYPE.BESTSOLFOUND, SCIP_EVENTTYPE.NODESOLVED)

    class Handler(Eventhdlr):  # type: ignore[misc]
        def eventinit(self) -> None:
            for event in events:
                self.model.catchEvent(event, self)

        def eventexit(self) -> None:
            for event in events:
                self.model.dropEvent(event, self)

        def eventexec(self, event: Any) -> None:
            scip = self.model
            known = (scip.getPrimalbound(), scip.getDualbound())
            told = Progress.of(scip.getSolvingTime(), *known, scip.getNNodes())
            if limits.progress is not None and limits.progress(told) and not note.stopped:
                note.stopped = True
                scip.interruptSolve()

    model.includeEventhdlr(Handler(), "ircert", "progress")
    return note


def _outcome(program: Program, model: Any, seconds: float) -> Outcome:
    word = model.getStatus()
    status = STATUS.get(word, Status.UNKNOWN)
    found = model.getNSols() > 0
    return judged(
        program,
        Scip.name,
        status,
        point=_point(model) if found else None,
        # With an epigraph variable SCIP's value may lag behind its point; the bound is what matters.
        value=model.getSolObjVal(model.getBestSol()) if found and program.quadratic is None else None,
        bound=model.getDualbound(),
        nodes=model.getNTotalNodes(),
        seconds=seconds,
        message="" if status is Status.OPTIMAL else word,
    )


def _point(model: Any) -> Array:
    best = model.getBestSol()
    return np.array([model.getSolVal(best, variable) for variable in model.data], dtype=np.float64)
