from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert import passes
from ircert.errors import IrcertError, ParseError, PassError
from ircert.ir.graph import Graph
from ircert.passes.base import GraphPass, Pass, Rewrite
from ircert.passes.canonicalize import Canonicalize
from ircert.passes.eliminate_zeros import EliminateZeros
from ircert.passes.fix_inputs import FixInputs
from ircert.passes.options import create, to_text
from ircert.passes.pipeline import Pipeline, Step, _Scanner
from ircert.passes.select_outputs import SelectOutputs
from ircert.testing import graphs

NETWORK = ircert.load([([[1.0, 2.0, 3.0]], [0.5]), ([[1.0], [-1.0]], None)])


@pytest.mark.rule("P-7")
@pytest.mark.parametrize(
    "text",
    [
        "canonicalize",
        "canonicalize,fold-residual,eliminate-zeros",
        "fix-inputs{values={2: 2.1}},select-outputs{keep=[1, 0]}",
        "fix-inputs{values={0: -1e-300, 1: 0.1}}",
    ],
)
def test_pipelines_print_as_they_are_written(text: str) -> None:
    assert str(Pipeline.parse(text)) == text
    assert Pipeline.parse(text) == Pipeline.parse(f" {text.replace(',', ' , ')} \n")


@pytest.mark.rule("P-7")
@given(
    st.dictionaries(st.integers(0, 9), st.floats(allow_nan=False, allow_infinity=False), max_size=3),
    st.lists(st.integers(0, 9), min_size=1),
)
def test_options_round_trip(values: dict[int, float], keep: list[int]) -> None:
    pipeline = Pipeline((FixInputs(values), SelectOutputs(tuple(keep)), Canonicalize()))
    assert Pipeline.parse(str(pipeline)) == pipeline


@pytest.mark.rule("P-7", "P-8")
@pytest.mark.parametrize(
    ("text", "says"),
    [
        (",", "expected the name of a pass"),
        ("canonicalize,", "column 14: expected the name of a pass"),
        ("canonicalize fuse-affine", "column 14: expected `,` between passes"),
        ("fold", "no such pass; the passes are canonicalize, dual-copy, eliminate-zeros"),
        ("canonicalize{fast=true}", "no option `fast`; its options are: none"),
        ("select-outputs", "option `keep` is missing; write select-outputs{keep=…}"),
        ("select-outputs{keep=1}", "`keep` must be a list of integers, such as [0, 2], got '1'"),
        ("select-outputs{keep=[1.5]}", "must be a list"),
        ("select-outputs{keep=[true]}", "'[true]' is not a value"),
        ("select-outputs{keep=[True]}", "must be a list"),
        ("select-outputs{keep=[1]", "expected `,` or `}`"),
        ("select-outputs{keep}", "expected `=`"),
        ("select-outputs{keep=[1],keep=[2]}", "given twice"),
        ("fix-inputs{values={2: 1e999}}", "must be a dictionary from integers to finite numbers"),
        ("fix-inputs{values={'x': 1.0}}", "must be a dictionary"),
        ("fix-inputs{values=__import__('os')}", "is not a value"),
        ("canonicalize\n,!", "line 2, column 2"),
        ("fix-inputs{values={[1]: 1}}", "is not a value"),
        ("fix-inputs{values={0: 1" + "0" * 400 + "}}", "must be a dictionary"),
        ("fix-inputs{values={0: 9007199254740993}}", "must be a dictionary"),
        ("{" * 100000, "expected the name"),
        ("fix-inputs{values=" + "[" * 100000, "is not a value"),
    ],
)
def test_faults_in_pipelines_are_named(text: str, says: str) -> None:
    with pytest.raises((ParseError, PassError)) as caught:
        Pipeline.parse(text)
    assert says in str(caught.value)
    assert len(str(caught.value)) < 500


@given(st.text(max_size=50) | st.text("acnoilze,-{}=[]1'\" ", max_size=50))
def test_any_text_is_a_pipeline_or_an_error(text: str) -> None:
    with pytest.raises(IrcertError):
        Pipeline.parse(f"{text}!")


@pytest.mark.rule("P-8")
def test_option_types() -> None:
    @dataclass(frozen=True)
    class Many(GraphPass):
        name = "many"
        pair: tuple[int, str] = (0, "a")
        count: int = 1
        scale: float = 1.0
        on: bool = False
        word: str = "a"
        mode: Literal["fast", "slow"] = "fast"
        maybe: int | None = None
        table: dict[int, float] = field(default_factory=dict)

        def run(self, source: Graph) -> Rewrite[Graph]:
            return Rewrite(source)

    def built(options: dict[str, Any]) -> Any:
        return create(Many, options)

    assert built({"pair": [1, "b"], "count": 3, "scale": 2, "mode": "slow"}) == Many((1, "b"), 3, 2.0, mode="slow")
    assert type(built({"scale": 2}).scale) is float
    assert built({"maybe": None}) == Many()
    quoted = Many(word='it\'s "so", {or} not\\')
    assert create(Many, _Scanner(to_text(quoted)).passes()[0][1]) == quoted
    for options, says in (
        ({"pair": ["b", 1]}, "`pair` must be"),
        ({"pair": [1]}, "`pair` must be"),
        ({"count": 1.0}, "`count` must be an integer"),
        ({"count": True}, "`count` must be an integer"),
        ({"scale": "fast"}, "a finite number"),
        ({"scale": float("nan")}, "a finite number"),
        ({"on": 1}, "true or false"),
        ({"word": 1}, "a word"),
        ({"mode": "medium"}, "one of fast, slow"),
        ({"maybe": "x"}, "an integer or None"),
        ({"table": [1]}, "a dictionary"),
    ):
        with pytest.raises(PassError, match=says):
            built(options)


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


@pytest.mark.rule("P-11")
def test_hooks_see_every_step() -> None:
    steps: list[Step] = []
    Pipeline.parse("canonicalize,fix-inputs{values={0: 1}}").with_hooks(steps.append)(NETWORK)
    assert [(step.used.name, step.changed) for step in steps] == [("canonicalize", False), ("fix-inputs", True)]
    assert steps[0].rewrite.result is steps[1].before is NETWORK
    assert all(step.seconds >= 0 for step in steps)


def test_an_empty_pipeline_does_nothing() -> None:
    assert Pipeline()(NETWORK) is NETWORK
    assert str(Pipeline()) == ""
    assert Pipeline.parse(" ") == Pipeline()
