from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert import passes
from ircert.errors import IrcertError, ParseError, PassError
from ircert.ir.graph import Graph
from ircert.passes.base import GraphPass, Rewrite
from ircert.passes.pipeline import Pipeline, Step
from tests.entry_points import FakePoint

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


@pytest.mark.rule("P-7", "P-8")
@pytest.mark.parametrize(
    ("text", "says"),
    [
        (",", "expected the name of a pass"),
        ("canonicalize,", "column 14: expected the name of a pass"),
        ("canonicalize fuse-affine", "column 14: expected `,` between passes"),
        ("fold", "no such pass; the passes are bypass-idle-relus, cancel-terms, canonicalize"),
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


@pytest.mark.rule("P-11")
def test_hooks_see_every_step() -> None:
    steps: list[Step] = []
    Pipeline.parse("canonicalize,fix-inputs{values={0: 1}}").with_hooks(steps.append)(NETWORK)
    assert [(step.used.name, step.changed) for step in steps] == [("canonicalize", False), ("fix-inputs", True)]
    assert steps[0].rewrite.result is steps[1].before is NETWORK
    assert all(step.seconds >= 0 for step in steps)


def test_a_pass_of_another_package_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing(GraphPass):
        name = "fake"

        def run(self, source: Graph) -> Rewrite[Graph]:
            raise KeyError("nothing")

    with pytest.raises(KeyError):
        Pipeline((Failing(),))(NETWORK)
    monkeypatch.setattr(type(passes.REGISTRY), "plugins", lambda _: (FakePoint(Failing),))
    with pytest.raises(PassError, match=r"pass `fake`: the plugin of fake:thing failed \(KeyError: 'nothing'\)"):
        Pipeline.parse("fake")(NETWORK)


def test_an_empty_pipeline_does_nothing() -> None:
    assert Pipeline()(NETWORK) is NETWORK
    assert str(Pipeline()) == ""
    assert Pipeline.parse(" ") == Pipeline()
