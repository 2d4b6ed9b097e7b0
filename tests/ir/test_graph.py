from __future__ import annotations

import copy
import pickle
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array

import ircert
from ircert.errors import GraphError, OpError
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Abs, Add, Affine, Concat, Input, Relu, Select
from ircert.testing import graphs

X = Node("x", Input(2))
RELU = Node("a", Relu(), ("x",))


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


@pytest.mark.rule("IR-8")
@pytest.mark.parametrize(
    ("weight", "says"),
    [
        ([[np.nan]], "nan at [0, 0]"),
        ([[1.0, np.inf]], "inf at [0, 1]"),
        ([[1.0, 1e400]], "inf"),
        ([[1.0], [2.0, 3.0]], "rectangular"),
        ([["a"]], "real numbers"),
        ([[1j]], "real numbers"),
        ([1.0], "2 dimensions"),
        (np.zeros((0, 2)), "at least 1"),
        (np.array([[2**53 + 1]]), "integer that float64 cannot represent"),
        (np.array([[2**64 - 1]], dtype=np.uint64), "integer that float64 cannot represent"),
        (np.array([[np.longdouble(1) + np.finfo(np.longdouble).eps]]), "float64 cannot represent"),
        (csr_array(np.array([[1.0, np.nan]])), "nan"),
        (None, "real numbers"),
        ([[2**53 + 1, 0.5]], "integer that float64 cannot represent"),
        ([[True]], "real numbers"),
    ],
)
def test_numbers_that_are_no_finite_doubles_are_refused(weight: object, says: str) -> None:
    with pytest.raises(OpError, match=says.replace("[", r"\[").replace("]", r"\]")):
        Affine(weight)


@pytest.mark.rule("IR-8")
def test_arrays_are_owned_read_only_and_without_negative_zero() -> None:
    weight, bias = np.array([[1.0, -0.0]]), np.array([-0.0])
    op = Affine(weight, bias)
    weight[0, 0] = 7.0
    assert isinstance(op.weight, np.ndarray)
    assert op.weight[0, 0] == 1.0
    assert not np.signbit(op.weight).any()
    assert not np.signbit(op.bias).any()
    with pytest.raises(ValueError, match="read-only"):
        op.weight[0, 0] = 2.0
    frozen_view = np.arange(4.0)[::2].reshape(1, 2)
    frozen_view.setflags(write=False)
    assert Affine(frozen_view).weight is not frozen_view  # a view: its base could still change


@pytest.mark.rule("IR-8")
def test_sparse_arrays_are_owned_and_canonical() -> None:
    source = coo_array((np.array([1.0, 2.0, -0.0]), ([0, 0, 0], [1, 1, 0])), shape=(1, 2))
    weight: Any = Affine(source).weight
    assert weight.nnz == 1
    assert weight.toarray().tolist() == [[0.0, 3.0]]
    mine = csr_array(np.array([[1.0, 2.0]]))
    weight = Affine(mine).weight
    mine.data[0] = 9.0
    mine.indices[0] = 1
    assert weight.toarray().tolist() == [[1.0, 2.0]]
    assert not weight.data.flags.writeable


@pytest.mark.rule("IR-8")
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int32, np.int64, np.bool_])
def test_narrower_numbers_are_kept_exactly(dtype: type) -> None:
    values = np.array([[0, 1]], dtype=dtype) if dtype is np.bool_ else np.array([[3, -7]], dtype=dtype) / dtype(1)
    assert [float(v) for v in Affine(values).weight[0]] == [float(v) for v in values[0]]


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


@pytest.mark.rule("IR-8")
def test_an_array_that_its_owner_froze_is_copied_all_the_same() -> None:
    mine = np.array([[1.0, 2.0]])
    mine.setflags(write=False)
    graph = ircert.load([(mine, None)])
    mine.setflags(write=True)
    mine[0, 0] = 9.0
    assert graph([1.0, 0.0]).tolist() == [1.0]


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
