"""The paper's mixed-integer program of a fixed ball: a bound on p* that rests on a solver's float bound."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from ircert import backends
from ircert.backends.base import Outcome, Solver
from ircert.backends.solver_process import expect
from ircert.engines.base import Question
from ircert.engines.optimum.climb import climbed
from ircert.errors import IrcertError
from ircert.geometry.domain import Box
from ircert.geometry.norm import Norm
from ircert.ir.arrays import nonzeros
from ircert.ir.ops import Affine
from ircert.limits import Deadline, OutOfTime, checkpoint, until
from ircert.programs.formulations.program import program
from ircert.programs.program import NONCONVEX_OBJECTIVE, Program
from ircert.programs.relaxation import relaxed
from ircert.questions.query import Query
from ircert.result.witness import length
from ircert.witnesses.replay import judge

Pair: TypeAlias = tuple[list[Fraction], list[Fraction]]

DEFAULT = "highs"
WIDEST = 1e7
"""Solvers err where nonzero coefficients are further apart than this: then their bounds are not used."""
POINTS = ("x", "y", "v")
"""Blocks of variables that are read from a solution."""
MARGIN = 1e-6
WORK = 0.8
"""The part of the time that is used: what is found has to be evaluated exactly once more."""
CLIMB = 0.25
"""The part of the time for climbing from a known collision, and at least that much for doing so from the solver's."""
REPAIR = 1.0
"""Seconds for making a pair exact where a climb took all the time."""
CLOSE = 1e-6
"""A pair that falls short of a bound by no more than this share reaches it."""
NO_TIME = "there was no time for the program"
LONGEST = 60.0
"""Seconds that a question without a time limit gives to the program."""


@dataclass(frozen=True)
class FarPairs:
    """No pair is further apart than `bound`, if the solver is right; None where it has no bound that counts.

    backend: the solver that answered, None where none did
    pair:    the exact collision that is furthest apart among those found, if there is one
    near:    the solver's pair itself, which collides up to its tolerance
    """

    bound: float | None
    backend: str | None
    reason: str | None = None
    pair: Pair | None = None
    near: Pair | None = None


def far_pairs(question: Question, radius: float, seconds: float, norm: Norm, known: Pair | None = None) -> FarPairs:
    """Solve max |x - y| (`pseudo`: |x - c|, `transform`: |g(x) - g(y)|) in a norm of the objective.

    From the solver's pair, and from a known collision, linear programs climb to pairs that are further apart. Where
    these reach what the ball itself allows no solver is asked.
    """
    expect(_size(question))
    deadline = Deadline(WORK * (seconds if seconds < math.inf else LONGEST))
    most = question.trivial_bound(radius)
    share = CLIMB if norm == question.norm else 1 - CLIMB  # the solver says little about another norm
    found = None if known is None else _climbed(question, radius, known, most, Deadline(share * deadline.left()))
    if found is not None and most is not None and separation(question, *found) >= most * (1 - CLOSE):
        return FarPairs(None, None, None, found)
    box = Box(question.low, question.high)
    query = Query(question.problem, question.center, radius, question.norm, question.other, box, norm)
    far, near = _solved(question, query, Deadline((1 - CLIMB) * deadline.left()))
    far = replace(far, near=near)
    near = None if near is None else _repaired(question, query, near, deadline)
    if near is not None and known is not None:
        near = _climbed(question, radius, near, most, deadline)
    pairs = [pair for pair in (found, near) if pair is not None]
    if len(pairs) == 2:
        pairs.sort(key=lambda pair: separation(question, *pair))
    return replace(far, pair=pairs[-1] if pairs else None)


def _size(question: Question) -> int:
    """About how many nonzeros the program will have: the weights of both copies."""
    weights = [node.op.weight for node in question.graph.nodes if isinstance(node.op, Affine)]
    return (1 if question.problem == "pseudo" else 2) * sum(nonzeros(weight).nnz for weight in weights)


def _solved(question: Question, query: Query, deadline: Deadline) -> tuple[FarPairs, Pair | None]:
    """The solver's bound, and its pair in floats."""
    name = question.backend or DEFAULT
    norm = query.objective_norm
    indicators = "half" if question.problem == "local" and norm == "inf" else "paper"
    try:
        with until(deadline):
            checkpoint()
            asked = balanced(program(question.graph, query, indicators=indicators))  # type: ignore[arg-type]
        solver = backends.get(name)
        if not isinstance(solver, Solver):
            return FarPairs(None, None, f"`{name}` does not solve programs"), None
        if deadline.passed():
            return FarPairs(None, None, NO_TIME), None
        threads = threads_of(question, solver)
        outcome = solver.solve(asked, time_limit=deadline.left(), threads=threads, seed=question.seed)
    except OutOfTime:
        return FarPairs(None, None, NO_TIME), None
    except (IrcertError, ArithmeticError) as error:
        return FarPairs(None, None, str(error)), None
    bound, near = outcome.bound, _pair(question, asked, outcome)
    if bound is None or not math.isfinite(bound):
        return FarPairs(None, name, f"the solver has no bound ({outcome.status.value})"), near
    if norm == "2":
        bound = math.sqrt(max(bound, 0.0))
    return FarPairs(max(bound, 0.0) * (1 + MARGIN) + MARGIN, name), near


def _pair(question: Question, asked: Program, outcome: Outcome) -> Pair | None:
    if outcome.point is None:
        return None
    x, y = (
        question.center if name == "y" and question.problem == "pseudo" else outcome.point[asked.block(name).where]
        for name in ("x", "y")
    )
    return [Fraction(v) for v in x.tolist()], [Fraction(v) for v in y.tolist()]


def _repaired(question: Question, query: Query, near: Pair, deadline: Deadline) -> Pair | None:
    """An exact collision near a pair; None if there is none, or no time for it, or floats do not hold the numbers."""
    try:
        with until(deadline):
            found, _ = judge(question.network.lowered, query, *near)
    except ArithmeticError:
        return None
    return None if found is None else (found.x, found.y)


def farther(question: Question, radius: float, pair: Pair, seconds: float) -> Pair:
    """An exact collision at least as far apart as a given one, by linear programs and no solver's word."""
    return _climbed(question, radius, pair, question.trivial_bound(radius), Deadline(seconds))


def _climbed(question: Question, radius: float, start: Pair, most: float | None, deadline: Deadline) -> Pair:
    """The exact collision at the end of a climb from a given one, or that one."""
    box = Box(question.low, question.high)
    query = Query(question.problem, question.center, radius, question.norm, question.other, box)
    enough = math.inf if most is None else most
    try:
        with until(deadline):
            end = climbed(question.network.lowered, query, start, enough)
    except ArithmeticError:
        return start
    found = _repaired(question, query, end, Deadline(min(REPAIR, question.deadline.left())))
    return start if found is None or separation(question, *found) < separation(question, *start) else found


def separation(question: Question, x: list[Fraction], y: list[Fraction]) -> float:
    """The norm of x - y, or of g(x) - g(y) (`transform`)."""
    other = question.other
    apart = (x, y) if other is None else (list(other.exact(x)), list(other.exact(y)))
    return length(question.norm, *apart)


def threads_of(question: Question, solver: Solver) -> int:
    """How many a solver may use: HiGHS takes one number of threads within a process, and proofs run it with one."""
    return 1 if solver.name == DEFAULT else question.threads


def takes_squares(question: Question) -> bool:
    """Whether the backend maximises sums of squares."""
    return NONCONVEX_OBJECTIVE in backends.get(question.backend or DEFAULT).offers


def balanced(asked: Program) -> Program:
    """The program, or where coefficients are far apart a relaxation in which they are not; points are in their units.

    ProgramError where there is none.
    """
    if delicate(asked) is None:
        return asked
    return relaxed(asked, 2.0 / WIDEST, math.inf, normal=True, keep=POINTS).program


def delicate(asked: Program) -> str | None:
    """Why a solver's bound of this program would not be trusted, or None."""
    sizes = np.abs(asked.matrix.data)
    sizes = sizes[sizes > 0]
    if len(sizes) and sizes.max() > WIDEST * sizes.min():
        return f"coefficients from {sizes.min():.1g} to {sizes.max():.1g}: a solver's bound would not be reliable"
    return None
