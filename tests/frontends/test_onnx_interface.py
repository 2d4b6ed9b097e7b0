"""Inputs, outputs, batches, shapes, names and storage: everything about a model but its ops."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import ircert
from ircert.errors import UnsupportedModel
from ircert.frontends.onnx.names import sanitised
from tests.frontends.support import compare, inlined_external, model, node, one, runtime, sample, weights


def two_inputs() -> Any:
    return model([node("Mul", "b two", "d"), node("Sub", "a d")], {"a": ["N", 2], "b": [1, 2]}, {"two": np.float32(2)})


def two_outputs() -> Any:
    return model([node("Relu", "x", "r"), node("Tanh", "x", "t")], {"x": [1, 2]}, outputs=["r", "t"])


def test_path_bytes_and_proto_agree(tmp_path: Path) -> None:
    built = one("Gemm", ["N", 3], weights(3, 2))
    path = tmp_path / "net.ONNX"
    onnx.save(built, path)
    graph = ircert.load(built)
    assert ircert.load(path) == ircert.load(str(path)) == ircert.load(built.SerializeToString()) == graph


@pytest.mark.rule("F-3")
@pytest.mark.parametrize("first", [1, "batch", "s31", "unk__6", "", None])
def test_a_leading_open_or_unit_dimension_is_the_batch(first: Any) -> None:
    graph = compare(model([node("MatMul", "x w")], {"x": [first, 3]}, {"w": weights(3, 2)}))
    assert (graph.input_dim, graph.output_dim) == (3, 2)


@pytest.mark.rule("F-3")
def test_no_batch() -> None:
    built = model([node("Relu", "x")], {"x": ["rows", 3]})
    assert ircert.load(built).input_dim == 3
    assert ircert.load(built, shape=(4, 3)).input_dim == 12
    assert ircert.load(built, shape={"x": (4, 3)}, batch=False).input_dim == 12
    with pytest.raises(UnsupportedModel, match=r"input `x`: it has the shape \[rows, 3\].*shape=\{'x'"):
        ircert.load(built, batch=False)


def test_a_fixed_batch_is_kept_unless_told() -> None:
    built = model([node("Relu", "x")], {"x": [4, 3]})
    assert ircert.load(built).input_dim == 12
    assert ircert.load(built, batch=True).input_dim == 3


def test_one_open_dimension_is_not_guessed() -> None:
    built = model([node("Relu", "x")], {"x": ["n"]})
    with pytest.raises(UnsupportedModel, match=r"\[n\].*shape="):
        ircert.load(built)
    assert ircert.load(built, shape=[5]).input_dim == 5
    assert ircert.load(built, batch=True).input_dim == 1


def test_open_inner_dimensions_are_refused_unless_given() -> None:
    built = model([node("Relu", "x")], {"x": ["N", 3, "h", None]})
    with pytest.raises(UnsupportedModel, match=r"\[1, 3, h, \?\].*shape="):
        ircert.load(built)
    assert ircert.load(built, shape=(1, 3, 2, 2)).input_dim == 12


def test_a_given_shape_may_not_contradict() -> None:
    built = model([node("Relu", "x")], {"x": ["N", 3, "h"]})
    for shape in ((1, 4, 2), (3, 2), (1, 3, 2, 1)):
        with pytest.raises(UnsupportedModel, match=r"contradicts the model's \[N, 3, h\]"):
            ircert.load(built, shape=shape)
    with pytest.raises(UnsupportedModel, match="one shape is given for several inputs"):
        ircert.load(two_inputs(), inputs=["a", "b"], shape=(1, 2))


def test_no_shape_at_all() -> None:
    built = model([node("Relu", "x")], {"x": [1, 2]})
    built.graph.input[0].type.tensor_type.ClearField("shape")
    with pytest.raises(UnsupportedModel, match="has no shape"):
        ircert.load(built)
    assert ircert.load(built, shape={"x": (1, 2)}).input_dim == 2


def test_shape_arithmetic_is_folded() -> None:
    nodes = [
        node("Shape", "x", "s"),
        node("Gather", "s one", "n", axis=0),
        node("Div", "n two", "half"),
        node("Unsqueeze", "half zero", "end"),
        node("Slice", "x zero end one1", "left"),
        node("Slice", "x end big one1", "right"),
        node("Concat", "right left", "y", axis=1),
    ]
    constants = {
        "one": np.array(1),
        "two": np.array(2),
        "zero": np.array([0]),
        "one1": np.array([1]),
        "big": np.array([2**62]),
    }
    graph = compare(model(nodes, {"x": ["N", 6]}, constants))
    np.testing.assert_array_equal(graph(np.arange(6.0)), [3, 4, 5, 0, 1, 2])


def test_constant_of_shape_and_range() -> None:
    nodes = [
        node("Shape", "x", "s"),
        node("ConstantOfShape", "s", "c", value=numpy_helper.from_array(np.array([1.5], dtype=np.float32))),
        node("Range", "zero three one", "r"),
        node("Add", "x c", "h"),
        node("Mul", "h r"),
    ]
    compare(model(nodes, {"x": ["N", 3]}, {"zero": np.float32(0), "three": np.float32(3), "one": np.float32(1)}))


def test_split_in_its_three_forms() -> None:
    for opset, constants, attributes in (
        (11, {}, {"split": [1, 4]}),
        (13, {"s": np.array([1, 4])}, {}),
        (18, {}, {"num_outputs": 2}),
    ):
        inputs = "x s" if constants else "x"
        built = model(
            [node("Split", inputs, "a b", axis=1, **attributes)],
            {"x": [1, 5]},
            constants,
            outputs=["a", "b"],
            opset=opset,
        )
        graph = ircert.load(built, outputs=["b", "a"])
        points = sample(3, 5)
        np.testing.assert_allclose(graph(points), runtime(built, points, {"x": (1, 5)}, ["b", "a"]))


@pytest.mark.rule("F-4")
def test_several_inputs_must_be_chosen() -> None:
    with pytest.raises(UnsupportedModel, match=r"several inputs: `a`, `b`.*inputs=\['a', 'b'\]"):
        ircert.load(two_inputs())
    joined = ircert.load(two_inputs(), inputs=["b", "a"])
    np.testing.assert_array_equal(joined([1.0, 2.0, 10.0, 20.0]), [8.0, 16.0])
    bound = ircert.load(two_inputs(), inputs={"b": [[1.0, 2.0]]})
    np.testing.assert_array_equal(bound([10.0, 20.0]), [8.0, 16.0])
    both = ircert.load(two_inputs(), inputs={"a": None, "b": None})
    np.testing.assert_array_equal(both([10.0, 20.0, 1.0, 2.0]), [8.0, 16.0])


def test_bound_values_take_the_declared_type_and_shape() -> None:
    built = model([node("Div", "b three", "d"), node("Sub", "a d")], {"a": [1], "b": [1]}, {"three": np.float32(3)})
    assert ircert.load(built, inputs={"b": [1]})([0.0]) == -(np.float32(1) / np.float32(3))
    with pytest.raises(UnsupportedModel, match=r"input `b`: it is bound to an array of shape \(2,\); .* shape \(1\)"):
        ircert.load(built, inputs={"b": [1.0, 2.0]})
    with pytest.raises(UnsupportedModel, match="input `b`: it cannot be bound"):
        ircert.load(built, inputs={"b": ["one"]})


def test_sizes_are_computed_as_float32_does() -> None:
    nodes = [
        node("Shape", "x", "s"),
        node("Cast", "s", "f", to=TensorProto.FLOAT),
        node("Mul", "f scale", "g"),
        node("Floor", "g", "h"),
        node("Cast", "h", "sizes", to=TensorProto.INT64),
        node("Slice", "x zero sizes"),
    ]
    graph = compare(model(nodes, {"x": [10]}, {"scale": np.float32(0.7), "zero": np.array([0])}))
    assert graph.output_dim == 7


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (["a"], "also needs its input `b`"),
        (["a", "z"], "no input `z`; its inputs are `a`, `b`"),
        ({"z": 1.0}, "no input `z`"),
    ],
)
def test_wrong_inputs(inputs: Any, message: str) -> None:
    with pytest.raises(UnsupportedModel, match=message):
        ircert.load(two_inputs(), inputs=inputs)


@pytest.mark.rule("F-4")
def test_several_outputs_must_be_chosen() -> None:
    with pytest.raises(UnsupportedModel, match=r"several outputs: `r`, `t`.*outputs=\['r'\]"):
        ircert.load(two_outputs())
    graph = ircert.load(two_outputs(), outputs="r")
    assert all(n.op.piecewise_linear for n in graph.nodes)
    assert ircert.load(two_outputs(), outputs=["t", "r"]).output_dim == 4
    for outputs, message in (("z", "no value `z`; its outputs are `r`, `t`"), ([], "no output is chosen")):
        with pytest.raises(UnsupportedModel, match=message):
            ircert.load(two_outputs(), outputs=outputs)


def test_inner_values_can_be_outputs() -> None:
    built = model([node("Relu", "x", "r"), node("Sign", "r")], {"x": [1, 2]})
    with pytest.raises(UnsupportedModel, match="Sign"):
        ircert.load(built)
    np.testing.assert_array_equal(ircert.load(built, outputs=["r"])([-1.0, 2.0]), [0.0, 2.0])


@pytest.mark.rule("F-4")
def test_dangling_inputs_are_ignored() -> None:
    graph = ircert.load(model([node("Relu", "x")], {"x": [1, 2], "unused": ["a", "b"]}))
    assert graph.input_dim == 2


def test_initialisers_that_are_also_inputs_are_constants() -> None:
    built = one("Add", [1, 2], weights(2))
    built.graph.input.append(helper.make_tensor_value_info("c0", TensorProto.FLOAT, [2]))
    assert compare(built).input_dim == 2


def test_constant_nodes() -> None:
    for attributes in (
        {"value": numpy_helper.from_array(weights(3))},
        {"value_floats": [1.0, 2.0, 3.0]},
        {"value_float": 2.5},
    ):
        compare(model([node("Constant", "", "c", **attributes), node("Add", "x c")], {"x": [1, 3]}))


def test_sparse_initialisers() -> None:
    values = numpy_helper.from_array(np.array([2.0, -1.0], dtype=np.float32), "w")
    for indices in (np.array([1, 5]), np.array([[0, 1], [1, 2]])):
        built = model([node("MatMul", "w x")], {"x": [3]})
        sparse = helper.make_sparse_tensor(values, numpy_helper.from_array(indices, "i"), [2, 3])
        built.graph.sparse_initializer.append(sparse)
        np.testing.assert_array_equal(ircert.load(built)([1.0, 10.0, 100.0]), [20.0, -100.0])


def test_bfloat16_weights_widen_exactly() -> None:
    weight = helper.make_tensor("w", TensorProto.BFLOAT16, [2, 1], [1.5, -0.25])
    built = model([node("MatMul", "x w")], {"x": [1, 2]}, dtype=TensorProto.BFLOAT16)
    built.graph.initializer.append(weight)
    assert ircert.load(built)([2.0, 4.0]) == 2.0


@pytest.mark.rule("F-1")
def test_weights_are_the_stored_numbers() -> None:
    weight = weights(3, 2)
    graph = ircert.load(one("MatMul", [1, 3], weight))
    assert np.array_equal(graph[graph.output].op.weight, weight.T.astype(np.float64))  # type: ignore[attr-defined]


def test_local_functions_are_inlined() -> None:
    body = [node("Relu", "a", "r"), node("Neg", "r", "b")]
    function = helper.make_function("mine", "Negated", ["a"], ["b"], body, [helper.make_opsetid("", 17)])
    call = helper.make_node("Negated", ["x"], ["y"], domain="mine")
    built = model([call], {"x": [1, 2]}, functions=[function], domains=["mine"])
    built.ir_version = 8
    np.testing.assert_array_equal(ircert.load(built)([-1.0, 2.0]), [0.0, -2.0])


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


def test_external_data(tmp_path: Path) -> None:
    built = one("Gemm", ["N", 3], weights(3, 4), weights(4))
    expected = ircert.load(built)
    onnx.save_model(
        built, str(tmp_path / "m.onnx"), save_as_external_data=True, location="m.onnx.data", size_threshold=0
    )
    assert (tmp_path / "m.onnx.data").exists()
    assert ircert.load(tmp_path / "m.onnx") == expected


def test_an_empty_unused_sidecar_is_fine(tmp_path: Path) -> None:
    built = one("Gemm", ["N", 3], weights(3, 4))
    stray = numpy_helper.from_array(weights(2), "stray")
    inlined_external(stray, "nowhere.data", 8)
    built.graph.initializer.append(stray)
    (tmp_path / "m.onnx").write_bytes(built.SerializeToString())
    assert ircert.load(tmp_path / "m.onnx").output_dim == 4


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("/fc1/Gemm_output_0", "fc1.Gemm"),
        ("model/dense/MatMul:0", "model.dense.MatMul"),
        ("12", "_12"),
        ("onnx::Relu_7", "onnx_Relu_7"),
        ("", "_"),
        ("ünï", "_n_"),
        ("x" * 300, "x" * 150),
    ],
)
def test_names(name: str, expected: str) -> None:
    assert sanitised(name) == expected


def test_names_are_kept_and_made_unique() -> None:
    nodes = [node("Relu", "in/x:0", "a/b"), node("Neg", "a/b", "a.b"), node("Add", "a.b a/b", "out")]
    graph = ircert.load(model(nodes, {"in/x:0": [1, 2]}, outputs=["out"]))
    assert [n.name for n in graph.nodes] == ["in.x", "a.b", "a.b_1", "out"]
    assert re.search(r"^out = add\(a.b_1, a.b\)$", str(graph), re.MULTILINE)


def test_options_are_for_onnx() -> None:
    with pytest.raises(UnsupportedModel, match="for ONNX models"):
        ircert.load([([[1.0]], None)], outputs=["y"])


@pytest.mark.rule("F-4")
@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"inputs": ["a", "a", "b"]}, "`a` is named twice"),
        ({"inputs": {"a": None}}, "also needs its input `b`"),
        ({"inputs": 3}, "`inputs` cannot be 3"),
        ({"inputs": [3]}, "`inputs` cannot be"),
        ({"inputs": b"ab"}, "`inputs` cannot be"),
        ({"inputs": ["a", "b"], "batch": "yes"}, "`batch` cannot be 'yes'"),
        ({"inputs": ["a", "b"], "outputs": 3}, "`outputs` cannot be 3"),
        ({"inputs": ["a", "b"], "shape": {"a": (3, 2)}, "batch": True}, "both a shape and batch=True"),
        ({"inputs": ["a", "b"], "shape": {"a": 3}}, "the shape cannot be 3"),
        ({"inputs": ["a", "b"], "shape": {"a": (1.5, 2)}}, "the shape cannot be"),
        ({"inputs": ["a", "b"], "shape": {"a": (-1, 2)}}, "the shape cannot be"),
        ({"inputs": ["a", "b"], "shape": {"a": "12"}}, "the shape cannot be"),
    ],
)
def test_wishes_that_cannot_be(wishes: dict[str, Any], message: str) -> None:
    with pytest.raises(UnsupportedModel, match=message):
        ircert.load(two_inputs(), **wishes)


def test_remedies_name_the_options_of_the_command_line() -> None:
    with pytest.raises(UnsupportedModel, match=r"outputs=\['r'\] \(command line: --outputs r\)"):
        ircert.load(two_outputs())
    with pytest.raises(UnsupportedModel, match=r"inputs=\['a', 'b'\] \(command line: --inputs a,b\)"):
        ircert.load(two_inputs())
    with pytest.raises(UnsupportedModel, match=r"shape=\{'x': \(1, …\)\} \(command line: --shape 1,…\)"):
        ircert.load(one("Relu", [1, "n"]))
