"""One ball asked about in different ways, each of which tells whether it finished and what it found."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

import ircert
from ircert.backends.base import Solver, Status
from ircert.engines.base import Deadline, Question
from ircert.engines.milp.part_search import PartSearch
from ircert.engines.milp.part_tasks import Kinks
from ircert.engines.milp.tangent import tangents
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.passes.merge_multiples import merged
from ircert.programs.formulations.program import program
from ircert.programs.formulations.tangent import Tangent
from ircert.questions.network import lowered as canonical
from ircert.questions.query import Query

DONE = (Status.OPTIMAL, Status.INFEASIBLE)


@dataclass(frozen=True)
class Ball:
    """A closed ball around 0 in the norm inf."""

    graph: ircert.Graph
    radius: float
    limit: float

    @property
    def center(self) -> list[float]:
        return [0.0] * self.graph.input_dim

    @property
    def query(self) -> Query:
        return Query("local", self.center, self.radius)

    def paper(self, solver: Solver) -> tuple[bool, str]:
        """max |x - y| over two copies."""
        outcome = solver.solve(program(canonical(self.graph), self.query), time_limit=self.limit, gap=0.0)
        return outcome.status in DONE, f"p* <= {_shown(outcome.bound)}"

    def tangent(self, solver: Solver, coordinate: int | None = None) -> tuple[bool, str]:
        """T, by one program that picks the coordinate."""
        made = program(self.graph, self.query, Tangent(coordinate=coordinate))
        outcome = solver.solve(made, time_limit=self.limit, gap=0.0)
        bound = self.radius if outcome.status is Status.INFEASIBLE else outcome.bound
        return outcome.status in DONE, f"T >= {_shown(bound)}"

    def coordinates(self, solver: Solver) -> tuple[bool, str]:
        """T, by one program for each coordinate."""
        found = [self.tangent(solver, j) for j in range(self.graph.input_dim)]
        return all(done for done, _ in found), min(text for _, text in found)

    def parts(self, solver: Solver) -> tuple[bool, str]:
        """T over parts of the ball."""
        task = Kinks(merged(canonical(self.graph)), self.query)
        search = PartSearch(task, self.query.ball, solver, Deadline(self.limit))
        bound = search.run()
        return search.done, f"T >= {_shown(bound)}, {search.solved} programs"

    def both(self, solver: Solver) -> tuple[bool, str]:
        """T_δ and F_δ over parts: what injectivity needs."""
        free = np.full(self.graph.input_dim, math.inf)
        asked = Question(
            self.graph,
            None,
            "local",
            Place(np.zeros(len(free)), Norm.INF, -free, free),
            None,
            self.radius,
            backend=solver.name,
        )
        found = tangents(asked, self.radius, seconds=self.limit)
        return found.certified > 0.99 * self.radius, f"r >= {found.certified:.4g}, {found.solved} programs"

    def search(self, engine: str) -> tuple[bool, str]:
        """An engine's own answer about the closed ball."""
        found = ircert.certify(self.graph, self.center, radius=self.radius, engine=engine, time_limit=self.limit)
        return found.verdict != "unresolved", f"{found.verdict}, trust {found.trust}, by {found.engine}"


def largest(graph: ircert.Graph, engine: str, limit: float, **options: str | float) -> tuple[bool, str]:
    """The bracket of the largest radius around 0 in the norm inf."""
    found = ircert.certify(graph, [0.0] * graph.input_dim, engine=engine, time_limit=limit, **options)
    certified, refuted = found.radius.certified, found.radius.refuted
    if refuted is None:
        return found.verdict != "unresolved", f"[{float(certified):.7g}, …), by {found.engine}"
    share = f" = {100 * float(certified) / float(refuted):.4g} %" if found.verdict == "unresolved" else ""
    return found.verdict != "unresolved", f"[{float(certified):.7g}, {float(refuted):.7g}]{share}, by {found.engine}"


def _shown(number: float | None) -> str:
    return "nothing" if number is None else f"{number:.4g}"
