"""From a question through a pipeline to a program: one way, as data, into which other passes fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import ircert
from ircert.backends.base import Solver
from ircert.backends.lp import lp_text
from ircert.errors import IrcertError, QueryError
from ircert.ir.graph import Graph
from ircert.ir.ops import Min
from ircert.passes.base import GraphPass, Rewrite
from ircert.passes.dual_copy import DualCopy
from ircert.passes.pipeline import Pipeline
from ircert.passes.rebuilding import rebuild
from ircert.programs import formulations
from ircert.programs.formulations.apart import Apart
from ircert.programs.formulations.base import Asked, Formulation
from ircert.programs.formulations.program import pipeline_of
from ircert.programs.formulations.tangent import Tangent
from ircert.programs.program import Program
from ircert.testing import mlps
from tests.effort import examples

NETWORK = ircert.load([([[1.0, 0.5], [-0.5, 1.0]], [0.0, -0.25]), ([[1.0, -1.0], [0.5, 1.0]], None)])
QUERY = ircert.Query("local", [0.25, 0.5], 1.0)
MERGED = "canonicalize,fuse-affine,bypass-idle-relus,merge-multiples,cancel-terms"
BOUNDS = "interval-bounds{center=[0.25, 0.5], radius=1.0}"


@pytest.mark.rule("FO-2")
@pytest.mark.parametrize(
    ("formulation", "bounds", "says"),
    [
        ("paper", "symbolic", f"canonicalize,fuse-affine,{BOUNDS},dual-copy"),
        ("paper", "lp", f"canonicalize,fuse-affine,{BOUNDS[:-1]}, method=lp}},dual-copy"),
        ("tangent", "symbolic", f"{MERGED},{BOUNDS}"),
        ("apart{separation=0.5}", "symbolic", f"{MERGED},{BOUNDS}"),
    ],
)
def test_a_formulation_names_its_pipeline(formulation: str, bounds: Any, says: str) -> None:
    pipeline = pipeline_of(QUERY, formulation, bounds=bounds)
    assert str(pipeline) == says
    plain = ircert.program(NETWORK, QUERY, formulation, bounds=bounds)
    for given_pipeline in (says, pipeline):
        again = ircert.program(NETWORK, QUERY, formulation, bounds=bounds, pipeline=given_pipeline)
        assert lp_text(again) == lp_text(plain)


@pytest.mark.rule("FO-2", "FO-3", "FO-4")
def test_the_pipeline_of_paper_copies_where_there_are_two_points() -> None:
    for problem, other, end in (
        ("local", None, ",dual-copy"),
        ("transform", NETWORK, ",dual-copy{problem=transform}"),
        ("pseudo", None, ""),
    ):
        query = ircert.Query(problem, [0.25, 0.5], 1.0, other=other)
        assert str(pipeline_of(query)) == f"canonicalize,fuse-affine,{BOUNDS}{end}"
        again = ircert.program(NETWORK, query, pipeline=str(pipeline_of(query)))
        assert lp_text(again) == lp_text(ircert.program(NETWORK, query))


@pytest.mark.rule("FO-2")
def test_the_program_is_what_comes_out_of_the_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing runs beside it: the other network goes through the passes before `dual-copy`, then all of them run."""
    ran: list[str] = []
    original = Pipeline.run

    def spied(self: Pipeline, source: Any) -> Any:
        ran.append(",".join(used.name for used in self.passes))
        return original(self, source)

    monkeypatch.setattr(Pipeline, "run", spied)
    ircert.program(NETWORK, ircert.Query("transform", [0.25, 0.5], 1.0, other=NETWORK.select([0])))
    before = "canonicalize,fuse-affine,interval-bounds"
    assert ran == [before, f"{before},dual-copy"]


@dataclass(frozen=True)
class Renamed(GraphPass):
    """Every relu gets another name."""

    name = "renamed"

    def run(self, source: Graph) -> Rewrite[Graph]:
        return Rewrite(
            rebuild(source, lambda b, n, ops: b.relu(*ops, name=f"my_{n.name}") if n.op.kind == "relu" else None)
        )


@pytest.mark.rule("FO-2", "P-13")
@pytest.mark.parametrize("place", range(4))
def test_a_pass_of_ones_own_stands_between_two_others(place: int) -> None:
    passes = list(Pipeline.parse("canonicalize,fuse-affine,dual-copy,interval-bounds").passes)
    passes.insert(place, Renamed())
    made = ircert.program(NETWORK, QUERY, pipeline=Pipeline(tuple(passes)))
    assert {"relu.my_a1.x", "relu.my_a1.y"} <= {block.name for block in made.variables}
    plain = ircert.program(NETWORK, QUERY)
    assert made.matrix.shape == plain.matrix.shape
    assert (made.matrix.nnz, made.integer.sum()) == (plain.matrix.nnz, plain.integer.sum())


@pytest.mark.rule("FO-2", "P-13")
def test_bounds_are_wanted_behind_a_pass_that_drops_them() -> None:
    behind = Pipeline((*pipeline_of(QUERY).passes, Renamed()))
    with pytest.raises(QueryError, match="it carries no bounds; end it with `interval-bounds`"):
        ircert.program(NETWORK, QUERY, pipeline=behind)
    again = Pipeline((*behind.passes, *Pipeline.parse("interval-bounds").passes))
    assert "relu.my_a1.y" in lp_text(ircert.program(NETWORK, QUERY, pipeline=again))


@pytest.mark.rule("FO-2")
def test_the_other_network_is_lowered_too() -> None:
    """min(x_0, x_1) is a function of the identity, and is no core operation."""
    build = ircert.Builder(2)
    least = build.graph(build.node(Min(), *(build.select(build.input, [k]) for k in (0, 1))))
    identity = ircert.load([([[1.0, 0.0], [0.0, 1.0]], None)])
    solver = ircert.backends.get("highs")
    assert isinstance(solver, Solver)
    for order in ("interval-bounds,dual-copy{problem=transform}", "dual-copy{problem=transform},interval-bounds"):
        for f, g, gap in ((identity, least, 0.0), (least, identity, 2.0)):
            query = ircert.Query("transform", [0.25, 0.5], 1.0, other=g)
            made = ircert.program(f, query, pipeline=f"canonicalize,{order}")
            assert solver.solve(made, time_limit=60).value == pytest.approx(gap, abs=1e-5)
    given = Pipeline((*Pipeline.parse("canonicalize,interval-bounds").passes, DualCopy("transform", other=least)))
    with pytest.raises(QueryError, match=r"write `dual-copy{problem=transform}` once"):
        ircert.program(identity, ircert.Query("transform", [0.0, 0.0], 1.0, other=least), pipeline=given)


@pytest.mark.rule("FO-3")
@examples(25, suppress_health_check=list(HealthCheck))
@given(mlps(inputs=2, width=3, depth=2), st.sampled_from(["inf", "1", "2"]))
def test_copies_have_the_bounds_of_the_network(graph: Graph, norm: str) -> None:
    """Each copy's relus lie between the bounds of one network on the ball, and have as many binaries."""
    query = ircert.Query("local", (0.25,) * graph.input_dim, 1.0, norm)
    one = Pipeline(pipeline_of(query).passes[:-1])(graph)
    made = ircert.program(graph, query, indicators="half")
    for node in (node for node in one.nodes if node.op.kind == "relu"):
        low, high = (np.maximum(side[node.operands[0]], 0.0) for side in (one.bounds.low, one.bounds.high))
        for tag in "xy":
            where = made.block(f"relu.{node.name}.{tag}").where
            assert np.array_equal(made.lower[where], low)
            assert np.array_equal(made.upper[where], high)
    assert sum(made.integer[block.where].sum() for block in made.variables if block.name.startswith("t.")) == 2 * sum(
        ((one.bounds.low[n.operands[0]] < 0) & (one.bounds.high[n.operands[0]] > 0)).sum()
        for n in one.nodes
        if n.op.kind == "relu"
    )


@pytest.mark.rule("FO-2", "P-16")
def test_stable_neurons_leave_the_optimum_as_it_is() -> None:
    solver = ircert.backends.get("highs")
    assert isinstance(solver, Solver)
    query = ircert.Query("local", [2.0, 1.0], 1.5)
    plain = ircert.program(NETWORK, query)
    for end in ("interval-bounds,stable-neurons,dual-copy", "interval-bounds,dual-copy,stable-neurons"):
        less = ircert.program(NETWORK, query, pipeline=f"canonicalize,fuse-affine,{end}")
        assert less.integer.sum() == plain.integer.sum()
        found = solver.solve(less, time_limit=60).value
        assert found == pytest.approx(solver.solve(plain, time_limit=60).value, abs=1e-5)
    small = "canonicalize,interval-bounds{center=[2, 1], radius=0.25},stable-neurons,interval-bounds,dual-copy"
    with pytest.raises(QueryError, match="do not hold on the whole ball of the question"):
        ircert.program(NETWORK, query, pipeline=small)


@pytest.mark.rule("FO-2")
@pytest.mark.parametrize(
    ("pipeline", "says"),
    [
        ("canonicalize,dual-copy", "its graph is not bounded: it carries no bounds; end it with `interval-bounds`"),
        ("", "it does not make one graph of both points of this question; write `dual-copy` once"),
        ("canonicalize,interval-bounds", "it does not make one graph of both points"),
        ("canonicalize,interval-bounds,dual-copy{problem=transform}", "it does not make one graph of both points"),
        ("canonicalize,interval-bounds,dual-copy,dual-copy", "it does not make one graph of both points"),
        ("canonicalize,interval-bounds{center=[0.25, 0.5], radius=0.5},dual-copy", "do not hold on the whole ball"),
        (f"canonicalize,{BOUNDS[:-1]}, norm=1}},dual-copy", "do not hold on the whole ball"),
        ("fix-inputs{values={0: 0.25}},canonicalize,dual-copy", "it makes 2 -> 3 of 4 -> 4"),
        ("select-outputs{keep=[0]},canonicalize,dual-copy", "it makes 4 -> 3 of 4 -> 4"),
        (
            "select-outputs{keep=[0, 0]},canonicalize,interval-bounds,dual-copy",
            "its outputs are not those of the network",
        ),
        ("canonicalize,dual-copy,select-outputs{keep=[2, 3, 0, 1]},interval-bounds", "its outputs are not those"),
        ("nonsense", "there is no such pass"),
    ],
)
def test_a_pipeline_must_end_in_what_the_question_is_about(pipeline: str, says: str) -> None:
    with pytest.raises(IrcertError) as caught:
        ircert.program(NETWORK, QUERY, pipeline=pipeline)
    assert says in str(caught.value)


@pytest.mark.rule("FO-3", "P-14")
@examples(10, suppress_health_check=list(HealthCheck))
@given(mlps(inputs=2, width=3, depth=2, kinds=("dyadic",)), st.sampled_from(["local", "pseudo", "transform"]))
def test_it_is_the_program_of_the_dual_copy(graph: Graph, problem: Any) -> None:
    """At a solution the copied graph's first outputs vanish, and the objective is the length of the others."""
    center = (0.25,) * graph.input_dim
    other = graph.select([0]).then(ircert.load([([[2.0], [1.0]], None)])) if problem == "transform" else None
    both = DualCopy(problem, center if problem == "pseudo" else None, other).run(graph).result
    solver = ircert.backends.get("highs")
    assert isinstance(solver, Solver)
    made = ircert.program(graph, ircert.Query(problem, center, 1.0, other=other))
    outcome = solver.solve(made, time_limit=60)
    assert outcome.point is not None
    tags = ["x"] if problem == "pseudo" else ["x", "y"]
    values = both(np.concatenate([outcome.point[made.block(tag).where] for tag in tags]))
    size = 1 + np.abs(values).max()
    assert np.abs(values[: graph.output_dim]).max() <= 1e-4 * size
    assert np.abs(values[graph.output_dim :]).max() == pytest.approx(outcome.value, abs=1e-4 * size)


@pytest.mark.rule("FO-1")
def test_options_are_written_as_those_of_passes() -> None:
    text, made = "apart{separation=0.5}", Apart(0.5)
    assert formulations.get(text) == made == formulations.get(made)
    assert lp_text(ircert.program(NETWORK, QUERY, text)) == lp_text(ircert.program(NETWORK, QUERY, made))
    assert formulations.get("tangent{thickness=0.25, coordinate=1}") == Tangent(0.25, 1)
    for wrong, says in (
        ("twin", "formulation `twin`: there is no such formulation; the formulations are apart, paper, tangent"),
        ("apart{gap=1}", "formulation `apart`: it has no option `gap`; its options are: separation"),
        ("apart{separation=wide}", "the option `separation` must be a finite number or None"),
        ("apart{separation=1},paper", "one name was expected, got 2"),
        ("apart{", "line 1"),
    ):
        with pytest.raises(IrcertError) as caught:
            ircert.program(NETWORK, QUERY, wrong)
        assert says in str(caught.value)


@pytest.mark.rule("FO-1")
def test_a_formulation_may_be_an_object_of_anybody() -> None:
    seen: list[Asked] = []

    @dataclass(frozen=True)
    class Mine(Formulation):
        name = "mine"
        passes = "canonicalize"

        def program(self, asked: Asked) -> Program:
            seen.append(asked)
            return formulations.get("tangent").program(asked)

    ircert.program(NETWORK, QUERY, Mine())
    with pytest.raises(QueryError, match="leave dual-copy out: this formulation reads the graph of one point"):
        ircert.program(NETWORK, QUERY, Mine(), pipeline="canonicalize,interval-bounds,dual-copy")
    assert seen[0].bounds.graph == NETWORK
    assert seen[0].sha256 == NETWORK.sha256
    assert seen[0].other is None
