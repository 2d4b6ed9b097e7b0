"""From a question through a pipeline to a program: one way, as data, into which other passes fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ircert
from ircert.backends.base import Solver
from ircert.backends.lp import lp_text
from ircert.errors import IrcertError, QueryError
from ircert.ir.graph import Graph
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

NETWORK = ircert.load([([[1.0, 0.5], [-0.5, 1.0]], [0.0, -0.25]), ([[1.0, -1.0], [0.5, 1.0]], None)])
QUERY = ircert.Query("local", [0.25, 0.5], 1.0)
BOUNDS = "interval-bounds{center=[0.25, 0.5], radius=1.0}"


@pytest.mark.rule("FO-2")
@pytest.mark.parametrize(
    ("formulation", "bounds", "says"),
    [
        ("paper", "symbolic", f"canonicalize,fuse-affine,{BOUNDS}"),
        ("paper", "lp", f"canonicalize,fuse-affine,{BOUNDS[:-1]}, method=lp}}"),
        ("tangent", "symbolic", f"canonicalize,fuse-affine,merge-multiples,{BOUNDS}"),
        ("apart{separation=0.5}", "symbolic", f"canonicalize,fuse-affine,merge-multiples,{BOUNDS}"),
    ],
)
def test_a_formulation_names_its_pipeline(formulation: str, bounds: Any, says: str) -> None:
    pipeline = pipeline_of(QUERY, formulation, bounds=bounds)
    assert str(pipeline) == says
    plain = ircert.program(NETWORK, QUERY, formulation, bounds=bounds)
    for given_pipeline in (says, pipeline):
        again = ircert.program(NETWORK, QUERY, formulation, bounds=bounds, pipeline=given_pipeline)
        assert lp_text(again) == lp_text(plain)


@pytest.mark.rule("FO-2")
def test_the_program_is_what_comes_out_of_the_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing runs beside it: every pass that runs is one of the pipeline, once for each network."""
    ran: list[str] = []
    original = Pipeline.run

    def spied(self: Pipeline, source: Any) -> Any:
        ran.append(",".join(used.name for used in self.passes))
        return original(self, source)

    monkeypatch.setattr(Pipeline, "run", spied)
    ircert.program(NETWORK, ircert.Query("transform", [0.25, 0.5], 1.0, other=NETWORK.select([0])))
    assert ran == ["canonicalize,fuse-affine,interval-bounds"] * 2


@dataclass(frozen=True)
class Renamed(GraphPass):
    """Every relu gets another name."""

    name = "renamed"

    def run(self, source: Graph) -> Rewrite[Graph]:
        return Rewrite(
            rebuild(source, lambda b, n, ops: b.relu(*ops, name=f"my_{n.name}") if n.op.kind == "relu" else None)
        )


@pytest.mark.rule("FO-2", "P-13")
def test_a_pass_of_ones_own_stands_between_two_others() -> None:
    passes = Pipeline.parse("canonicalize,fuse-affine").passes
    pipeline = Pipeline((*passes, Renamed(), *Pipeline.parse("interval-bounds").passes))
    text = lp_text(ircert.program(NETWORK, QUERY, pipeline=pipeline))
    assert "relu.my_a1.x" in text
    behind = Pipeline((*passes, *Pipeline.parse("interval-bounds").passes, Renamed()))
    with pytest.raises(QueryError, match="it carries no bounds; end it with `interval-bounds`"):
        ircert.program(NETWORK, QUERY, pipeline=behind)


@pytest.mark.rule("FO-2", "P-16")
def test_stable_neurons_leave_the_optimum_as_it_is() -> None:
    solver = ircert.backends.get("highs")
    assert isinstance(solver, Solver)
    query = ircert.Query("local", [2.0, 1.0], 1.5)
    plain = ircert.program(NETWORK, query)
    less = ircert.program(NETWORK, query, pipeline="canonicalize,fuse-affine,interval-bounds,stable-neurons")
    assert less.integer.sum() == plain.integer.sum()
    assert solver.solve(less, time_limit=60).value == pytest.approx(solver.solve(plain, time_limit=60).value, abs=1e-6)
    small = "canonicalize,interval-bounds{center=[2, 1], radius=0.25},stable-neurons,interval-bounds"
    with pytest.raises(QueryError, match="do not hold on the whole ball of the question"):
        ircert.program(NETWORK, query, pipeline=small)


@pytest.mark.rule("FO-2")
@pytest.mark.parametrize(
    ("pipeline", "says"),
    [
        ("canonicalize", "its graph is not bounded: it carries no bounds; end it with `interval-bounds`"),
        ("", "its graph is not bounded"),
        ("canonicalize,interval-bounds{center=[0.25, 0.5], radius=0.5}", "do not hold on the whole ball"),
        ("canonicalize,interval-bounds{center=[0.25, 0.5], radius=1.0, norm=1}", "do not hold on the whole ball"),
        ("canonicalize,interval-bounds,dual-copy", "it makes 4 -> 4 of 2 -> 2; a formulation makes the copies itself"),
        ("canonicalize,fix-inputs{values={0: 0.25}},interval-bounds{center=[0.5], radius=1}", "it makes 1 -> 2 of"),
        ("canonicalize,select-outputs{keep=[0]},interval-bounds", "it makes 2 -> 1 of 2 -> 2"),
        ("nonsense", "there is no such pass"),
    ],
)
def test_a_pipeline_must_end_in_what_the_question_is_about(pipeline: str, says: str) -> None:
    with pytest.raises(IrcertError) as caught:
        ircert.program(NETWORK, QUERY, pipeline=pipeline)
    assert says in str(caught.value)


@pytest.mark.rule("FO-3", "P-14")
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
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
            return formulations.get("paper").program(asked)

    ircert.program(NETWORK, QUERY, Mine())
    assert seen[0].bounds.graph == NETWORK
    assert seen[0].sha256 == NETWORK.sha256
    assert seen[0].other is None
