from __future__ import annotations

import copy
import pickle
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import ircert
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Abs, Add, Affine, Concat, Input, Relu
from ircert.testing import graphs

X = Node("x", Input(2))


RELU = Node("a", Relu(), ("x",))


@pytest.mark.rule("IR-9")
def test_graphs_nodes_and_operations_are_frozen() -> None:
    graph = Graph([X, RELU], "a")
    with pytest.raises(AttributeError, match="frozen"):
        graph.output = "x"
    with pytest.raises(AttributeError):
        graph.nodes[0].name = "z"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        graph.nodes[0].op.length = 3  # type: ignore[attr-defined]
    with pytest.raises(TypeError):
        graph.sizes["x"] = 5  # type: ignore[index]


@pytest.mark.rule("IR-8", "IR-9")
def test_copies_are_frozen_too() -> None:
    graph = Graph([X, Node("h", Affine(csr_array(np.array([[0.1, -2.0]])), [3.0]), ("x",))], "h")
    for other in (pickle.loads(pickle.dumps(graph)), copy.deepcopy(graph)):
        op: Any = other["h"].op
        for part in (op.weight.data, op.weight.indices, op.bias):
            assert not part.flags.writeable
    with pytest.raises(AttributeError, match="frozen"):
        del graph.nodes
    with pytest.raises(TypeError):
        graph.consumers["x"] = ()  # type: ignore[index]


@pytest.mark.rule("IR-2")
def test_long_names_leave_room_for_rewrites() -> None:
    name = "n" * 200
    graph = Graph([X, Node(name, Abs(), ("x",))], name)
    assert len(ircert.Pipeline.parse("canonicalize")(graph)) == 4
    assert graph.then(graph)([1.0, -1.0]).tolist() == [1.0, 1.0]


@pytest.mark.rule("IR-10")
def test_equality_ignores_names_order_and_storage_but_nothing_else() -> None:
    def network(first: str, second: str, *, sparse: bool, bias: float = 0.0, swapped: bool = False) -> Graph:
        weight = np.array([[1.0, 0.0], [0.0, -2.0]])
        left = Node(first, Affine(csr_array(weight) if sparse else weight, [bias, 0.0]), ("x",))
        right = Node(second, Relu(), ("x",))
        operands = (second, first) if swapped else (first, second)
        return Graph([X, left, right, Node("y", Concat(), operands)], "y")

    base = network("a", "b", sparse=False)
    same = network("p", "q", sparse=True)
    reordered = Graph([base.nodes[k] for k in (0, 2, 1, 3)], "y")
    assert base == same == reordered
    assert base.sha256 == same.sha256 == reordered.sha256
    assert hash(base) == hash(same)
    assert base != network("a", "b", sparse=False, bias=5e-324)
    assert base != network("a", "b", sparse=False, swapped=True)
    assert base != "base"


@pytest.mark.rule("IR-10")
def test_the_digest_is_the_same_on_every_machine() -> None:
    graph = Graph([X, Node("h", Affine([[0.1, -2.0]], [3.0]), ("x",)), Node("y", Relu(), ("h",))], "y")
    assert graph.sha256 == "578363f531d8796e24466300b4cca809dc6ee1d05b5b509d995ce80cda10b391"


@pytest.mark.rule("IR-10")
@given(graphs())
def test_digest_survives_copies(graph: Graph) -> None:
    assert pickle.loads(pickle.dumps(graph)) == graph
    assert copy.deepcopy(graph).sha256 == graph.sha256
    renamed = {node.name: f"n{k}" for k, node in enumerate(graph.nodes)}
    other = Graph(
        [Node(renamed[n.name], n.op, tuple(renamed[o] for o in n.operands)) for n in graph.nodes], renamed[graph.output]
    )
    assert other == graph


@pytest.mark.rule("IR-10")
@given(graphs(), st.data())
def test_any_changed_number_changes_the_digest(graph: Graph, data: st.DataObject) -> None:
    affine = [node for node in graph.nodes if isinstance(node.op, Affine)]
    if not affine:
        return
    node = data.draw(st.sampled_from(affine))
    assert isinstance(node.op, Affine)
    bias = np.array(node.op.bias)
    entry = data.draw(st.integers(0, len(bias) - 1))
    bias[entry] = np.nextafter(bias[entry], np.inf)
    changed = Node(node.name, Affine(node.op.weight, bias), node.operands)
    assert Graph([changed if n is node else n for n in graph.nodes], graph.output) != graph


def test_the_networkx_view_has_sizes_operations_and_positions() -> None:
    graph = Graph([X, RELU, Node("y", Add(), ("a", "x", "a"))], "y")
    view = graph.networkx()
    assert view.nodes["y"]["size"] == 2
    assert isinstance(view.nodes["a"]["op"], Relu)
    assert sorted(view.get_edge_data("a", "y")) == [0, 2]
    assert nx.is_directed_acyclic_graph(view)
    with pytest.raises(nx.NetworkXError):
        view.add_node("z")


def test_repr_is_short_and_says_what_it_is() -> None:
    graph = Graph([X, RELU], "a")
    assert repr(graph) == f"<ircert.Graph 2 -> 2, 2 nodes, sha256 {graph.sha256[:12]}>"
    assert len(graph) == 2
    assert "a" in graph
    assert "b" not in graph
    assert graph["a"] is graph.nodes[1]
