"""Many inputs, few neurons: `auto` beside the paper's formulation on solvers, in the same processor time.

    python benchmarks/few_neurons.py [--limit 5] [--solvers highs,gurobi] [--formulations paper] [--only NAME]
        [--seed 0]

Random networks A x + g(x) with a skip, g of a few neurons in one to three layers, A the identity with random rows below
it where there are more outputs than inputs; the Jacobian of g has the norm `step` at the worst of some points, so that
no contraction proves anything. Brackets of the largest radius around 0 in the norm inf (for other questions: as named).
Every question has a process of its own and one thread (`asking.py`); a solver that is not installed is left out.
Another seed makes other networks of the same shapes.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from asking import Answered, Asked

import ircert
from ircert.backends import get
from ircert.backends.base import Solver
from ircert.ir.graph import Graph

POINTS = 300
"""At which the size of g's Jacobian is measured."""


@dataclass(frozen=True)
class Shape:
    """Inputs, neurons in each of some layers, more outputs than inputs, a seed, and what is asked."""

    inputs: int
    width: int
    layers: int
    step: float
    seed: int
    more: int = 0
    asked: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        words = ", ".join(f"{key} {value}" for key, value in self.asked.items())
        shape = "-".join(map(str, [self.inputs, *[self.width] * self.layers, self.inputs + self.more]))
        return f"{shape}{words and ', '}{words}"

    def graph(self) -> Graph:
        """The network."""
        rng, n, m = np.random.default_rng(self.seed), self.inputs, self.inputs + self.more
        sizes = [n, *[self.width] * self.layers]
        weights = [rng.normal(size=(b, a)) / math.sqrt(a) for a, b in pairwise(sizes)]
        biases = [0.5 * rng.normal(size=size) for size in sizes[1:]]
        last = rng.normal(size=(m, self.width)) / math.sqrt(self.width)
        worst = 0.0
        for point in rng.uniform(-2, 2, size=(POINTS, n)):
            value, slope = point, np.eye(n)
            for weight, bias in zip(weights, biases, strict=True):
                below = weight @ value + bias
                value, slope = np.maximum(below, 0), (below > 0)[:, None] * (weight @ slope)
            worst = max(worst, float(np.linalg.norm(last @ slope, 2)))
        build = ircert.Builder(n)
        inner = build.input
        for weight, bias in zip(weights, biases, strict=True):
            inner = build.relu(build.affine(inner, weight, bias))
        skip = np.vstack([np.eye(n), 0.3 * rng.normal(size=(self.more, n))])
        return build.graph(build.add(build.affine(build.input, skip), build.affine(inner, self.step / worst * last)))


SHAPES = [
    *(Shape(8, 16, 1, 2.5, 24), Shape(14, 24, 1, 2.5, 38), Shape(30, 4, 1, 2.5, 34), Shape(100, 8, 1, 2.5, 1)),
    *(Shape(10, 10, 2, 2.5, 20), Shape(16, 4, 2, 2.5, 20), Shape(16, 6, 2, 2.5, 22), Shape(50, 8, 2, 3.0, 151)),
    *(Shape(16, 4, 3, 3.0, 20), Shape(16, 6, 3, 3.0, 22), Shape(30, 4, 3, 3.0, 34)),
    *(
        Shape(10, 8, 2, 5.0, 10, 4),
        Shape(10, 12, 1, 6.0, 10, 2),
        Shape(20, 12, 1, 6.0, 20, 2),
        Shape(16, 6, 1, 4.0, 22, 16),
    ),
    *(Shape(10, 8, 2, 3.0, 10, asked={"norm": norm}) for norm in ("1", "2")),
    Shape(20, 8, 2, 4.0, 20, asked={"problem": "pseudo"}),
]


def row(shape: Shape, options: argparse.Namespace, folder: Path) -> str:
    """A line of the table: brackets and seconds, side by side."""
    path = folder / "network.onnx"
    ircert.save(shape.graph(), path)
    ways = [{"engine": "auto"}, *_programs(options)]
    found = [Asked(str(path), options.limit, {**shape.asked, **way}).answer() for way in ways]
    return f"| {shape.name} | {' | '.join(map(_cell, found))} |"


def _programs(options: argparse.Namespace) -> list[dict[str, str]]:
    solvers = [
        name for name in options.solvers.split(",") if isinstance(solver := get(name), Solver) and solver.is_available()
    ]
    return [
        {"engine": "milp", "formulation": formulation, "backend": solver}
        for formulation in options.formulations.split(",")
        for solver in solvers
    ]


def _cell(found: Answered) -> str:
    if found.verdict == "error":
        return found.evidence
    refuted = "…" if found.refuted is None else f"{found.refuted:.4g}"
    whole = found.certified == math.inf
    return f"{'∞' if whole else f'[{found.certified:.4g}, {refuted}]'}, {found.seconds:.1f} s"


def main() -> None:
    """All rows."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", type=float, default=5.0)
    parser.add_argument("--solvers", default="highs,gurobi")
    parser.add_argument("--formulations", default="paper")
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    names = [f"{way['formulation']}, {way['backend']}" for way in _programs(options)]
    print(f"| network | auto | {' | '.join(names)} |\n|{'---|' * (len(names) + 2)}")
    with tempfile.TemporaryDirectory() as folder:
        for shape in SHAPES:
            if shape.name.startswith(options.only):
                print(row(replace(shape, seed=shape.seed + options.seed), options, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
