"""lp: bounds from linear programs, neuron by neuron, for the neurons that are still open.

The network up to a layer is relaxed (t in [0, 1] instead of {0, 1}), and each open preactivation is minimised and
maximised over it. Layers are taken in order, so that each uses the bounds found before it; one solver model per layer
is kept warm.

The solver's optimum is not believed, but its multipliers bound it (`dual_bound`): the result holds in real arithmetic
even where the solver erred. (The rows themselves are exact: see `NetworkCopy`.)
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from ircert.bounds.bounds import Bounds
from ircert.bounds.dual_bound import dual_bound
from ircert.bounds.interval import INTERVALS
from ircert.exact.live_program import LiveProgram
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array
from ircert.ir.build import needed_nodes
from ircert.ir.graph import Graph
from ircert.programs.build import ProgramBuilder
from ircert.programs.encodings.ball import point_of_ball
from ircert.programs.encodings.form import Form
from ircert.programs.encodings.network import NetworkCopy
from ircert.programs.program import Origin, Program

Report = Callable[[str, int, int], None]


def lp_bounds(start: Bounds, ball: Ball, *, time_limit: float | None = None, progress: Report | None = None) -> Bounds:
    """The bounds `start`, tightened by linear programs where neurons are open.

    progress(node, done, total) is called after each neuron. When the time limit is reached what was found is kept.
    """
    deadline = None if time_limit is None else time.monotonic() + time_limit
    graph = start.graph
    low, high = dict(start.low), dict(start.high)
    for name in start.preactivations():
        current = Bounds(graph, low, high, "lp")
        rows = np.flatnonzero(current.unstable(name))
        if len(rows) and name != graph.input:
            layer = _Layer(current, ball, name)
            for done, row in enumerate(rows.tolist()):
                if deadline is not None and time.monotonic() >= deadline:
                    return _propagated(graph, low, high)
                low[name], high[name] = low[name].copy(), high[name].copy()
                high[name][row] = min(high[name][row], layer.upper(row, 1.0))
                low[name][row] = max(low[name][row], -layer.upper(row, -1.0))
                if progress is not None:
                    progress(name, done + 1, len(rows))
        _forward(graph, low, high, name)
    return Bounds(graph, low, high, "lp")


def _propagated(graph: Graph, low: dict[str, Array], high: dict[str, Array]) -> Bounds:
    _forward(graph, low, high, graph.input)
    return Bounds(graph, low, high, "lp")


def _forward(graph: Graph, low: dict[str, Array], high: dict[str, Array], since: str) -> None:
    """Carry tighter bounds on to the nodes behind, by intervals."""
    names = [node.name for node in graph.nodes]
    for node in graph.nodes[names.index(since) + 1 :]:
        if node.operands:
            found = INTERVALS.step(node, [(low[name], high[name]) for name in node.operands])
            low[node.name] = np.maximum(low[node.name], found[0])
            high[node.name] = np.minimum(high[node.name], found[1])


class _Layer:
    """The relaxation of everything before a node, ready to maximise any entry of it."""

    def __init__(self, bounds: Bounds, ball: Ball, node: str) -> None:
        self.form, self.program = _relaxation(bounds, ball, node)
        program = self.program
        self.live = LiveProgram(program.matrix, program.sides, (program.lower, program.upper))

    def upper(self, row: int, sign: float) -> float:
        """An upper bound on sign * (entry `row` of the node)."""
        cost = np.zeros(self.program.columns)
        for block, term in self.form.terms.items():
            cost[block.where] += sign * term[[row], :].toarray()[0]
        self.live.maximise(cost)
        multipliers = self.live.multipliers
        if len(multipliers) != len(self.program.rhs) or not np.isfinite(multipliers).all():
            return float("inf")
        bound = safe_upper_bound(self.program, cost, multipliers) + sign * self.form.constant[row]
        return float(np.nextafter(bound + abs(bound) * 1e-15, np.inf))


def safe_upper_bound(program: Program, cost: Array, multipliers: Array) -> float:
    """An upper bound on cost @ v over the program's linear rows and bounds, whatever the multipliers."""
    return dual_bound(program.matrix, program.sides, (program.lower, program.upper), cost, multipliers)


def _relaxation(bounds: Bounds, ball: Ball, node: str) -> tuple[Form, Program]:
    graph = bounds.graph
    before = Graph(needed_nodes({n.name: n for n in graph.nodes}, node), node)
    build = ProgramBuilder()
    x = point_of_ball(build, _polyhedral(ball), "x", Origin(graph.input, "x"))
    copy = NetworkCopy(build, Bounds(before, bounds.low, bounds.high, "lp"), x, "x", relaxed=True)
    return copy.output, build.program()


def _polyhedral(ball: Ball) -> Ball:
    """A ball of norm 2 lies in the ball of norm 1 with radius sqrt(n) r; its box is kept as the domain."""
    if ball.norm != "2":
        return ball
    radius = float(np.nextafter(np.sqrt(len(ball.center)) * ball.radius * (1 + 1e-15), np.inf))
    return Ball(ball.center, radius, Norm.ONE, *ball.box)
