"""Points of small programs: whether values satisfy every row, and what an objective can reach."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ircert import backends
from ircert.backends.base import Solver, Status
from ircert.programs.program import Program

SLACK = 1e-9


def holds(program: Program, **values: Any) -> bool:
    """Whether values for all blocks (dots in their names written as `_`) satisfy bounds, rows and quadratic rows."""
    point = np.concatenate([np.asarray(values[block.name.replace(".", "_")], float) for block in program.variables])
    low, high = program.sides
    rows = program.matrix @ point
    good = (point >= program.lower - SLACK).all() and (point <= program.upper + SLACK).all()
    good = good and (rows >= low - SLACK).all() and (rows <= high + SLACK).all()
    return bool(good) and all(
        point @ (row.quadratic @ point) + row.linear @ point <= row.bound + SLACK for row in program.quadratic_rows
    )


def fixed(program: Program, **values: Any) -> Program:
    """The program with some blocks at given values."""
    lower, upper = program.lower.copy(), program.upper.copy()
    for name, numbers in values.items():
        where = program.block(name).where
        lower[where] = upper[where] = numbers
    return replace(program, lower=lower, upper=upper)


def optimum(program: Program) -> float | None:
    """The optimum that HiGHS finds; None if the program has no point."""
    solver = backends.get("highs")
    assert isinstance(solver, Solver)
    outcome = solver.solve(program, time_limit=60)
    if outcome.status is Status.INFEASIBLE:
        return None
    assert outcome.status is Status.OPTIMAL
    assert outcome.value is not None
    return outcome.value


def extremes(program: Program, name: str) -> tuple[float, float] | None:
    """The least and the largest value of the first variable of a block; None if the program has no point."""
    objective = np.zeros(program.columns)
    objective[program.block(name).start] = 1.0
    least, most = (optimum(replace(program, objective=objective, maximise=way)) for way in (False, True))
    return None if least is None or most is None else (least, most)
