"""Networks are lowered once a question, by a named pipeline, and witnesses are mapped back by its lift."""

from __future__ import annotations

import pickle
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import ircert
from ircert.engines.base import Answer, Question
from ircert.engines.pinned import unpinned, without_pinned
from ircert.errors import PassError
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.ir.graph import Graph
from ircert.ir.ops import Abs
from ircert.passes.canonicalize import Canonicalize
from ircert.questions.network import LOWERING, Network, Networks
from ircert.result.radius import End
from ircert.testing import graphs


def fold(inputs: int) -> Graph:
    build = ircert.Builder(inputs)
    return build.graph(build.concat(build.node(Abs(), build.select(build.input, [0])), build.select(build.input, [1])))


def question(graph: Graph, other: Graph | None = None, **changes: Any) -> Question:
    n = graph.input_dim
    problem = "local" if other is None else "transform"
    return replace(Question(graph, other, problem, Place.everywhere(np.full(n, 0.5)), None, 2.0), **changes)


@pytest.mark.rule("Q-4")
@given(graphs())
def test_the_lowered_graph_is_the_pipelines_result(graph: Graph) -> None:
    network = Network(graph)
    run = network.pipeline.run(graph)
    assert str(network.pipeline) == LOWERING
    assert network.lowered == run.result
    assert network.asked is network.loaded is graph
    assert network.lowered is network.lowered
    point = [Fraction(1, 3)] * graph.input_dim
    assert network.restored(point) == point


@pytest.mark.rule("Q-4")
def test_fixed_inputs_come_home_by_the_lift() -> None:
    network = Network(fold(3), {2: 0.1, 0: -1.0})
    assert str(network.pipeline) == f"fix-inputs{{values={{0: -1.0, 2: 0.1}}}},{LOWERING}"
    assert network.lowered.input_dim == network.asked.input_dim == 1
    assert network.restored([Fraction(1, 3)]) == [-1, Fraction(1, 3), Fraction(0.1)]
    assert (
        network.lowered.exact([Fraction(1, 3)]).tolist() == fold(3).exact(network.restored([Fraction(1, 3)])).tolist()
    )
    again = pickle.loads(pickle.dumps(network))
    assert again.lowered == network.lowered


@pytest.mark.rule("Q-4")
def test_a_question_keeps_its_networks_when_it_changes() -> None:
    asked = question(fold(2))
    assert replace(asked, radius=1.0, budget=7).networks is asked.networks
    assert asked.network.loaded is asked.graph
    assert replace(asked, graph=fold(3)).network.loaded is not asked.graph
    both = question(fold(2), fold(2).select([0]))
    assert both.networks.both.lowered.output_dim == 3
    assert both.networks.both is both.networks.both
    assert asked.networks.both is asked.network


@pytest.mark.rule("Q-4")
def test_pinned_inputs_come_home_by_the_lift() -> None:
    low, high = np.array([-1.0, 0.5, -1.0]), np.array([1.0, 0.5, 1.0])
    asked = question(fold(3), place=Place(np.full(3, 0.5), Norm.INF, low, high))
    inner = without_pinned(asked)
    assert inner.graph is inner.network.asked
    assert inner.network.loaded is asked.graph
    assert without_pinned(asked).networks is inner.networks
    third = Fraction(1, 3)
    found = Answer(None, End(0.0, ""), None, ([third, third], [-third, third]), "exact")
    assert unpinned(found, asked).witness == ([third, Fraction(1, 2), third], [-third, Fraction(1, 2), third])
    assert unpinned(found, question(fold(2))).witness == found.witness


@pytest.mark.rule("Q-4")
@pytest.mark.parametrize("engine", ["auto", "boxes", "regions"])
@pytest.mark.parametrize("problem", ["local", "pseudo", "transform"])
@pytest.mark.parametrize("pinned", [False, True])
def test_each_network_is_lowered_once(engine: str, problem: str, pinned: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """By identity: the network, for `transform` the other one, and the two together."""
    seen: list[Graph] = []
    original = Canonicalize.run

    def spied(self: Canonicalize, source: Graph) -> Any:
        seen.append(source)
        return original(self, source)

    monkeypatch.setattr(Canonicalize, "run", spied)
    other = fold(3).then(ircert.load([([[1.0, 0.5]], None)])) if problem == "transform" else None
    domain = {"low": [-9.0, -9.0, 0.5 if pinned else -9.0], "high": [9.0, 9.0, 0.5 if pinned else 9.0]}
    graph = fold(3) if pinned else fold(2)
    if not pinned:
        other = None if other is None else fold(2).then(ircert.load([([[1.0, 0.5]], None)]))
        domain = {side: values[:2] for side, values in domain.items()}
    center = [0.5] * graph.input_dim
    result = ircert.certify(graph, center, problem=problem, other=other, domain=domain, engine=engine)
    assert result.verdict == "certified"
    repeated = {key: n for key, n in Counter(map(id, seen)).items() if n > 1}
    assert repeated == {}, f"{len(seen)} lowerings"


def test_what_cannot_be_lowered_says_so_when_it_is_asked_for() -> None:
    build = ircert.Builder(1)
    networks = Networks.of(build.graph(build.node(ircert.ir.ops.smooth.Log(), build.input)))
    with pytest.raises((PassError, ircert.IrcertError), match="log"):
        _ = networks.both.lowered


def test_curves_stay() -> None:
    build = ircert.Builder(2)
    network = Networks.of(build.graph(build.node(Abs(), build.node(ircert.ir.ops.curves.Tanh(), build.input)))).network
    assert str(network.pipeline) == "lower-rich,fuse-affine"
    assert network.merged is network.lowered
    assert [node.op.kind for node in network.lowered.nodes if not node.op.core] == ["tanh"]
