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
from ircert.programs.program import NONCONVEX_OBJECTIVE

FORMULATION = "paper{differences=true}"
LEAST = 0.5
"""Seconds that are worth asking for."""


def solver_bound(asked: Asked, bracket: Bracket, deadline: Deadline) -> str | None:
    """Ask the question's solver (else HiGHS) for a bound, and keep it in the bracket; its name if it gave one.

    Nobody is asked where the bracket is closed, or no time is left, or the solver cannot take such a program.
    """
    question = asked.question
    if bracket.is_closed(asked.tol) or deadline.left() < LEAST:
        return None
    solver = backends.get(question.backend or DEFAULT)
    squares = asked.norm == "2"
    if not isinstance(solver, Solver) or (squares and NONCONVEX_OBJECTIVE not in solver.offers):
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
    length = math.sqrt(max(bound, 0.0)) if squares else max(bound, 0.0)
    bracket.solver, bracket.solver_bound = solver.name, length * (1 + MARGIN) + MARGIN
    return solver.name
