"""lp: bounds from linear programs, neuron by neuron, for the neurons that are still open.

The network up to a layer is relaxed (t in [0, 1] instead of {0, 1}), and each open preactivation is minimised and
maximised over it. Layers are taken in order, so that each uses the bounds found before it; one solver model per layer
is kept warm.

The solver's optimum is not believed. Its dual multipliers are: for rows A v <= b (>=, =), bounds l <= v <= u, and *any*
multipliers p of the right sign,

    max c v  <=  p b + sum_j max(r_j l_j, r_j u_j),     r = c - A' p,

which is evaluated here in floats with a bound on the rounding error. So the result holds in real arithmetic even where
the solver erred; a bad dual only makes it weaker. (The rows themselves are exact: see `NetworkCopy`.)
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from ircert.bounds.bounds import Bounds
from ircert.bounds.interval import INTERVALS
from ircert.bounds.rounding import slack
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
        import highspy

        self.form, self.program = _relaxation(bounds, ball, node)
        self.solver = highspy.Highs()
        self.solver.setOptionValue("output_flag", False)
        self.solver.setOptionValue("threads", 1)
        self.solver.passModel(_model(self.program))
        self.columns = np.arange(self.program.columns, dtype=np.int32)

    def upper(self, row: int, sign: float) -> float:
        """An upper bound on sign * (entry `row` of the node)."""
        cost = np.zeros(self.program.columns)
        for block, term in self.form.terms.items():
            cost[block.where] += sign * term[[row], :].toarray()[0]
        self.solver.changeColsCost(len(cost), self.columns, -cost)
        self.solver.run()
        duals = -np.array(self.solver.getSolution().row_dual, dtype=np.float64)
        if len(duals) != len(self.program.rhs) or not np.isfinite(duals).all():
            return float("inf")
        bound = safe_upper_bound(self.program, cost, duals) + sign * self.form.constant[row]
        return float(np.nextafter(bound + abs(bound) * 1e-15, np.inf))


def safe_upper_bound(program: Program, cost: Array, multipliers: Array) -> float:
    """An upper bound on cost @ v over the program's linear rows and bounds, whatever the multipliers."""
    signed = np.where(program.senses == "<=", np.maximum(multipliers, 0.0), multipliers)
    signed = np.where(program.senses == ">=", np.minimum(multipliers, 0.0), signed)
    transposed = program.matrix.T
    reduced = cost - transposed @ signed
    wrong = slack(program.matrix.shape[0] + 1, abs(transposed) @ np.abs(signed) + np.abs(cost))
    reach = np.maximum(np.abs(program.lower), np.abs(program.upper))
    corners = np.maximum(reduced * program.lower, reduced * program.upper)
    products = signed * program.rhs
    total = products.sum() + corners.sum() + wrong @ reach
    absolute = np.abs(products).sum() + (np.abs(reduced) * reach).sum() + wrong @ reach
    return float(total + slack(len(corners) + len(products), np.array([absolute]))[0])


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


def _model(program: Program) -> object:
    """The program as HiGHS takes it, in one piece."""
    import highspy

    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = program.columns, len(program.rhs)
    model.col_cost_ = np.zeros(program.columns)
    model.col_lower_, model.col_upper_ = program.lower, program.upper
    model.row_lower_ = np.where(program.senses == "<=", -highspy.kHighsInf, program.rhs)
    model.row_upper_ = np.where(program.senses == ">=", highspy.kHighsInf, program.rhs)
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = program.matrix.indptr
    model.a_matrix_.index_ = program.matrix.indices
    model.a_matrix_.value_ = program.matrix.data
    return model
