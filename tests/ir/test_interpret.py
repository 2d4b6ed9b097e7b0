"""One interpreter over the core operations: forward, backward, and what it does not know."""

from __future__ import annotations

import weakref
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert.errors import UnsupportedModel
from ircert.ir.arrays import Array
from ircert.ir.interpret import Backward, Forward, Given, GivenBack
from ircert.ir.ops import Affine, LeakyRelu
from ircert.questions.network import lowered as canonical
from ircert.testing.strategies import graphs


class Values(Forward[Array]):
    """Float evaluation at one point."""

    def affine(self, name: str, op: Affine, x: Array) -> Array:
        return np.asarray(op.weight @ x) + op.bias

    def relu(self, name: str, x: Array) -> Array:
        return np.maximum(x, 0.0)


@given(graphs(rich=False), st.integers(0, 1000))
def test_a_walk_forward_evaluates(graph: ircert.Graph, seed: int) -> None:
    graph = canonical(graph)
    x = np.random.default_rng(seed).integers(-8, 9, graph.input_dim) / 8
    values = Values().walk(graph, x)
    assert np.allclose(values[graph.output], graph(x))
    assert values.keys() == {node.name for node in graph.nodes}


@given(graphs(rich=False), st.integers(0, 1000))
def test_a_walk_for_the_output_alone_gives_the_same(graph: ircert.Graph, seed: int) -> None:
    graph = canonical(graph)
    x = np.random.default_rng(seed).integers(-8, 9, graph.input_dim) / 8
    assert np.array_equal(Values().walk_to_output(graph, x), Values().walk(graph, x)[graph.output])


def test_a_walk_for_the_output_alone_lets_values_go() -> None:
    alive: list[weakref.ref[Array]] = []
    most = 0

    def step(name: str, x: Array) -> Array:
        nonlocal most
        most = max(most, sum(ref() is not None for ref in alive))
        result = x + 1.0
        alive.append(weakref.ref(result))
        return result

    build = ircert.Builder(1)
    here = build.input
    for _ in range(20):
        here = build.relu(build.add(here, here))
    found = Given[Array](step, step).walk_to_output(build.graph(here), np.zeros(1))
    assert found == 2.0**20 - 1
    assert most <= 2


@given(graphs(rich=False), st.integers(0, 1000))
def test_a_walk_back_is_the_transpose_of_one_forward(graph: ircert.Graph, seed: int) -> None:
    graph = canonical(graph)
    rng = np.random.default_rng(seed)
    slopes = {name: rng.integers(0, 2, size) / 1.0 for name, size in graph.sizes.items()}
    weights = {node.name: node.op.weight for node in graph.nodes if isinstance(node.op, Affine)}

    def relu(name: str, rows: Array) -> Array:
        return slopes[name][:, None] * rows

    ahead = Given[Array](lambda name, x: np.asarray(weights[name] @ x), relu)
    back = GivenBack[Array](lambda name, x: np.asarray(weights[name].T @ x), relu)
    forward = ahead.walk(graph, np.eye(graph.input_dim))[graph.output]
    backward = back.walk(graph, np.eye(graph.output_dim))
    assert np.allclose(forward.T, 0.0 if backward is None else backward)


@pytest.mark.parametrize("walk", [Values(), Backward[Any]()])
def test_what_is_not_handled_is_refused_with_its_place(walk: Any) -> None:
    build = ircert.Builder(1)
    graph = build.graph(build.node(LeakyRelu(np.array(0.5)), build.input, name="bent"))
    with pytest.raises(UnsupportedModel, match=r"leaky_relu at `bent`.*canonicalize"):
        walk.walk(graph, np.eye(1))


class Bent(Values):
    """The same with one more operation."""

    steps: ClassVar[Any] = {**Values.steps, LeakyRelu: lambda self, node, given: self.leaky(node.op, given[0])}

    def leaky(self, op: LeakyRelu, x: Array) -> Array:
        return np.where(x > 0, x, op.slope * x)


def test_a_subclass_registers_more_operations() -> None:
    build = ircert.Builder(2)
    graph = build.graph(build.node(LeakyRelu(np.array(0.5)), build.input, name="bent"))
    assert Bent().walk(graph, np.array([-2.0, 3.0]))["bent"].tolist() == [-1.0, 3.0]
