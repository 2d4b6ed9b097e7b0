"""A solver's bound on p* beside the proved one: the paper's mixed-integer program with difference rows."""

from __future__ import annotations

import math

from ircert import backends
from ircert.backends.base import Solver
from ircert.backends.solver_process import expect
from ircert.engines.optimum.bracket import Asked, Bracket
from ircert.engines.optimum.far_pairs import DEFAULT, MARGIN, balanced, threads_of
from ircert.errors import IrcertError
from ircert.limits import Deadline, OutOfTime, until
from ircert.programs.formulations.program import program
from ircert.programs.program import CONVEX_ROWS, NONCONVEX_OBJECTIVE

FORMULATION = "paper{differences=true}"
LEAST = 0.5
"""Seconds that are worth asking for."""


def able_solver(asked: Asked) -> Solver | None:
    """The question's solver (else HiGHS), if it takes the program: planes around a round ball would take too long."""
    solver = backends.get(asked.question.backend or DEFAULT)
    needed = {NONCONVEX_OBJECTIVE: asked.norm == "2", CONVEX_ROWS: asked.question.norm == "2"}
    able = isinstance(solver, Solver) and all(feature in solver.offers for feature, wanted in needed.items() if wanted)
    return solver if able and isinstance(solver, Solver) else None


def solver_bound(asked: Asked, bracket: Bracket, deadline: Deadline) -> str | None:
    """Ask the question's solver (else HiGHS) for a bound, and keep it in the bracket; its name if it gave one.

    Nobody is asked where the bracket is closed, or no time is left, or the solver cannot take such a program.
    """
    question, solver = asked.question, able_solver(asked)
    if solver is None or bracket.is_closed(asked.tol) or deadline.left() < LEAST:
        return None
    try:
        with until(deadline):
            made = balanced(program(question.network.lowered, asked.query(), FORMULATION))
            expect(made.matrix.nnz)
            threads = threads_of(question, solver)
            outcome = solver.solve(made, time_limit=deadline.left(), threads=threads, seed=question.seed)
    except (OutOfTime, IrcertError, ArithmeticError):
        return None
    bound = outcome.bound
    if bound is None or not math.isfinite(bound):
        return None
    length = math.sqrt(max(bound, 0.0)) if asked.norm == "2" else max(bound, 0.0)
    bracket.solver, bracket.solver_bound = solver.name, length * (1 + MARGIN) + MARGIN
    return solver.name
