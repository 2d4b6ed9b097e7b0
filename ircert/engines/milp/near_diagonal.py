"""The near-diagonal half of a certificate: pairs that the dual bound of the paper's program leaves, because x = y is
always feasible and no tolerance tells 0 from a little.

    local:      pairs up to δ apart are excluded by tangents of thickness δ (PR-11)
    pseudo:     points within δ of the centre by the distance within which f is homogeneous around it (PR-13)

Both are programs of the same backend, solved over parts of the ball.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ircert import backends
from ircert.backends.base import Solver
from ircert.engines.base import Question
from ircert.engines.milp.part_search import Candidate, PartSearch, Task, TooDelicate
from ircert.engines.milp.part_tasks import Kinks, Others
from ircert.engines.optimum.far_pairs import DEFAULT, threads_of
from ircert.errors import BackendError
from ircert.geometry.domain import Box
from ircert.limits import Deadline
from ircert.programs.encodings.analyse import analyse
from ircert.programs.encodings.isolation import isolation, longest_in_box
from ircert.questions.query import Query

MARGIN = 1e-5
"""What is taken off a solver's bound, relative to the largest radius."""
WIDER = 1 + 2.0**-12
"""Programs look at a ball this much larger, because their bounds fall short of it by the margin."""

INNER = 1 / 64
"""The part of a ball's radius below which distances are too close to a solver's tolerances."""


@dataclass(frozen=True)
class Near:
    """No pair nearer than δ lies in the closed ball of this radius, if the solver is right.

    reached: that radius; at least the one asked about where everything was excluded
    reason:  what was in the way, else None
    """

    reached: float
    reason: str | None = None
    candidates: list[Candidate] = field(default_factory=list)
    solved: int = 0


Half = Callable[[Question, float, float, Deadline], Near]


def solver_of(question: Question) -> Solver:
    """The backend that was asked for; BackendError if it solves nothing."""
    name = question.backend or DEFAULT
    solver = backends.get(name)
    if not isinstance(solver, Solver):
        raise BackendError("it does not solve programs", backend=name)
    return solver


def thick_tangents(question: Question, radius: float, delta: float, deadline: Deadline) -> Near:
    """`local`: pairs up to δ apart (L-infinity), by tangents of that thickness at their middles."""
    query = _query(question, radius * WIDER)
    task = Kinks(question.network.merged, query, delta)
    return _searched(question, task, query, radius, deadline, f"tangents of thickness {delta:.3g}")


def isolated_center(question: Question, radius: float, delta: float, deadline: Deadline) -> Near:
    """`pseudo`: points up to δ from the centre, in the norm of the question."""
    inner = min(radius, max(delta, INNER * radius))
    query = _query(question, inner * WIDER)
    graph = question.network.merged
    epsilon = isolation(analyse(graph, query.ball), query.ball)
    if not epsilon > 0:
        return Near(0.0, "the network is not homogeneous around the centre, as far as floats can tell")
    what = f"points from {epsilon:.3g} to {inner:.3g} away from the centre"
    found = _searched(question, Others(graph, query, epsilon), query, inner, deadline, what)
    if found.reached >= inner:
        return replace(found, reached=radius)
    # below this the program itself puts its bound, and nothing follows
    least = (1 + MARGIN) * epsilon * longest_in_box(query.ball)
    return found if found.reached > least else replace(found, reached=0.0)


def _query(question: Question, radius: float) -> Query:
    box = Box(question.low, question.high)
    return Query(question.problem, question.center, radius, question.norm, question.other, box)


def _searched(question: Question, task: Task, query: Query, radius: float, deadline: Deadline, what: str) -> Near:
    solver = solver_of(question)
    threads = threads_of(question, solver)
    search = PartSearch(task, query.ball, solver, deadline, threads=threads, seed=question.seed)
    reason = None
    try:
        search.run()
    except TooDelicate as error:
        reason = str(error)
    reached = max(0.0, search.bound - MARGIN * query.radius)
    if reached < radius and reason is None:
        ended = "are excluded" if search.done else "were excluded in time"
        reason = f"{what} {ended} within {reached:.6g} only"
    candidates = [pair for found in search.points for pair in task.candidates(*found, query.center)]
    return Near(min(reached, radius), reason if reached < radius else None, candidates, search.solved)
