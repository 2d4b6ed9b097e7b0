"""The rules of graphs: broken ones are named."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

import ircert
from ircert.errors import GraphError
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Add, Affine, Input, Relu, Select
from tests.ir.test_graph import RELU, X


@pytest.mark.rule("IR-1", "IR-2", "IR-3", "IR-4", "IR-5", "IR-6", "IR-7")
@pytest.mark.parametrize(
    ("nodes", "output", "rule", "says"),
    [
        ([], "x", "IR-1", "no nodes"),
        ([Node("a", Relu(), ("a",))], "a", "IR-1", "exactly one input"),
        ([X, Node("z", Input(2)), Node("a", Add(), ("x", "z"))], "a", "IR-1", "`x`, `z`"),
        ([X, Node("a", "relu", ("x",))], "a", "IR-1", "not an operation"),  # type: ignore[arg-type]
        ([X, RELU, RELU], "a", "IR-2", "two nodes have this name"),
        ([X, Node("1a", Relu(), ("x",))], "1a", "IR-2", "is not a name"),
        ([X, Node("a b", Relu(), ("x",))], "a b", "IR-2", "letters, digits"),
        ([X, Node("é", Relu(), ("x",))], "é", "IR-2", "is not a name"),
        ([X, Node("", Relu(), ("x",))], "", "IR-2", "is not a name"),
        ([X, RELU], "b", "IR-3", "the output `b` is not a node"),
        ([X, Node("a", Relu(), ("y",))], "a", "IR-3", "operand `y`"),
        ([X, Node("a", Add(), ("x", "b")), Node("b", Relu(), ("a",))], "b", "IR-4", "cycle"),
        ([X, Node("a", Relu(), ("a",))], "a", "IR-4", "a -> a"),
        ([X, Node("a", Relu(), ("x", "x"))], "a", "IR-5", "takes 1 operand, got 2"),
        ([X, Node("a", Add(), ())], "a", "IR-5", "at least one operand"),
        ([Node("x", Input(2), ("x",))], "x", "IR-4", "cycle"),
        ([X, Node("h", Affine([[1.0, 2.0, 3.0]]), ("x",))], "h", "IR-6", "3 columns"),
        ([X, Node("s", Select(np.array([2])), ("x",))], "s", "IR-6", "entry 2"),
        ([X, Node("h", Affine([[1.0, 2.0]]), ("x",)), Node("a", Add(), ("x", "h"))], "a", "IR-6", "different sizes"),
        ([X, RELU], "x", "IR-7", "does not depend on it"),
    ],
)
def test_broken_rules_are_named(nodes: list[Node], output: str, rule: str, says: str) -> None:
    with pytest.raises(GraphError) as caught:
        Graph(nodes, output)
    assert caught.value.rule == rule
    assert says in str(caught.value)


@pytest.mark.rule("IR-1")
def test_the_input_alone_is_a_graph_and_may_be_unused() -> None:
    assert Graph([X], "x")([1.0, 2.0]).tolist() == [1.0, 2.0]
    build = ircert.Builder(3)
    constant = build.graph(build.affine(build.input, csr_array((1, 3)), [2.5]))
    assert constant.exact([1, 2, 3]).tolist() == [Fraction(5, 2)]


@pytest.mark.rule("IR-4")
def test_nodes_in_any_order_are_sorted() -> None:
    backwards = [Node("y", Relu(), ("h",)), Node("h", Affine(np.eye(2)), ("x",)), X]
    assert [node.name for node in Graph(backwards, "y").nodes] == ["x", "h", "y"]
    given_order = [X, Node("b", Relu(), ("x",)), Node("a", Relu(), ("x",)), Node("y", Add(), ("a", "b"))]
    assert [node.name for node in Graph(given_order, "y").nodes] == ["x", "b", "a", "y"]


@pytest.mark.rule("IR-4")
def test_deep_graphs_do_not_exhaust_the_stack() -> None:
    build = ircert.Builder(1)
    x = build.input
    for _ in range(3000):
        x = build.relu(x)
    graph = build.graph(x)
    assert graph([2.0]).tolist() == [2.0]
    assert ircert.parse(str(graph)) == graph
