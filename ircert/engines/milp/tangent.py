"""Radii from mixed-integer programs that minimise them, over parts of the ball: bounds that rest on a solver's word.

    local:      T (a statistic), and min(T_δ, F_δ), within which f is injective
    pseudo:     the nearest other point with the centre's image
    transform:  that of `local` for the constrained outputs; beyond it gaps of at least η, which are candidates only

Nothing here is a verdict. What is found are candidates for an exact search, in floats.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from ircert import backends
from ircert.backends.base import Solver
from ircert.bounds.slopes import slope_bounds
from ircert.engines.base import Cause, Question, Stop
from ircert.engines.milp.part_search import Candidate, PartSearch, Task, TooDelicate
from ircert.engines.milp.part_tasks import Kinks, Others, Pairs
from ircert.engines.optimum.far_pairs import DEFAULT, threads_of
from ircert.errors import BackendError, IrcertError
from ircert.geometry.domain import Box
from ircert.limits import Deadline, OutOfTime
from ircert.programs.encodings.analyse import analyse
from ircert.programs.encodings.isolation import isolation, longest_in_box
from ircert.programs.encodings.tangent import unit_directions
from ircert.questions.query import Query

Report: TypeAlias = Callable[[str, float], None]

NEARBY = 1 / 128
"""δ, as a part of the radius that tangents allow: pairs that are closer are looked at as tangents with a thickness."""
LEAST_GAP = 1 / 64
"""η, as a part of the largest gap that bounds allow."""
SHARE = 0.5
"""The part of the time for the constrained outputs alone, where more than they must agree."""
MARGIN = 1e-5
"""What is taken off a solver's bound, relative to the largest radius."""


@dataclass
class Tangents:
    """What the programs gave.

    j0_lower:   no point nearer than this has a tangent: a statistic, which says nothing about far collisions
    certified:  the radius within which the property holds if the solver is right; it never falls below the given one
    candidates: pairs of points that may be next to a violation, best last
    stop:       what was in the way, but for time
    cut:        whether time ended one of the searches
    """

    j0_lower: float
    certified: float
    backend: str
    candidates: list[Candidate] = field(default_factory=list)
    stop: Stop | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    solved: int = 0
    cut: bool = False


def tangents(
    question: Question,
    upper: float,
    certified: float = 0.0,
    seconds: float = math.inf,
    report: Report = lambda what, bound: None,
) -> Tangents:
    """Minimise radii up to `upper`, given that the property holds within `certified`.

    report(what, bound) is called as bounds rise: `tangent`, `near`, `far`, `other` or `gap`.
    """
    name = question.backend or DEFAULT
    found = Tangents(certified, certified, name)
    try:
        solver = backends.get(name)
        if not isinstance(solver, Solver):
            raise BackendError("it does not solve programs", backend=name)
        search = _TangentRadii(question, solver, upper, Deadline(seconds), report, found)
        {"local": search.local, "pseudo": search.pseudo, "transform": search.transform}[question.problem]()
    except OutOfTime:
        found.cut = True  # what was found before counts
    except KeyboardInterrupt:
        found.stop = Stop(Cause.INTERRUPTED)
    except IrcertError as error:
        found.stop = Stop(Cause.SOLVER, str(error))
    except ArithmeticError as error:
        found.stop = Stop(Cause.RANGE, str(error))
    return found


@dataclass
class _TangentRadii:
    question: Question
    solver: Solver
    upper: float
    deadline: Deadline
    report: Report
    found: Tangents

    def __post_init__(self) -> None:
        asked = self.question
        box = Box(asked.low, asked.high)
        self.query = Query(asked.problem, asked.center, self.upper, asked.norm, asked.other, box)
        self.graph = asked.network.merged
        self.other = None if asked.networks.other is None else asked.networks.other.merged

    def local(self) -> None:
        """T, then pairs up to δ apart, then the others."""
        known = self.found.certified
        first = self._run("tangent", Kinks(self.graph, self.query), self.upper, 0.3, known)
        self.found.j0_lower = max(first.bound, known)
        reach = first.best
        delta = NEARBY * max(first.bound, reach / 64)
        if self.deadline.passed() or not (0 < delta < math.inf and reach > known):
            return
        # The middle of a pair that reaches beyond the known radius may lie nearer by half of δ.
        least = known - delta / 2 * longest_in_box(self.query.ball)
        near = self._run("near", Kinks(self.graph, self.query, delta), reach, 0.5, max(0.0, least))
        if near.bound * (1 - MARGIN) <= known or self.deadline.passed():
            return
        far = self._run("far", Pairs(self.graph, None, self.query, delta), near.bound, 1.0, known)
        self._certify(min(near.bound, far.bound))

    def pseudo(self) -> None:
        """One search beyond the distance up to which everything is homogeneous."""
        ball = self.query.ball
        epsilon = isolation(analyse(self.graph, ball), ball)
        if not epsilon > 0:
            self._undecided("the network is not homogeneous around the centre, as far as floats can tell")
            return
        least = max(self.found.certified, epsilon)
        search = self._run("other", Others(self.graph, self.query, epsilon), self.upper, 1.0, least)
        if search.bound > (1 + MARGIN) * epsilon * longest_in_box(ball) + MARGIN * self.upper:
            self._certify(search.bound)
        elif search.done:
            self._undecided("a point with the centre's image may lie arbitrarily near")

    def transform(self) -> None:
        """Where the constrained outputs are injective everything is a function of them; beyond come large gaps."""
        if self.graph.output_dim >= self.graph.input_dim:
            self._constrained()
        if self.found.certified < self.upper * (1 - 2 * MARGIN) and not self.deadline.passed():
            self._gaps()

    def _constrained(self) -> None:
        question = replace(self.question, problem="local", other=None)
        # that other outputs are functions of the constrained outputs within a radius says nothing about
        # the constrained ones themselves
        alone = Tangents(0.0, 0.0, self.found.backend)
        replace(self, question=question, deadline=Deadline(SHARE * self.deadline.left()), found=alone).local()
        self.found.certified = max(self.found.certified, alone.certified)
        self.found.j0_lower, self.found.candidates = alone.j0_lower, alone.candidates
        self.found.stop, self.found.seconds, self.found.solved = alone.stop, alone.seconds, alone.solved
        self.found.cut = alone.cut

    def _gaps(self) -> None:
        """Violations; those with smaller gaps are not excluded, so that nothing is certified."""
        assert self.other is not None
        bounds = analyse(self.other, self.query.ball)
        slopes = slope_bounds(bounds, unit_directions(self.query.ball))
        name = self.other.output
        reach = float(np.maximum(-slopes.low[name], slopes.high[name]).max()) * self.upper
        if not 0 < reach < math.inf:
            return
        eta = LEAST_GAP * reach
        self._run("gap", Pairs(self.graph, self.other, self.query, eta), self.upper, 1.0, 0.0)
        if self.found.stop is None:
            where = "where the programs leave collisions of the constrained outputs"
            self._undecided(f"{where}, violations with gaps below {eta:.3g} are not looked at")

    def _undecided(self, detail: str) -> None:
        self.found.stop = Stop(Cause.UNDECIDED, detail)

    def _run(self, what: str, task: Task, radius: float, share: float, least: float) -> PartSearch:
        started = time.monotonic()
        ball = Query("local", self.query.center, radius, self.query.norm, domain=self._domain()).ball
        search = PartSearch(
            task,
            ball,
            self.solver,
            Deadline(share * self.deadline.left()),
            lambda bound: self._rose(what, bound),
            min(least, radius),
            threads_of(self.question, self.solver),
            self.question.seed,
        )
        try:
            search.run()
        except TooDelicate as error:
            self.found.stop = Stop(Cause.SOLVER, str(error))
        finally:  # also when it is interrupted
            self.found.solved += search.solved
            self.found.cut |= not search.done
            self.found.seconds[what] = time.monotonic() - started
            for program, point in search.points:
                self.found.candidates += task.candidates(program, point, self.query.center)
        return search

    def _domain(self) -> Box:
        return Box(self.question.low, self.question.high)

    def _rose(self, what: str, bound: float) -> None:
        if what == "tangent":
            self.found.j0_lower = max(self.found.j0_lower, bound)
        self.report(what, bound)

    def _certify(self, bound: float) -> None:
        self.found.certified = max(self.found.certified, bound - MARGIN * self.upper)
