"""How far two networks are apart: `ircert.difference` beside the paper's style of program, in the same time.

    python benchmarks/difference.py acas --seconds 20
    python benchmarks/difference.py digits --seconds 20
    python benchmarks/difference.py smooth --seconds 10 --solvers ""

acas:    5-(50x6)-5, trained on a smooth map of five inputs, and copies with weights in float16, in 8 bits, or without
         the smallest tenth; boxes of width 0.1, 0.3 and 1
digits:  64-32-16-10, trained on scikit-learn's digits, and copies without the smallest weights; radius 0.02, 0.05, 0.1
         around a digit, in [0, 1]^64
smooth:  random networks with tanh, sigmoid, SiLU and GELU, and copies in float16 or without the smallest fifth; beside
         them the trivial bound: the difference of what interval arithmetic says of each network

The paper's style of program: two copies of the network at one point, with bounds of each alone, and the largest
difference of outputs as the objective. Values and bounds of solvers are as they say.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

import ircert
from ircert import backends
from ircert.analysis.asked_ball import ball_for
from ircert.backends.base import Solver
from ircert.bounds.rounding import affine_interval
from ircert.bounds.symbolic import symbolic_bounds
from ircert.errors import IrcertError
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.ir.graph import Graph
from ircert.ir.ops import Affine
from ircert.programs.build import ProgramBuilder
from ircert.programs.encodings.ball import point_of_ball
from ircert.programs.encodings.distance import maximise_length
from ircert.programs.encodings.network import NetworkCopy
from ircert.programs.program import Origin, Program
from ircert.questions.network import lowered
from ircert.relational.activations import values

Layers = list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]


@dataclass(frozen=True)
class Case:
    """Two networks and a ball."""

    name: str
    first: Layers
    second: Layers
    center: np.ndarray[Any, Any]
    radius: float
    domain: tuple[float, float] | None = None
    activation: str = "relu"

    @property
    def graphs(self) -> tuple[Graph, Graph]:
        """Both networks."""
        first, second = (ircert.load(each, activation=self.activation) for each in (self.first, self.second))
        return first, second


def paper_program(f: Graph, g: Graph, ball: Ball) -> Program:
    """Two copies at one point, each with its own bounds; max |f(x) - g(x)| in norm inf."""
    build = ProgramBuilder()
    x = point_of_ball(build, ball, "x", Origin(f.input, "x"))
    known = [symbolic_bounds(graph, ball) for graph in (f, g)]
    copies = [NetworkCopy(build, bounds, x, tag) for bounds, tag in zip(known, "fg", strict=True)]
    low = known[0].low[f.output] - known[1].high[g.output]
    high = known[0].high[f.output] - known[1].low[g.output]
    reach = np.nextafter(np.maximum(-low, high), np.inf)
    maximise_length(build, copies[0].output.plus(copies[1].output, -1.0), reach, Norm.INF)
    return build.program()


def by_solver(case: Case, solver: str, seconds: float) -> str:
    """What a solver reaches on the paper's style of program."""
    f, g = (lowered(each) for each in case.graphs)
    ball = ball_for(f, (case.center, case.radius), case.domain)
    chosen = backends.get(solver)
    assert isinstance(chosen, Solver)
    try:
        found = chosen.solve(paper_program(f, g, ball), time_limit=seconds)
    except IrcertError as error:
        return str(error).split(":")[0][:40]
    value = "-" if found.value is None else f"{found.value:.4g}"
    return f"[{value}, {'-' if found.bound is None else f'{found.bound:.4g}'}]"


def trivial(case: Case) -> str:
    """The largest difference of two ranges by interval arithmetic."""
    ends = []
    for graph in map(lowered, case.graphs):
        known = {graph.input: ball_for(graph, (case.center, case.radius), case.domain).box}
        for node in graph.nodes:
            if isinstance(node.op, Affine):
                known[node.name] = affine_interval(node.op.weight, node.op.bias, *known[node.operands[0]])
            elif node.operands:
                known[node.name] = values(node.op, known[node.operands[0]])
        ends.append(known[graph.output])
    return f"{max((ends[0][1] - ends[1][0]).max(), (ends[1][1] - ends[0][0]).max()):.4g}"


def row(case: Case, seconds: float, solvers: list[str]) -> str:
    """One line of the table."""
    started = time.monotonic()
    found = ircert.difference(*case.graphs, case.center, case.radius, domain=case.domain, time_limit=seconds)
    taken = time.monotonic() - started
    ratio = found.bound / found.value if found.value else np.inf
    cells = [case.name, f"[{found.value:.4g}, {found.bound:.4g}]", f"{ratio:.3g}", f"{taken:.1f}"]
    cells += [by_solver(case, solver, seconds) for solver in solvers] if case.activation == "relu" else [trivial(case)]
    agreed = ircert.difference(
        *case.graphs, case.center, case.radius, domain=case.domain, time_limit=seconds, top1=True
    )
    return f"| {' | '.join([*cells, f'{agreed.verdict} ({agreed.seconds:.1f} s)'])} |"


def pruned(layers: Layers, share: float) -> Layers:
    """Without the smallest weights of each layer."""
    return [(np.where(np.abs(w) < np.quantile(np.abs(w), share), 0.0, w), b) for w, b in layers]


def half(layers: Layers) -> Layers:
    """Numbers in float16."""
    return [(w.astype(np.float16).astype(float), b.astype(np.float16).astype(float)) for w, b in layers]


def eight_bits(layers: Layers) -> Layers:
    """Weights in 8 bits, one scale for each layer."""
    scales = [np.abs(w).max() / 127 for w, _ in layers]
    return [(np.round(w / s) * s, b) for (w, b), s in zip(layers, scales, strict=True)]


def trained(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any], hidden: tuple[int, ...], rounds: int) -> Layers:
    """An MLPRegressor's layers."""
    from sklearn.neural_network import MLPRegressor

    model = MLPRegressor(
        hidden_layer_sizes=hidden, alpha=1e-4, max_iter=rounds, random_state=0, tol=0.0, n_iter_no_change=rounds
    )
    model.fit(x, y)
    return [(w.T.copy(), b.copy()) for w, b in zip(model.coefs_, model.intercepts_, strict=True)]


def acas() -> Iterator[Case]:
    """5-(50x6)-5 and its copies."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-0.5, 0.5, size=(4000, 5))
    angles = x @ rng.normal(size=(5, 5)) * 2
    made = trained(x, np.sin(angles) + 0.3 * np.cos(2 * angles[:, ::-1]), (50,) * 6, 60)
    twins = {"float16": half(made), "8 bits": eight_bits(made), "pruned 10 %": pruned(made, 0.1)}
    for name, twin in twins.items():
        for width in (0.1, 0.3, 1.0):
            yield Case(f"{name}, width {width}", made, twin, np.zeros(5), width / 2)


def digits() -> Iterator[Case]:
    """64-32-16-10 and its copies."""
    from sklearn.datasets import load_digits

    x, labels = load_digits(return_X_y=True)
    made = trained(x / 16, np.eye(10)[labels], (32, 16), 80)
    for share in (0.1, 0.3, 0.5):
        for radius in (0.02, 0.05, 0.1):
            name = f"pruned {share:.0%}, radius {radius}"
            yield Case(name, made, pruned(made, share), x[0] / 16, radius, (0.0, 1.0))


def smooth() -> Iterator[Case]:
    """Random networks with curves, and their copies."""
    for activation in ("tanh", "sigmoid", "silu", "gelu"):
        for sizes, scale, radius in (
            ((2, 32, 32, 2), 3.0, 3.0),
            ((5, 50, 50, 5), 2.0, 0.5),
            ((20, 50, 50, 10), 2.0, 0.1),
        ):
            rng = np.random.default_rng(1)
            made = [
                (rng.normal(size=(b, a)) * scale / np.sqrt(a), rng.normal(size=b) * 0.3) for a, b in pairwise(sizes)
            ]
            for name, twin in (("float16", half(made)), ("pruned 20 %", pruned(made, 0.2))):
                shown = f"{activation} {'-'.join(map(str, sizes))}, {name}, radius {radius}"
                yield Case(shown, made, twin, np.zeros(sizes[0]), radius, None, activation)


def main() -> None:
    """Print the table of one family."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("family", choices=("acas", "digits", "smooth"))
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--solvers", default="highs,gurobi")
    parser.add_argument("--only", default="", help="rows whose name has this in it")
    options = parser.parse_args()
    solvers = options.solvers.split(",") if options.solvers else []
    beside = ["intervals"] if options.family == "smooth" else solvers
    print(f"| pair | ircert | bound/value | s | {' | '.join(beside)} | top-1 |")
    print("|---|---|---|---|" + "---|" * len(beside) + "---|")
    for case in {"acas": acas, "digits": digits, "smooth": smooth}[options.family]():
        if options.only in case.name:
            print(row(case, options.seconds, solvers), flush=True)


if __name__ == "__main__":
    main()
