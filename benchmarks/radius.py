"""Radii by mixed-integer programs: the paper's formulation, tangents, and tangents over parts of the ball.

    python benchmarks/radius.py [--limit 60] [--solvers highs,scip,mip,gurobi] [--only vanderpol-2-32-32-2]

Seconds are of processor time, one thread (set OMP_NUM_THREADS=1); a run is stopped after --limit seconds of the clock,
and then its ratio is a bound below. Each ball is one on which the network is injective, around 0 in the norm inf.

    paper        max |x - y| over two copies: one step of a bisection
    tangent      T on that ball, one program that picks the coordinate
    coordinates  the same, one program for each coordinate
    parts        T over parts of the ball
    both         min(T_δ, F_δ) over parts: what injectivity needs

Ratios are to the paper's formulation on the same solver. Solvers that are not installed are left out.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from ircert.backends import get
from ircert.backends.base import Solver, Status
from ircert.data.networks import bundled
from ircert.engines.base import Deadline, Question
from ircert.engines.part_search import PartSearch
from ircert.engines.part_tasks import Kinks
from ircert.engines.tangent import tangents
from ircert.errors import IrcertError
from ircert.ir.graph import Graph
from ircert.passes.merge_multiples import merged
from ircert.passes.product import canonical, program
from ircert.passes.tangent_product import TangentProduct
from ircert.query import Query

BALLS = [
    ("vanderpol-2-10-10-2", 2.0),
    ("vanderpol-2-16-16-2", 1.0),
    ("vanderpol-2-32-32-2", 0.5),
    ("vanderpol-2-32-32-2", 1.0),
    ("vanderpol-2-32-32-2", 3.0),
    ("lorenz-3-16-16-3", 0.25),
    ("coupled-vanderpol-4-16-16-4", 0.25),
    ("coupled-vanderpol-4-32-32-4", 0.25),
]
DONE = (Status.OPTIMAL, Status.INFEASIBLE)


class Ball:
    """One network, one radius, one solver: each way of asking gives (finished, what was found)."""

    def __init__(self, graph: Graph, radius: float, solver: Solver, limit: float) -> None:
        self.graph = canonical(graph)
        self.radius = radius
        self.solver = solver
        self.limit = limit
        self.center = [0.0] * graph.input_dim

    def paper(self) -> tuple[bool, str]:
        outcome = self.solver.solve(program(self.graph, self._query()), time_limit=self.limit, gap=0.0)
        return outcome.status in DONE, f"p* <= {_shown(outcome.bound)}"

    def tangent(self, coordinate: int | None = None) -> tuple[bool, str]:
        asked = TangentProduct(tuple(self.center), self.radius, coordinate=coordinate).run(self.graph).result
        outcome = self.solver.solve(asked, time_limit=self.limit, gap=0.0)
        bound = self.radius if outcome.status is Status.INFEASIBLE else outcome.bound
        return outcome.status in DONE, f"T >= {_shown(bound)}"

    def coordinates(self) -> tuple[bool, str]:
        found = [self.tangent(j) for j in range(len(self.center))]
        return all(done for done, _ in found), min(text for _, text in found)

    def parts(self) -> tuple[bool, str]:
        ball = self._query().ball
        search = PartSearch(Kinks(merged(self.graph), self._query()), ball, self.solver, Deadline(self.limit))
        bound = search.run()
        return search.done, f"T >= {_shown(bound)}, {search.solved} programs"

    def both(self) -> tuple[bool, str]:
        size = len(self.center)
        free = np.full(size, np.inf)
        asked = Question(
            self.graph, None, "local", "inf", np.zeros(size), -free, free, None, self.radius, backend=self.solver.name
        )
        found = tangents(asked, self.radius, seconds=self.limit)
        return found.certified > 0.99 * self.radius, f"r >= {found.certified:.4g}, {found.solved} programs"

    def _query(self) -> Query:
        return Query("local", self.center, self.radius)


def _shown(number: float | None) -> str:
    return "nothing" if number is None else f"{number:.4g}"


def measured(action: Callable[[], tuple[bool, str]]) -> tuple[float, bool, str]:
    """Seconds of processor time, whether it finished, and what it found."""
    start = time.process_time()
    try:
        done, text = action()
    except IrcertError as error:
        done, text = False, str(error)[:60]
    return time.process_time() - start, done, text


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--solvers", default="highs,scip,mip,gurobi")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    for name, radius in BALLS:
        if not name.startswith(options.only):
            continue
        print(f"{name}, radius {radius:g}")
        for word in options.solvers.split(","):
            solver = get(word)
            if not isinstance(solver, Solver) or not solver.is_available():
                continue
            ball = Ball(bundled(name), radius, solver, options.limit)
            usual = None
            for way in (ball.paper, ball.tangent, ball.coordinates, ball.parts, ball.both):
                seconds, done, text = measured(way)
                usual = usual or (seconds, done)
                more = "" if usual[1] else ">"
                ratio = f"x {more}{usual[0] / seconds:,.1f}" if done and way.__name__ != "paper" else ""
                state = "" if done else " (stopped)"
                print(f"  {word:8} {way.__name__:12} {seconds:8.2f} s {ratio:>10}  {text}{state}", flush=True)


if __name__ == "__main__":
    main()
