"""Networks that are carved out compute, exactly, what the whole computes at the entries that were asked for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert.engines.parts.carving import Carver
from ircert.ir.graph import Graph
from ircert.ir.ops import Conv, MaxPool
from ircert.ir.ops.piecewise import Abs, Clip, LeakyRelu, Max
from tests.structure.split import split_networks


def assert_same(graph: Graph, entries: dict[str, tuple[int, ...]], inputs: list[int], seed: int) -> Graph:
    cut, read = Carver(graph).carved(entries, inputs)
    for x in np.random.default_rng(seed).integers(-16, 17, (3, graph.input_dim)) / 8:
        whole = {name: list(Graph(_up_to(graph, name), name).exact(x)) for name in entries}
        wanted = [whole[name][i] for name, chosen in entries.items() for i in chosen]
        assert list(cut.exact(x[read])) == wanted
    return cut


def _up_to(graph: Graph, name: str) -> list[ircert.ir.graph.Node]:
    needed = {name, graph.input}
    for node in reversed(graph.nodes):
        needed |= set(node.operands) if node.name in needed else set()
    return [node for node in graph.nodes if node.name in needed]


@pytest.mark.rule("ST-10")
@given(split_networks(st.just([1, 2])), st.integers(0, 2**32 - 1), st.data())
def test_any_entries_of_any_nodes(graph: Graph, seed: int, data: st.DataObject) -> None:
    names = data.draw(st.lists(st.sampled_from([node.name for node in graph.nodes]), min_size=1, unique=True))
    entries = {
        name: tuple(data.draw(st.lists(st.integers(0, graph.sizes[name] - 1), min_size=1, unique=True)))
        for name in names
    }
    assert_same(graph, entries, [0], seed)


@pytest.mark.rule("ST-10")
def test_all_kinds_of_operations() -> None:
    rng, build = np.random.default_rng(0), ircert.Builder(8)
    x = build.node(Conv((1, 8), rng.integers(-2, 3, (2, 1, 3)) / 2, padding=(1, 1)), build.input)
    x = build.node(LeakyRelu(rng.integers(1, 4, 16) / 4), x)
    pooled = build.node(MaxPool((2, 8), (2,), stride=(2,)), x)
    clipped = build.node(Clip(-np.arange(8.0) / 4, None), pooled)
    largest = build.node(Max(), clipped, build.node(Abs(), build.input))
    constant = build.affine(build.input, np.zeros((2, 8)), [1.0, 2.0])
    graph = build.graph(build.concat(build.select(largest, [5, 1, 1]), constant, clipped))
    for entries in ((0,), (1, 2), (3,), (4, 0, 7)):
        assert_same(graph, {graph.output: entries}, [0, 5], 1)


@pytest.mark.rule("ST-11")
def test_equal_parts_are_the_same_network() -> None:
    eye = np.eye(3)
    graph = ircert.load([(np.kron(eye, [[1.0, 2.0], [0.5, -1.0]]), np.ones(6)), (np.kron(eye, [[1.0, 1.0]]), None)])
    made = [Carver(graph).carved({graph.output: (i,)}, [2 * i, 2 * i + 1])[0] for i in range(3)]
    assert len({part.sha256 for part in made}) == 1
    assert made[0].input_dim == 2
