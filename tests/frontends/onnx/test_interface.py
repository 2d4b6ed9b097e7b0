"""Inputs, outputs, batches and shapes that the caller chooses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

import ircert
from ircert.errors import UnsupportedModel
from tests.frontends.support import compare, model, node, one, refused, weights


def two_inputs() -> Any:
    return model([node("Mul", "b two", "d"), node("Sub", "a d")], {"a": ["N", 2], "b": [1, 2]}, {"two": np.float32(2)})


def two_outputs() -> Any:
    return model([node("Relu", "x", "r"), node("Tanh", "x", "t")], {"x": [1, 2]}, outputs=["r", "t"])


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


@pytest.mark.parametrize(
    "dtype", [TensorProto.INT64, TensorProto.BOOL, TensorProto.STRING, TensorProto.UINT8, TensorProto.COMPLEX64]
)
def test_inputs_that_are_not_real(dtype: int) -> None:
    built = model([node("Identity", "x")], {"x": [1, 2]})
    built.graph.input[0].type.tensor_type.elem_type = dtype
    refused(built, "input `x`", f"it takes {TensorProto.DataType.Name(dtype).lower()}", "bind it")


def test_inputs_that_are_not_tensors() -> None:
    built = model([node("Identity", "x")], {"x": [1, 2]})
    element = helper.make_tensor_type_proto(TensorProto.FLOAT, [2])
    built.graph.input[0].type.CopyFrom(helper.make_sequence_type_proto(element))
    refused(built, "input `x`", "not a tensor")
