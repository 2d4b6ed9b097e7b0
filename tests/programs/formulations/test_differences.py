"""Rows on differences: they hold at every pair, they are implied in integers, and they tighten the relaxation."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import ircert
from ircert.backends.highs import Highs
from ircert.ir.build import needed_nodes
from ircert.ir.graph import Graph
from ircert.programs.formulations.differences import differential_bounds, nodes_of_x, twin
from ircert.programs.formulations.lowering import pair_bounds
from ircert.programs.formulations.program import pipeline_of, program
from ircert.programs.program import Program
from ircert.questions.query import Query

NAME = "paper{differences=true}"


def network(seed: int, *sizes: int) -> Graph:
    rng = np.random.default_rng(seed)
    return ircert.load([(rng.normal(size=(b, a)), rng.normal(size=b) / 2) for a, b in pairwise(sizes)])


def residual(seed: int) -> Graph:
    """x + two layers, then a relu: differences of sums."""
    rng, build = np.random.default_rng(seed), ircert.Builder(3)
    inner = build.affine(
        build.relu(build.affine(build.input, rng.normal(size=(4, 3)), rng.normal(size=4))), rng.normal(size=(3, 4))
    )
    whole = build.relu(build.add(build.input, inner))
    return build.graph(build.affine(build.concat(whole, build.input), rng.normal(size=(2, 6))))


def query(problem: str, norm: str = "inf", radius: float = 0.5) -> Query:
    other = network(9, 3, 4, 2) if problem == "transform" else None
    return Query(problem, [0.1, -0.2, 0.3], radius, norm, other, None)


def relaxed(given: Program) -> Program:
    return replace(given, integer=np.zeros(given.columns, dtype=bool))


@pytest.mark.rule("PR-19")
@pytest.mark.parametrize("problem", ["local", "transform"])
@pytest.mark.parametrize("graph", [network(1, 3, 5, 4, 2), residual(2)], ids=["layers", "residual"])
def test_bounds_of_differences_hold_at_pairs(graph: Graph, problem: str) -> None:
    asked = query(problem)
    bounds = pair_bounds(graph, asked, pipeline_of(asked))
    found = differential_bounds(bounds)
    rng = np.random.default_rng(0)
    pairs = np.tile(asked.center, 2) + 0.5 * rng.uniform(-1, 1, size=(200, 6))
    for node in nodes_of_x(bounds.graph):
        here, there = (part(bounds.graph, name)(pairs) for name in (node.name, twin(node.name)))
        low, high = found[node.name]
        assert (here - there >= low - 1e-12).all()
        assert (here - there <= high + 1e-12).all()


def part(graph: Graph, name: str) -> Graph:
    """The graph up to a node."""
    return Graph(needed_nodes({node.name: node for node in graph.nodes}, name), name)


@pytest.mark.rule("PR-19")
@pytest.mark.parametrize("problem", ["local", "transform"])
@pytest.mark.parametrize("graph", [network(1, 3, 5, 4, 2), residual(2)], ids=["layers", "residual"])
def test_the_optimum_stays_and_the_relaxation_is_tighter(graph: Graph, problem: str) -> None:
    plain, more = (program(graph, query(problem), name) for name in ("paper", NAME))
    whole = [Highs().solve(each).value for each in (plain, more)]
    assert whole[0] is not None
    assert whole[1] == pytest.approx(whole[0], rel=1e-5)
    bounds = [Highs().solve(relaxed(each)).value for each in (plain, more)]
    assert bounds[0] is not None
    assert bounds[1] is not None
    assert whole[0] - 1e-6 <= bounds[1] <= bounds[0] + 1e-6


@pytest.mark.rule("PR-19")
def test_pseudo_has_no_second_copy_and_no_such_rows() -> None:
    graph, asked = network(3, 3, 4, 2), query("pseudo")
    assert program(graph, asked, NAME).columns == program(graph, asked).columns
