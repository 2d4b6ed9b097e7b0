"""The paper's mixed-integer program of a fixed ball: a bound on p* that rests on a solver's float bound."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from ircert import backends
from ircert.backends.base import Outcome, Solver
from ircert.domain import Box
from ircert.engines.base import Question
from ircert.errors import IrcertError
from ircert.passes.product import canonical, program
from ircert.programs.program import NONCONVEX_OBJECTIVE, Program
from ircert.query import Norm, Query
from ircert.witness import judge

Pair: TypeAlias = tuple[list[Fraction], list[Fraction]]

DEFAULT = "highs"
WIDEST = 1e7
"""Solvers err where nonzero coefficients are further apart than this: then their bounds are not used."""
MARGIN = 1e-6
LONGEST = 60.0
"""Seconds that a question without a time limit gives to the program."""


@dataclass(frozen=True)
class FarPairs:
    """No pair is further apart than `bound`, if the solver is right; None where it has no bound that counts.

    pair: an exact collision near the solver's best point, if there is one
    """

    bound: float | None
    backend: str
    reason: str | None = None
    pair: Pair | None = None


def far_pairs(question: Question, radius: float, seconds: float, norm: Norm) -> FarPairs:
    """Solve max |x - y| (`pseudo`: |x - c|, `transform`: |g(x) - g(y)|) in a norm of the objective."""
    name = question.backend or DEFAULT
    box = Box(question.low, question.high)
    query = Query(question.problem, question.center, radius, question.norm, question.other, box, norm)
    indicators = "half" if question.problem == "local" and norm == "inf" else "paper"
    try:
        asked = program(question.graph, query, indicators=indicators)  # type: ignore[arg-type]
        trouble = delicate(asked)
        if trouble is not None:
            return FarPairs(None, name, trouble)
        solver = backends.get(name)
        if not isinstance(solver, Solver):
            return FarPairs(None, name, f"`{name}` does not solve programs")
        limit = min(seconds, LONGEST)
        threads = threads_of(question, solver)
        outcome = solver.solve(asked, time_limit=max(limit, 0.1), threads=threads, seed=question.seed)
    except (IrcertError, ArithmeticError) as error:
        return FarPairs(None, name, str(error))
    bound = outcome.bound
    if bound is None or not math.isfinite(bound):
        return FarPairs(None, name, f"the solver has no bound ({outcome.status.value})")
    if norm == "2":
        bound = math.sqrt(max(bound, 0.0))
    return FarPairs(max(bound, 0.0) * (1 + MARGIN) + MARGIN, name, None, _repaired(question, query, asked, outcome))


def _repaired(question: Question, query: Query, asked: Program, outcome: Outcome) -> Pair | None:
    """The solver's pair as an exact collision, if it is one."""
    if outcome.point is None:
        return None
    x = outcome.point[asked.block("x").where].tolist()
    y = question.center.tolist() if question.problem == "pseudo" else outcome.point[asked.block("y").where].tolist()
    found, _ = judge(canonical(question.graph), query, x, y)
    return None if found is None else (found.x, found.y)


def threads_of(question: Question, solver: Solver) -> int:
    """How many a solver may use: HiGHS takes one number of threads within a process, and proofs run it with one."""
    return 1 if solver.name == DEFAULT else question.threads


def takes_squares(question: Question) -> bool:
    """Whether the backend maximises sums of squares."""
    return NONCONVEX_OBJECTIVE in backends.get(question.backend or DEFAULT).offers


def delicate(asked: Program) -> str | None:
    """Why a solver's bound of this program would not be trusted, or None."""
    sizes = np.abs(asked.matrix.data)
    sizes = sizes[sizes > 0]
    if len(sizes) and sizes.max() > WIDEST * sizes.min():
        return f"coefficients from {sizes.min():.1g} to {sizes.max():.1g}: a solver's bound would not be reliable"
    return None
