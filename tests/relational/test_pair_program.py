"""The program of two networks side by side: it holds every pair, and its optimum is the largest difference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ircert import backends
from ircert.backends.base import Solver
from ircert.errors import ProgramError
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph
from ircert.programs.program import Program
from ircert.relational.branching import Branching
from ircert.relational.differential_bounds import Pair
from ircert.relational.pair_program import PairProgram, finished, pair_program
from ircert.relational.points import Points
from ircert.relational.safe_relaxation import SafeRelaxation
from tests.relational.twins import around, graph, layers, points_of, rounded


def values(graph: Graph, x: Array) -> dict[str, Array]:
    known = {graph.input: x}
    for node in graph.nodes:
        if node.operands:
            known[node.name] = node.op.evaluate(*(known[name][None] for name in node.operands))[0]
    return known


def written(made: PairProgram, program: Program, x: Array, y: Array) -> Array:
    """The point of the program that two inputs are."""
    point = np.zeros(program.columns)
    for block, given in zip(made.points, (x, y), strict=False):
        point[block.where] = given
    inner = [values(copy.graph, given) for copy, given in zip(made.copies, (x, y), strict=True)]
    for copy, known in zip(made.copies, inner, strict=True):
        for name, form in copy.forms.items():
            for block, term in form.terms.items() if form.copies else ():
                rows = np.repeat(np.arange(len(form)), np.diff(term.indptr))
                point[term.indices + block.start] = known[name][rows]
        for name, (block,) in copy.phases.items():
            point[block.where] = known[copy.graph[name].operands[0]][list(block.labels or ())] > 0
    for name, block in made.gaps.items():
        point[block.where] = inner[0][name] - inner[1][made.pair.matching[name]]
    point[made.outputs[2].where] = inner[0][made.pair.first.output] - inner[1][made.pair.second.output]
    return point


@pytest.mark.parametrize("shared", [True, False])
def test_every_pair_keeps_to_the_rows(shared: bool) -> None:
    made = layers(4, 2, 6, 6, 2)
    ball = around(np.array([0.2, -0.1]), 1.0)
    built = pair_program(Pair(graph(made), graph(rounded(made, 0.25))), ball, shared=shared)
    program = finished(built)
    low, high = program.sides
    for x, z in zip(points_of(ball, 20), points_of(ball, 20, seed=2), strict=True):
        point = written(built, program, x, x if shared else z)
        assert (point >= program.lower - 1e-9).all()
        assert (point <= program.upper + 1e-9).all()
        given = program.matrix @ point
        assert (given >= low - 1e-9).all()
        assert (given <= high + 1e-9).all()


@pytest.mark.parametrize("norm", [Norm.INF, Norm.ONE])
def test_branching_agrees_with_a_solver(norm: Norm) -> None:
    made = layers(7, 3, 5, 5, 2)
    pair, ball = Pair(graph(made), graph(rounded(made, 0.1))), around(np.array([0.2, -0.1, 0.4]), 0.7, norm)
    built = pair_program(pair, ball, shared=True)
    program = finished(built)
    cost = np.zeros(program.columns)
    cost[built.outputs[2].start] = 1.0
    solver = backends.get("highs")
    assert isinstance(solver, Solver)
    truth = solver.solve(replace(program, objective=cost)).bound
    assert truth is not None
    points = Points.of(ball)
    for tighten in (None, lambda low, high: built.tightened(low, high, points)):
        search = Branching(SafeRelaxation(program), cost, tighten=tighten, value=truth * (1 - 1e-7), tol=1e-6)
        search.run()
        assert search.bound == pytest.approx(truth, rel=1e-6)


def test_rows_of_differences_tighten_the_relaxation() -> None:
    made = layers(0, 4, 20, 20, 2)
    f, g = graph(made), graph(rounded(made, 2.0**-8))
    ball = around(np.full(4, 0.3), 0.3)
    bounds = []
    for matched in (True, False):
        pair = Pair(f, g)
        if not matched:
            pair.matching = {f.input: g.input}
            pair.matched_outputs = False
        built = pair_program(pair, ball, shared=True)
        program = finished(built)
        cost = np.zeros(program.columns)
        cost[built.outputs[2].start] = 1.0
        bounds.append(SafeRelaxation(program).bound(cost).bound)
    assert bounds[0] < 0.5 * bounds[1]


def test_phases_decide_and_rule_out() -> None:
    made = layers(7, 3, 5, 2)
    pair, ball = Pair(graph(made), graph(rounded(made, 0.1))), around(np.zeros(3), 1.0)
    built = pair_program(pair, ball, shared=True)
    program = finished(built)
    (block,) = next(iter(built.copies[0].phases.values()))
    lower, upper = program.lower.copy(), program.upper.copy()
    lower[block.start] = 1.0
    found = built.tightened(lower, upper, Points.of(ball))
    assert found is not None
    assert (found[0] >= program.lower).all()
    for point in points_of(ball, 30):
        inside = written(built, program, point, point)
        if inside[block.start] == 1.0:
            assert (inside >= found[0] - 1e-9).all()
            assert (inside <= found[1] + 1e-9).all()
    x = built.points[0]
    fixed = program.lower.copy(), program.upper.copy()
    fixed[0][x.where] = fixed[1][x.where] = 0.5
    node = values(pair.first, np.full(3, 0.5))[built.copies[0].graph[next(iter(built.copies[0].phases))].operands[0]]
    for k, label in enumerate(block.labels or ()):  # the phase that the point does not have
        wrong = 0.0 if node[label] > 0 else 1.0
        sides = fixed[0].copy(), fixed[1].copy()
        sides[0][block.start + k] = sides[1][block.start + k] = wrong
        assert built.tightened(*sides, Points.of(ball)) is None


def test_overflow_is_refused() -> None:
    huge = graph([(np.full((2, 1), 1e300), np.zeros(2)), (np.full((1, 2), 1e300), np.zeros(1))])
    with pytest.raises(ProgramError):
        pair_program(Pair(huge, huge), around(np.zeros(1), 1e5), shared=False)
