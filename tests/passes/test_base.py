"""What every pass keeps: contracts that the pipeline enforces, and lifts that compose."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

import ircert
from ircert import passes
from ircert.errors import PassError
from ircert.ir.graph import Graph
from ircert.passes.base import GraphPass, Pass, Rewrite
from ircert.passes.canonicalize import Canonicalize
from ircert.passes.eliminate_zeros import EliminateZeros
from ircert.passes.fix_inputs import FixInputs
from ircert.passes.pipeline import Pipeline
from ircert.passes.select_outputs import SelectOutputs
from ircert.testing import graphs
from tests.passes.test_pipeline import NETWORK


@pytest.mark.rule("P-12")
@pytest.mark.parametrize("name", passes.BUILT_IN)
def test_passes_are_from_graphs_to_graphs(name: str) -> None:
    assert (passes.get(name).takes, passes.get(name).gives) == (Graph, Graph)


@pytest.mark.rule("P-2")
@given(graphs())
def test_lifts_compose(graph: Graph) -> None:
    build = ircert.Builder(graph.input_dim + 2)
    wide = build.graph(build.insert(graph, build.select(build.input, range(2, graph.input_dim + 2))))
    pipeline = Pipeline(
        (FixInputs({0: 5.0}), Canonicalize(), FixInputs({0: 7.0}), SelectOutputs((0,)), EliminateZeros())
    )
    rewrite = pipeline.run(wide)
    x = np.array([Fraction(1, 3)] * graph.input_dim, dtype=object)
    assert list(rewrite.lift.point(x)) == [5, 7, *x]
    assert list(rewrite.result.exact(x)) == list(rewrite.lift.value(wide.exact(rewrite.lift.point(x))))
    assert rewrite.result == pipeline(wide)


@pytest.mark.rule("P-4")
def test_requirements_are_enforced_and_name_the_remedy() -> None:
    build = ircert.Builder(2)
    rich = build.graph(build.node(ircert.ir.ops.Abs(), build.input))
    with pytest.raises(PassError) as caught:
        Pipeline.parse("fold-residual")(rich)
    assert "needs a graph that is canonical, but `abs` is abs; run `canonicalize` before it" in str(caught.value)


@pytest.mark.rule("P-4")
def test_broken_promises_are_noticed() -> None:
    class Liar(GraphPass):
        name = "liar"
        ensures = ("plain-mlp",)

        def run(self, source: Graph) -> Rewrite[Graph]:
            return Rewrite(ircert.stack(source, source))

    class Careless(GraphPass):
        name = "careless"

        def run(self, source: Graph) -> Rewrite[Graph]:
            return source  # type: ignore[return-value]

    class Stranger(GraphPass):
        name = "stranger"
        requires = ("shiny",)

        def run(self, source: Graph) -> Rewrite[Graph]:
            return Rewrite(source)

    for used, says in (
        (Liar(), "a bug in the pass"),
        (Careless(), "instead of a Rewrite"),
        (Stranger(), "unknown property"),
    ):
        with pytest.raises(PassError, match=says):
            Pipeline((used,))(NETWORK)
    with pytest.raises(PassError, match="takes a Graph, got str"):
        Pipeline((Canonicalize(),))("graph")


@pytest.mark.rule("P-5")
def test_levels_must_fit() -> None:
    class ToText(Pass[Graph, str]):
        name = "to-text"
        takes = Graph
        gives = str

        def run(self, source: Graph) -> Rewrite[str]:
            return Rewrite(str(source))

    assert Pipeline((Canonicalize(), ToText()))(NETWORK) == str(NETWORK)
    with pytest.raises(PassError, match="takes a Graph but `to-text` before it gives a str"):
        Pipeline((ToText(), Canonicalize()))
