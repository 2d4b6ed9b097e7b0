"""Branch and bound: its bound holds at any time, only falls, and meets the optimum of the mixed-integer program."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ircert.backends.highs import Highs
from ircert.engines.optimum.linear_bounds import LinearBounds
from ircert.engines.optimum.relaxation import Known, Relaxation
from ircert.engines.optimum.tree import Tree
from ircert.programs.formulations.program import program
from ircert.questions.query import Query
from tests.programs.formulations.test_differences import network


def tree_of(problem: str, ball: Any, objective: Any) -> tuple[Tree, Query]:
    graph = network(1, 3, 4, 2)
    other = network(2, 3, 3, 2) if problem == "transform" else None
    query = Query(problem, [0.1, -0.2, 0.3], 0.75, ball, other, (-1.0, 0.75), objective)
    relaxation = Relaxation.of(query, Known.of(graph, query))
    return Tree(LinearBounds(relaxation), query.objective_norm, symmetric=problem != "pseudo"), query


@pytest.mark.rule("E-20")
@pytest.mark.parametrize("problem", ["local", "pseudo", "transform"])
@pytest.mark.parametrize(("ball", "objective"), [("inf", "inf"), ("inf", "1"), ("1", "inf")])
def test_it_falls_to_the_optimum(problem: str, ball: str, objective: str) -> None:
    tree, query = tree_of(problem, ball, objective)
    solved = Highs().solve(program(network(1, 3, 4, 2), query), time_limit=30)
    assert solved.value is not None
    bounds = [tree.bound]
    while tree.step(solved.value + 1e-5) is not None:
        bounds.append(tree.bound)
    assert (np.diff(bounds) <= 0).all()
    assert bounds[-1] == pytest.approx(solved.value, abs=2e-5)
    assert bounds[-1] >= solved.value - 1e-6


@pytest.mark.rule("E-20")
@pytest.mark.parametrize("problem", ["local", "transform"])
def test_points_of_a_round_ball_stay_in_the_program(problem: str) -> None:
    """Every part's bound is at least the objective of the pairs in it: here of random points x = y and corners."""
    tree, query = tree_of(problem, "2", "2")
    program, where = tree.bounds.relaxation.program, tree.bounds.relaxation
    low, high = program.lower[where.x], program.upper[where.x]
    rng = np.random.default_rng(0)
    for _ in range(20):
        way = rng.normal(size=3)
        point = np.clip(query.center + query.radius * way / np.linalg.norm(way) * 0.999, low, high)
        limits = {int(c): (float(v), float(v)) for c, v in zip(where.x, point, strict=True)}
        limits |= {int(c): (float(v), float(v)) for c, v in zip(where.y, point, strict=True)}
        assert tree.bounds.most({}, limits).point is not None
    outside = {int(c): (float(v), float(v)) for c, v in zip(where.x, query.center + 0.6, strict=True)}
    assert tree.bounds.most({}, outside).bound == -np.inf, "a corner of the box is far outside the ball"


def test_swapping_saves_half_and_only_where_it_may() -> None:
    local, _ = tree_of("local", "inf", "inf")
    pseudo, _ = tree_of("pseudo", "inf", "inf")
    assert (len(local._open), len(pseudo._open)) == (3, 6)
