"""The program of a question, solved, against brute force and ground truth."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import ircert
from ircert import backends
from ircert.backends.base import Outcome, Solver
from ircert.errors import IrcertError
from ircert.ir.evaluate import all_values
from ircert.ir.graph import Graph
from ircert.ir.ops import Abs
from ircert.programs.program import Program
from ircert.questions.network import lowered as canonical
from ircert.testing import graphs, mlps
from tests.effort import examples
from tests.programs.encodings import brute_force


def paper(
    graph: Graph,
    problem: str,
    center: Any,
    radius: float,
    norm: Any = "inf",
    objective_norm: Any = None,
    other: Any = None,
    domain: Any = None,
    **options: Any,
) -> Program:
    query = ircert.Query(
        problem, center, radius, norm, other, domain and {"low": domain[0], "high": domain[1]}, objective_norm
    )
    return ircert.program(graph, query, **options)


def solved(program: Any, backend: str = "highs") -> Outcome:
    solver = backends.get(backend)
    assert isinstance(solver, Solver)
    return solver.solve(program, time_limit=60)


def distance(outcome: Outcome, objective: str) -> float:
    assert outcome.value is not None
    return float(np.sqrt(outcome.value)) if objective == "2" else outcome.value


def tiny() -> st.SearchStrategy[Graph]:
    """Networks whose regions can be listed: at most two inputs and six neurons, weights k/8."""
    return mlps(inputs=2, width=3, depth=2, kinds=("dyadic",))


SLOW = examples(8, suppress_health_check=list(HealthCheck))


@pytest.mark.rule("PR-5")
@SLOW
@given(tiny(), st.sampled_from(["inf", "1"]), st.sampled_from(["inf", "1"]), st.data())
def test_local_and_pseudo_are_those_of_brute_force(
    graph: Graph, norm: str, objective: str, data: st.DataObject
) -> None:
    center = np.array([data.draw(st.integers(-8, 8)) / 8 for _ in range(graph.input_dim)])
    radius = data.draw(st.sampled_from([0.5, 1.0, 2.0]))
    bounds: Any = data.draw(st.sampled_from(["interval", "symbolic", "lp"]))
    program = paper(graph, "local", tuple(center), radius, norm, objective, bounds=bounds)
    wanted = brute_force.largest_gap(graph, center, radius, norm, objective)
    assert distance(solved(program), objective) == pytest.approx(wanted, abs=1e-5)
    program = paper(graph, "pseudo", tuple(center), radius, norm, objective, bounds=bounds)
    wanted = brute_force.farthest_preimage(graph, center, radius, norm, objective)
    assert distance(solved(program), objective) == pytest.approx(wanted, abs=1e-5)
    assert not any(block.name.startswith("t.") and ".y" in block.name for block in program.variables)


@SLOW
@given(mlps(inputs=2, width=2, depth=2, kinds=("dyadic",)), st.sampled_from(["inf", "1"]), st.data())
def test_the_l2_objective_is_that_of_brute_force(graph: Graph, norm: str, data: st.DataObject) -> None:
    center = np.array([data.draw(st.integers(-8, 8)) / 8 for _ in range(graph.input_dim)])
    program = paper(graph, "local", tuple(center), 1.0, norm, "2")
    wanted = brute_force.largest_gap(graph, center, 1.0, norm, "2")
    assert distance(solved(program, "scip"), "2") == pytest.approx(wanted, abs=1e-3)


@SLOW
@given(
    mlps(inputs=1, width=2, depth=1, kinds=("dyadic",)), mlps(inputs=1, width=2, depth=1, kinds=("dyadic",)), st.data()
)
def test_transform_is_that_of_brute_force(f: Graph, g: Graph, data: st.DataObject) -> None:
    objective = data.draw(st.sampled_from(["inf", "1"]))
    program = paper(f, "transform", (0.25,), 1.5, "inf", objective, g)
    wanted = brute_force.largest_gap(f, np.array([0.25]), 1.5, "inf", objective, g)
    assert distance(solved(program), objective) == pytest.approx(wanted, abs=1e-5)


def test_transform_with_a_gap_larger_than_the_ball() -> None:
    """f = |x| and g = 100 x on [-1, 1]: the gap is 200, where the slack 4 r would cut it at 4."""
    build = ircert.Builder(1)
    fold = canonical(build.graph(build.node(Abs(), build.input)))
    steep = ircert.load([([[100.0]], None)])
    for objective in ("inf", "1"):
        program = paper(fold, "transform", (0.0,), 1.0, "inf", objective, steep)
        assert solved(program).value == pytest.approx(200.0)
    back = paper(steep, "transform", (0.0,), 1.0, "inf", "inf", fold)
    assert solved(back).value == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("objective", ["inf", "1", "2"])
@pytest.mark.parametrize("norm", ["inf", "1", "2"])
def test_ground_truth_in_all_norms(norm: str, objective: str) -> None:
    """(|x1 - t|, x2): p* = max(0, 2 (r - |c1 - t|)) in every norm; f(c) is taken again 2 |c1 - t| away."""
    build = ircert.Builder(2)
    shifted = build.affine(build.input, [[1.0, 0.0]], [-0.25])
    graph = canonical(build.graph(build.concat(build.node(Abs(), shifted), build.select(build.input, [1]))))
    quadratic = "2" in (norm, objective)
    for center, radius in (((0.5, 0.0), 1.0), ((1.5, 0.0), 1.0)):
        gap, wanted = abs(center[0] - 0.25), max(0.0, 2 * (radius - abs(center[0] - 0.25)))
        program = paper(graph, "local", center, radius, norm, objective)
        found = distance(solved(program, "scip" if quadratic else "highs"), objective)
        assert found == pytest.approx(wanted, abs=1e-3 if quadratic else 1e-6)
        program = paper(graph, "pseudo", center, radius, norm, objective)
        found = distance(solved(program, "scip" if quadratic else "highs"), objective)
        assert found == pytest.approx(2 * gap if 2 * gap <= radius else 0.0, abs=1e-3 if quadratic else 1e-6)


def test_the_papers_count_of_binaries() -> None:
    """2 (n0 + n) for a network without stable neurons."""
    rng = np.random.default_rng(0)
    sizes = [3, 5, 4, 3]
    layers = [(rng.standard_normal((m, n)), np.zeros(m)) for n, m in pairwise(sizes)]
    program = paper(ircert.load(layers), "local", (0.0,) * 3, 1.0)
    assert int(program.integer.sum()) == 2 * (3 + 9)
    half = paper(ircert.load(layers), "local", (0.0,) * 3, 1.0, indicators="half")
    assert int(half.integer.sum()) == 3 + 2 * 9
    assert solved(half).value == pytest.approx(solved(program).value, abs=1e-5)
    pseudo = paper(ircert.load(layers), "pseudo", (0.0,) * 3, 1.0)
    assert int(pseudo.integer.sum()) == 2 * 3 + 9


@examples(24, suppress_health_check=list(HealthCheck))
@given(graphs(), st.integers(0, 10**6))
def test_with_its_inputs_fixed_the_program_computes_the_network(graph: Graph, seed: int) -> None:
    """The oracle: every neuron's variable equals its value; a program that fails is kept for reading."""
    graph = canonical(graph)
    rng = np.random.default_rng(seed)
    center = rng.integers(-8, 9, graph.input_dim) / 8
    program = paper(graph, "pseudo", tuple(center), 1.0)
    _check_neurons(graph, program, np.array(center))


def _check_neurons(graph: Graph, program: Any, x: Any) -> None:
    low, high = np.array(program.lower), np.array(program.upper)
    where = program.block("x").where
    low[where] = high[where] = x
    fixed = replace(program, lower=low, upper=high)
    outcome = solved(fixed)
    values = all_values(graph, x)
    try:
        assert outcome.point is not None, outcome
        for block in program.variables:
            if block.name.startswith(("relu.", "v.")):
                wanted = values[block.origin.node][0]
                assert outcome.point[block.where] == pytest.approx(wanted, abs=1e-5 * (1 + np.abs(wanted).max()))
    except AssertionError:
        backends.get("lp").emit(fixed, Path("failing.lp"))  # type: ignore[attr-defined]
        raise


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"radius": 0.0}, "radius must be a positive number"),
        ({"radius": float("nan")}, "radius must be a positive number"),
        ({"radius": -1.0}, "radius must be a positive number"),
        ({"radius": float("inf")}, "radius must be a positive number"),
        ({"center": (0.0,)}, "the centre has 1 coordinates but the network has 2 inputs"),
        ({"center": (0.0, float("nan"))}, "finite numbers"),
        ({"norm": "3"}, "there is no norm '3'"),
        ({"objective_norm": "max"}, "there is no norm 'max'"),
        ({"problem": "global"}, "there is no problem 'global'"),
        ({"problem": "transform"}, "needs an other network"),
        ({"domain": ((1.0, 1.0), (2.0, 2.0))}, "coordinate 0 of the centre lies outside the domain"),
        ({"domain": ((1.0, 1.0), (0.0, 0.0))}, "low <= high"),
    ],
)
def test_bad_questions(options: dict[str, Any], says: str) -> None:
    graph = ircert.load([([[1.0, 2.0]], None)])
    asked = {"problem": "local", "center": (0.0, 0.0), "radius": 1.0, **options}
    with pytest.raises(IrcertError) as caught:
        paper(graph, **asked)
    assert says in str(caught.value)


@pytest.mark.rule("PR-5")
def test_an_entry_that_occurs_several_times_keeps_its_coefficients_apart() -> None:
    """f(x) = 2^53 x + x - 2^53 x = x is injective."""
    build = ircert.Builder(1)
    graph = build.graph(build.affine(build.select(build.input, [0, 0, 0]), [[2.0**53, 1.0, -(2.0**53)]]))
    program = paper(graph, "local", (0.0,), 1.0)
    assert not any(abs(program.matrix.data) == 0)
    assert {2.0**53, -(2.0**53)} <= set(program.matrix.data.tolist())


def test_large_output_biases_cancel_before_they_round() -> None:
    """pseudo at c = 0.5 of x + 1e16: only c itself."""
    for bias in (1e10, 1e16):
        program = paper(ircert.load([([[1.0]], [bias])]), "pseudo", (0.5,), 1.0)
        assert solved(program).value == pytest.approx(0.0, abs=1e-6)


def test_long_and_confusing_names_can_be_exported(tmp_path: Path) -> None:
    def network(name: str) -> Graph:
        build = ircert.Builder(1)
        return build.graph(build.relu(build.affine(build.input, [[1.0]]), name=name))

    for f, g in (("n" * 180, "m" * 180), ("h.other", "h"), ("e1", "free"), ("w", "st")):
        program = paper(network(f), "transform", (0.0,), 1.0, other=network(g))
        assert max(len(name) for name in program.column_names + program.row_names) <= 100
        backends.get("lp").emit(program, tmp_path / "q.lp")  # type: ignore[attr-defined]


@pytest.mark.parametrize("options", [{"bounds": "foo"}, {"indicators": "foo"}, {"formulation": "twin"}])
def test_unknown_ways_of_asking(options: dict[str, Any]) -> None:
    with pytest.raises(IrcertError, match="there is no"):
        ircert.program(ircert.load([([[1.0]], None)]), ircert.Query("local", [0.0], 1.0), **options)
    with pytest.raises(IrcertError, match="no norm True"):
        ircert.Query("local", [0.0], 1.0, True)


@pytest.mark.parametrize("name", ["highs", "mip", "mip-highs", "scip"])
@pytest.mark.parametrize(("problem", "norm"), [("local", "inf"), ("local", "1"), ("pseudo", "inf"), ("local", "2")])
def test_every_backend_gives_the_same_optimum(name: str, problem: str, norm: str) -> None:
    rng = np.random.default_rng(5)
    layers = [(rng.standard_normal((6, 2)), rng.standard_normal(6)), (rng.standard_normal((2, 6)), None)]
    query = ircert.Query(problem, [0.25, -0.5], 1.25, norm, objective_norm="inf")
    program = ircert.program(ircert.load(layers), query)
    assert solved(program, name).value == pytest.approx(solved(program, "scip").value, abs=1e-4)
