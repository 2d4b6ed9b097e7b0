"""p* of a fixed ball as a bracket: the best exact pair and a bound that no pair exceeds, better the longer it takes.

Bounds come in this order, each where it is less than those before: the size of the ball cut with the domain, bounds of
differences propagated through the networks, linear programs with checked multipliers, branch and bound over phases. All
of these are proved. Last the paper's mixed-integer program may be asked, whose bound is a solver's word.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ircert.engines.base import Question
from ircert.engines.optimum.linear_bounds import LinearBounds
from ircert.engines.optimum.objectives import box_length
from ircert.engines.optimum.relaxation import Known, Relaxation
from ircert.engines.optimum.size import size_of_ball
from ircert.engines.optimum.tree import Part, Tree
from ircert.engines.optimum.values import Values
from ircert.errors import IrcertError
from ircert.geometry.domain import Box
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array
from ircert.limits import Deadline, OutOfTime, until
from ircert.programs.formulations.differences import compared_nodes
from ircert.questions.query import Query
from ircert.result.result import Optimum, Trust
from ircert.witnesses.repair import Pair

SIZE = "the size of the ball, cut with the domain where there is one"
DIFFERENCES = "bounds of differences of the outputs, propagated through the network"
RELAXED = "a linear program with difference rows, its multipliers checked"
SHARE = 0.35
"""The part of the time that is spent on pairs as long as they get better …"""
LEAST_SHARE = 0.1
"""… and after so many tries in vain."""
PATIENCE = 20
REPORTS = 1.0
"""Seconds between two reports."""


@dataclass
class Bracket:
    """What is known about p*: the best pair is that of `values`.

    bound, evidence: proved; solver_bound, solver: what a solver says beyond that, and its name
    """

    values: Values
    bound: float = math.inf
    evidence: str = ""
    solver_bound: float = math.inf
    solver: str | None = None
    programs: int = 0
    failure: str | None = None
    interrupted: bool = False

    def stats(self) -> dict[str, float | str]:
        """How much was done, and what ended it before its time."""
        values = self.values
        done = {"programs": self.programs, "starts": values.tries, "seconds for pairs": values.seconds}
        return {**done, **({} if self.failure is None else {"failure": self.failure})}

    def lower(self, bound: float, evidence: str) -> None:
        """Take a proved bound if it is less than that which is known."""
        if bound < self.bound:
            self.bound, self.evidence = bound, evidence

    def is_closed(self, tol: float) -> bool:
        """Whether value and bound are one number, about."""
        return self.bound <= self.enough(tol)

    def enough(self, tol: float) -> float:
        """A bound that is as good as the value."""
        return self.values.value * (1 + tol)

    def optimum(self, norm: Norm | None) -> Optimum | None:
        """The bracket as a result has it; None where there is no bound."""
        trust: Trust = "exact"
        value, bound, evidence, proved = self.values.value, self.bound, self.evidence, None
        if self.solver is not None and max(self.solver_bound, math.nextafter(value, math.inf)) < bound:
            proved = bound if math.isfinite(bound) else None
            bound, trust = max(self.solver_bound, math.nextafter(value, math.inf)), "solver"
            evidence = f"the dual bound of {self.solver} for the paper's program with difference rows"
        return None if math.isinf(bound) else Optimum(value, bound, trust, evidence, norm, proved)


@dataclass(frozen=True, eq=False)
class Asked:
    """p* of a question's ball in a norm: where values and bounds come from.

    report: called with the value and the bound so far
    solver: asked last, for a bound in so many seconds, and a name; None where no solver is to be believed
    """

    question: Question
    norm: Norm
    report: Callable[[float, float, str], None]
    tol: float

    def query(self) -> Query:
        """The question about the lowered networks, with the norm of the objective."""
        question, networks = self.question, self.question.networks
        assert question.radius is not None
        other = None if networks.other is None else networks.other.lowered
        box = Box(question.low, question.high)
        return Query(question.problem, question.center, question.radius, question.norm, other, box, self.norm)


def bracketed(asked: Asked, known: Pair | None, deadline: Deadline) -> Bracket:
    """Values and bounds until both are one number or time is up."""
    query = asked.query()
    search = _Search(asked, query, Bracket(Values(asked.question.network.lowered, query)))
    if known is not None:
        search.bracket.values.offer(known)
    try:
        with until(deadline), np.errstate(all="ignore"):
            search.run()
    except OutOfTime:
        pass
    except KeyboardInterrupt:  # what is known is an answer
        search.bracket.interrupted = True
    except (IrcertError, ArithmeticError) as error:  # numbers that floats do not hold: what is known stays
        search.bracket.failure = str(error)
    search.last()
    return search.bracket


class _Search:
    def __init__(self, asked: Asked, query: Query, bracket: Bracket) -> None:
        self.asked, self.query, self.bracket = asked, query, bracket
        self.tree: Tree | None = None
        self._begun = time.monotonic()
        self._reported = -math.inf
        self._vain = 0
        self._relaxation: Relaxation | None = None

    @property
    def values(self) -> Values:
        return self.bracket.values

    def run(self) -> None:
        """All bounds and values, the quick ones first."""
        self.bracket.lower(size_of_ball(self.query), SIZE)
        self.values.most = self.bracket.bound
        known = Known.of(self.asked.question.network.lowered, self.query)
        if known.differential:
            gaps = known.differential[compared_nodes(known.bounds.graph)[1]]
            self.bracket.lower(box_length(self.query.objective_norm, *gaps), DIFFERENCES)
        self._near_center()
        if self._is_closed():
            return
        self._branch(Relaxation.of(self.query, known))

    def _near_center(self) -> None:
        """Climb from the region of the centre, whose kernel has pairs with one output."""
        center = self.query.center
        if self.values.pair is None or not self._is_closed():
            self._look(center, center, None)

    def _branch(self, relaxation: Relaxation) -> None:
        self._relaxation = relaxation
        bounds = LinearBounds(relaxation)
        tree = Tree(bounds, self.query.objective_norm, symmetric=self.query.problem != "pseudo")
        self.tree = tree
        self._took(tree)
        while not self._is_closed():
            part = tree.step(self.bracket.enough(self.asked.tol))
            self._took(tree)
            if part is None:
                break
            if not part.limits or part.split is None or self._has_time_for_values():
                self._look_at(part)

    def _took(self, tree: Tree) -> None:
        words = f"branch and bound over phases, {tree.nodes} linear programs, their multipliers checked"
        words = words if tree.splits else RELAXED if tree.nodes else DIFFERENCES
        self.bracket.programs = tree.bounds.solved
        self.bracket.lower(tree.bound, words)
        self._report()

    def last(self) -> None:
        """What the tree knows when time ends in the middle of it."""
        if self.tree is not None:
            self._took(self.tree)

    def _is_closed(self) -> bool:
        return self.bracket.is_closed(self.asked.tol)

    def _has_time_for_values(self) -> bool:
        share = SHARE if self._vain < PATIENCE else LEAST_SHARE
        return self.values.seconds < share * (time.monotonic() - self._begun)

    def _look_at(self, part: Part) -> None:
        if part.solved is None or part.solved.point is None or self._relaxation is None:
            return
        point, where = part.solved.point, self._relaxation
        x = point[where.x]
        self._look(x, point[where.y] if len(where.y) else self.query.center, part.axis)

    def _look(self, x: Array, y: Array, axis: tuple[int, float] | None) -> None:
        better = self.values.look(x, y, axis)
        self._vain = 0 if better else self._vain + 1
        self._report()

    def _report(self) -> None:
        if time.monotonic() - self._reported >= REPORTS:
            self._reported = time.monotonic()
            self.asked.report(self.values.value, self.bracket.bound, self.bracket.evidence)
