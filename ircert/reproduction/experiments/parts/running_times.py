"""Running times of the paper's program and of ircert on random residual networks."""

from __future__ import annotations

import time
from dataclasses import dataclass
from statistics import median

import numpy as np

import ircert
from ircert.backends.base import Status
from ircert.backends.highs import Highs
from ircert.ir.graph import Graph
from ircert.result.result import Result

TOLERANCE = 1e-4
"""Up to here the paper takes p* for zero."""


@dataclass(frozen=True)
class Run:
    """One network and ball, by both ways; the paper's is censored where the limit ended it.

    paper, nodes: seconds and nodes of branch and bound of its program; optimum: the best value it found
    """

    n0: int
    n1: int
    r: float
    paper: float
    finished: bool
    optimum: float | None
    nodes: int
    result: Result

    @property
    def ours(self) -> float:
        """Our seconds."""
        return self.result.seconds

    @property
    def agree(self) -> bool | None:
        """Whether a finished program and the verdict say the same."""
        if not self.finished or self.optimum is None or self.result.verdict == "unresolved":
            return None
        return (self.optimum > TOLERANCE) == (self.result.verdict == "refuted")


@dataclass(frozen=True)
class Point:
    """Several networks of one size with one radius."""

    runs: tuple[Run, ...]

    @property
    def sizes(self) -> tuple[int, int, float]:
        """n₀, n₁, r."""
        first = self.runs[0]
        return first.n0, first.n1, first.r

    @property
    def paper(self) -> float:
        """Median seconds of the paper's program; a bound from below where half of them did not finish."""
        return median(run.paper for run in self.runs)

    @property
    def ours(self) -> float:
        """Our median seconds."""
        return median(run.ours for run in self.runs)

    @property
    def nodes(self) -> float:
        """Median nodes of the paper's program, at least one."""
        return max(median(run.nodes for run in self.runs), 1.0)

    @property
    def finished(self) -> int:
        """How many programs finished."""
        return sum(run.finished for run in self.runs)


def residual(n0: int, n1: int, lipschitz: float, seed: int, blocks: int = 1) -> Graph:
    """x + g(x), or several such blocks, with random weights; g has two layers of spectral norms 1 and `lipschitz`."""
    random = np.random.default_rng([seed, n0, n1])
    build = ircert.Builder(n0)
    x = build.input
    for _ in range(blocks):
        first, last = random.normal(size=(n1, n0)), random.normal(size=(n0, n1))
        first, last = first / np.linalg.norm(first, 2), last * lipschitz / np.linalg.norm(last, 2)
        hidden = build.relu(build.affine(x, first, random.normal(size=n1)))
        x = build.add(x, build.affine(hidden, last, random.normal(size=n0)))
    return build.graph(x)


def timed(graph: Graph, n1: int, r: float, limit: float, seed: int) -> Run:
    """Both ways for the ball of radius r around 0 (∞-norm), each with the same limit in seconds.

    The paper's: the skip folded into the layers, interval bounds, two copies, p* by branch and bound.
    """
    center = np.zeros(graph.input_dim)
    ours = ircert.certify(graph, center, radius=r, seed=seed, time_limit=limit)
    start = time.perf_counter()
    folded = ircert.Pipeline.parse("canonicalize,fold-residual")(graph)
    program = ircert.program(folded, ircert.Query("local", center, r), formulation="paper", bounds="interval")
    answer = Highs().solve(program, time_limit=limit)
    seconds = min(time.perf_counter() - start, limit)
    finished = answer.status is Status.OPTIMAL
    return Run(graph.input_dim, n1, r, seconds, finished, answer.value, answer.nodes, ours)
