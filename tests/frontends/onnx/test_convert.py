"""Nodes in order: what they may read and define, branches that are known, and nodes that are no ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import ircert
from ircert.errors import UnsupportedModel
from tests.frontends.support import compare, model, node, one, refused, weights


def test_constant_nodes() -> None:
    for attributes in (
        {"value": numpy_helper.from_array(weights(3))},
        {"value_floats": [1.0, 2.0, 3.0]},
        {"value_float": 2.5},
    ):
        compare(model([node("Constant", "", "c", **attributes), node("Add", "x c")], {"x": [1, 3]}))


def test_initialisers_that_are_also_inputs_are_constants() -> None:
    built = one("Add", [1, 2], weights(2))
    built.graph.input.append(helper.make_tensor_value_info("c0", TensorProto.FLOAT, [2]))
    assert compare(built).input_dim == 2


@pytest.mark.parametrize("taken", [True, False])
def test_a_known_branch_is_taken(taken: bool) -> None:
    branches = [
        helper.make_graph([node(op, "x", "z")], op, [], [helper.make_tensor_value_info("z", 1, None)])
        for op in ("Relu", "Neg")
    ]
    built = model(
        [node("If", "k", "y", then_branch=branches[0], else_branch=branches[1])], {"x": [1, 2]}, {"k": np.array(taken)}
    )
    np.testing.assert_array_equal(ircert.load(built)([-1.0, 2.0]), [0.0, 2.0] if taken else [1.0, -2.0])


def branch(source: str, factor: float) -> Any:
    """A branch o = w source with a weight of its own, whose name others use too."""
    result = helper.make_tensor_value_info("o", TensorProto.FLOAT, None)
    stored = numpy_helper.from_array(np.float32(factor), "w")
    return helper.make_graph([node("Mul", f"{source} w", "o")], "branch", [], [result], [stored])


def test_names_inside_a_branch_are_its_own() -> None:
    nodes = [
        node("If", "k", "a", then_branch=branch("x", 2), else_branch=branch("x", 3)),
        node("If", "k", "b", then_branch=branch("a", 5), else_branch=branch("a", 7)),
        node("Add", "b w"),
    ]
    compare(model(nodes, {"x": [1, 2]}, {"k": np.array(True), "w": np.float32(100)}))


def test_a_branch_may_hide_a_value_that_was_read_before() -> None:
    nodes = [node("Mul", "x w", "h"), node("If", "k", "y", then_branch=branch("h", 2), else_branch=branch("h", 3))]
    compare(model(nodes, {"x": [1, 2]}, {"k": np.array(False), "w": np.float32(100)}))


@pytest.mark.rule("F-4")
@pytest.mark.parametrize("nodes", [[], [node("Not", "k", "n"), node("Not", "n", "m")]])
def test_a_branch_not_taken_needs_no_input(nodes: list[Any]) -> None:
    choice = node("If", "m" if nodes else "k", "y", then_branch=branch("x", 2), else_branch=branch("z", 3))
    graph = ircert.load(model([*nodes, choice], {"x": [1, 2], "z": [1, 3]}, {"k": np.array(True)}))
    assert graph([1.0, 2.0]).tolist() == [2.0, 4.0]


def test_an_if_with_a_bound_condition_is_one_branch() -> None:
    built = model(
        [node("If", "k", "y", then_branch=branch("x", 2), else_branch=branch("z", 3))], {"x": [1, 2], "z": [1, 3]}
    )
    built.graph.input.append(helper.make_tensor_value_info("k", TensorProto.BOOL, []))
    assert ircert.load(built, inputs={"k": False}).input_dim == 3
    with pytest.raises(UnsupportedModel, match="several inputs"):
        ircert.load(built)


@pytest.mark.parametrize("name", ["x", "w"])
def test_a_node_may_not_redefine_what_is_given(name: str) -> None:
    with pytest.raises(UnsupportedModel, match=f"defines `{name}`"):
        ircert.load(model([node("Relu", "x", name), node("Add", "x w")], {"x": [1, 2]}, {"w": weights(2)}))


def test_constant_outputs() -> None:
    built = model(
        [node("Mul", "x zero", "z"), node("Concat", "z c", axis=1)],
        {"x": [1, 1]},
        {"zero": np.float32(0), "c": weights(1, 2)},
    )
    np.testing.assert_allclose(ircert.load(built)([3.0]), [0.0, *weights(1, 2)[0]])
    assert ircert.load(model([node("Identity", "x")], {"x": [1, 2]})).output_dim == 2


def test_structure() -> None:
    refused(model([node("Relu", "z")], {"x": [1]}), "nothing defines the value `z`")
    refused(model([node("Relu", "x"), node("Neg", "x")], {"x": [1]}), "two nodes define the value `y`")
    refused(
        model([node("Relu", "b", "a"), node("Neg", "a", "b")], {"x": [1]}, outputs=["b"]), "nothing defines the value"
    )
    refused(model([node("Relu", "x", "h")], {"x": [1]}), "nothing defines the value `y`")
    refused(model([node("Relu", "c")], {}, {"c": weights(1)}), "does not depend on an input")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("op", ["Add", "Mul", "Gemm", "Conv", "PRelu", "Div", "BatchNormalization"])
def test_nan_and_inf(op: str, value: float) -> None:
    bad = np.array([1.0, value], dtype=np.float32)
    built = {
        "Gemm": one("Gemm", [1, 2], bad.reshape(2, 1)),
        "Conv": one("Conv", [1, 1, 2], bad.reshape(1, 1, 2)),
        "BatchNormalization": one("BatchNormalization", [1, 2], bad, *[np.ones(2, np.float32)] * 3),
    }.get(op, one(op, [1, 2], np.array([1.0, 0.0], np.float32) if op == "Div" else bad))
    refused(built, f"node `the_{op}`", "nan or inf", "finite")


def test_custom_domain() -> None:
    built = model(
        [helper.make_node("Fused", ["x"], ["y"], "boom", domain="com.example")], {"x": [1]}, domains=["com.example"]
    )
    refused(built, "node `boom`", "com.example.Fused", "standard operators")


@pytest.mark.parametrize(
    "built",
    [
        one("Relu", [1, 2], nonsense=3),
        one("Relu", [1, 2], weights(2)),
        one("Concat", [1, 2]),
        one("Nonsense", [1, 2]),
        one("Gemm", [1, 2], weights(2, 2), transB="yes"),
    ],
)  # fmt: skip
def test_nodes_that_are_not_onnx(built: Any) -> None:
    refused(built, f"node `the_{built.graph.node[0].op_type}`", "not valid ONNX", "export the model again")


@pytest.mark.parametrize(
    "built",
    [
        one("Gemm", [1, 2], weights(3, 2)),
        one("MatMul", [2], weights(3)),
        one("Add", [1, 2], weights(3)),
        one("Reshape", [1, 2], np.array([3])),
        one("Gather", [1, 2], np.array([5])),
        one("Conv", [1, 2, 4], weights(1, 1, 2)),
        one("Conv", [1, 1, 4], weights(1, 1, 9)),
        one("Conv", [1, 1, 4], weights(1, 1, 2), strides=[0]),
        one("MaxPool", [1, 1, 4], kernel_shape=[2, 2]),
        one("Transpose", [1, 2], perm=[0, 0]),
        one("ReduceSum", [1, 2], np.array([7])),
        one("Slice", [1, 2], np.array([2]), np.array([2]), np.array([1])),
        one("PRelu", [1, 2], weights(5)),
    ],
)
def test_shapes_that_do_not_fit(built: Any) -> None:
    refused(built, f"node `the_{built.graph.node[0].op_type}`")
