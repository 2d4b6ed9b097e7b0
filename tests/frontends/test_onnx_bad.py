"""Bad models: one clear error each, that names the place and the remedy."""

from __future__ import annotations

import os
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

import ircert
from ircert.errors import FileError, IrcertError, UnsupportedModel
from tests.frontends.support import inlined_external, model, node, one, weights
from tests.test_files import at_most

NET = model(
    [
        node("Conv", "x w", "h", pads=[1, 1, 1, 1]),
        node("Relu", "h", "r"),
        node("Reshape", "r s", "f"),
        node("Gemm", "f v"),
    ],
    {"x": ["N", 1, 3, 3]},
    {"w": weights(2, 1, 3, 3), "s": np.array([0, -1]), "v": weights(18, 2)},
)


def refused(built: Any, *messages: str, kind: type[IrcertError] = UnsupportedModel, **options: Any) -> None:
    with pytest.raises(kind) as error:
        ircert.load(built, **options)
    for message in messages:
        assert message in str(error.value)
    assert error.value.remedy or error.value.where


# --- files ---------------------------------------------------------------------------------------------------------


def test_missing_file(tmp_path: Path) -> None:
    refused(tmp_path / "no.onnx", "no.onnx", "no such file", kind=FileError)
    refused(tmp_path, "does not say", kind=FileError)
    (tmp_path / "folder.onnx").mkdir()
    refused(tmp_path / "folder.onnx", "folder", kind=FileError)


@pytest.mark.parametrize("content", [b"not a model at all", b"\x00" * 40, NET.SerializeToString()[:-7], b"\x08\x07"])
def test_not_onnx(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.onnx"
    path.write_bytes(content)
    refused(path, "bad.onnx", "not an ONNX model", "export it again", kind=FileError)
    refused(content, "not an ONNX model", kind=FileError)


def test_empty_file(tmp_path: Path) -> None:
    (tmp_path / "empty.onnx").touch()
    refused(tmp_path / "empty.onnx", "empty.onnx", "the file is empty", kind=FileError)
    refused(onnx.ModelProto(), "no graph", kind=FileError)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, len(NET.SerializeToString()) - 1))
def test_truncation_never_crashes(length: int) -> None:
    with suppress(IrcertError):
        ircert.load(NET.SerializeToString()[:length])


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, len(NET.SerializeToString()) - 1), st.integers(0, 255)), min_size=1, max_size=4)
)
def test_damage_never_crashes(changes: list[tuple[int, int]]) -> None:
    data = bytearray(NET.SerializeToString())
    for place, byte in changes:
        data[place] = byte
    with suppress(IrcertError):
        ircert.load(bytes(data))


# --- external data -------------------------------------------------------------------------------------------------


def external(folder: Path, location: str, length: int = 48, offset: int = 0) -> Path:
    built = one("MatMul", [1, 3], weights(3, 4))
    inlined_external(built.graph.initializer[0], location, length, offset)
    path = folder / "m.onnx"
    path.write_bytes(built.SerializeToString())
    return path


def test_missing_sidecar(tmp_path: Path) -> None:
    refused(
        external(tmp_path, "m.onnx.data"), "m.onnx.data", "no such file", "initializer `c0`", "beside", kind=FileError
    )


@pytest.mark.rule("F-5")
@pytest.mark.parametrize("location", ["../secret", "/etc/passwd", "a/../../secret", "", "\0"])
def test_sidecar_outside_the_folder(tmp_path: Path, location: str) -> None:
    (tmp_path / "secret").write_bytes(b"\0" * 48)
    inner = tmp_path / "inner"
    inner.mkdir()
    refused(external(inner, location), "outside the model's folder", "initializer `c0`", kind=FileError)


@pytest.mark.rule("F-5")
def test_sidecar_that_is_a_link_out(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"\0" * 48)
    inner = tmp_path / "inner"
    inner.mkdir()
    os.symlink(tmp_path / "secret", inner / "m.data")
    refused(external(inner, "m.data"), "outside the model's folder", kind=FileError)


@pytest.mark.parametrize(("length", "offset"), [(48, 8), (24, 0), (48, -8), (2**40, 0)])
def test_sidecar_of_another_size(tmp_path: Path, length: int, offset: int) -> None:
    (tmp_path / "m.data").write_bytes(b"\0" * 48)
    refused(external(tmp_path, "m.data", length, offset), "needs 48 bytes", "the file has 48", kind=FileError)


def test_external_data_of_a_model_in_memory(tmp_path: Path) -> None:
    built = onnx.load(external(tmp_path, "m.data"), load_external_data=False)
    refused(built, "initializer `c0`", "has no folder", "give the path")


# --- claims --------------------------------------------------------------------------------------------------------

HUGE = np.array([1 << 20, 1 << 20])
CLAIMS: dict[str, Any] = {
    "constant_of_shape": model([node("ConstantOfShape", "s", "c"), node("Add", "x c")], {"x": [1, 2]}, {"s": HUGE}),
    "expand": one("Expand", [1, 1], HUGE),
    "expand_constant": model(
        [node("Expand", "c s", "d"), node("Add", "x d")], {"x": [1, 1]}, {"c": weights(1), "s": HUGE}
    ),
    "tile": one("Tile", [1, 2], HUGE),
    "pad": one("Pad", [1, 2], np.array([0, 1 << 40, 0, 0])),
    "range": model(
        [node("Range", "a b c", "r"), node("Add", "x r")],
        {"x": [1]},
        {"a": np.float32(0), "b": np.float32(1e30), "c": np.float32(1)},
    ),
    "conv": one("Conv", [1, 1, 4], weights(1, 1, 2), pads=[1 << 40, 0]),
    "max_pool": one("MaxPool", [1, 1, 4], kernel_shape=[1 << 40], pads=[1 << 40, 1 << 40]),
    "broadcast": model([node("Add", "x c")], {"x": [1 << 15, 1]}, {"c": np.zeros((1, 1 << 15), np.float32)}),
    "outer": model([node("MatMul", "x c")], {"x": [1 << 15, 1]}, {"c": np.zeros((1, 1 << 15), np.float32)}),
    "input": model([node("Relu", "x")], {"x": [1, 1 << 50]}),
    "resize": one("Resize", [1, 1, 2], None, np.array([1, 1, 1e12], dtype=np.float32)),
    "conv_transpose": one("ConvTranspose", [1, 1, 4], weights(1, 1, 2), strides=[1 << 40]),
}


@pytest.mark.rule("F-6")
@pytest.mark.parametrize("name", CLAIMS)
def test_claims_of_gigabytes(name: str) -> None:
    refused(CLAIMS[name], "an array of", "numbers would be needed", "at most")


def chained(op: str, count: int, inputs: dict[str, Any], stored: dict[str, Any], **attributes: Any) -> Any:
    """One op again and again, on the result before and, if there is one, on a stored array."""
    rest = f" {next(iter(stored))}" if stored else ""
    names = ["x", *(f"h{k}" for k in range(count))]
    steps = [node(op, f"{a}{rest}", b, **attributes) for a, b in pairwise(names)]
    return model([*steps, node("Relu", names[-1])], inputs, stored)


def of_constants(op: str, inputs: str, stored: dict[str, Any], count: int = 40) -> Any:
    """Many constants, of which one entry each is read."""
    made = [node(op, inputs, f"c{k}") for k in range(count)]
    read = [node("Slice", f"c{k} zero one", f"s{k}") for k in range(count)]
    total = node("Sum", " ".join(["x", *(f"s{k}" for k in range(count))]))
    return model([*made, *read, total], {"x": [1]}, {**stored, "zero": np.array([0]), "one": np.array([1])})


SIDE = 2**11
BOMBS: dict[str, Any] = {
    "concat_of_constants": model(
        [
            *(node("Concat", f"c{k} c{k}", f"c{k + 1}", axis=0) for k in range(40)),
            node("ReduceMax", "c40", "r", keepdims=0),
            node("Add", "x r"),
        ],
        {"x": [1]},
        {"c0": weights(1)},
    ),
    "concat": model(
        [
            node("Concat", "x x", "c0", axis=0),
            *(node("Concat", f"c{k} c{k}", f"c{k + 1}", axis=0) for k in range(40)),
            node("Relu", "c40"),
        ],
        {"x": [1]},
    ),
    "constants": of_constants("ConstantOfShape", "s", {"s": np.array([2**22])}),
    "ranges": of_constants("Range", "a b c", {"a": np.int64(0), "b": np.int64(2**21), "c": np.int64(1)}, 60),
    "tiles": of_constants("Tile", "c n", {"c": weights(1), "n": np.array([2**22])}),
    "transposes": chained("Transpose", 60, {"x": [SIDE, SIDE]}, {}, perm=[1, 0]),
    "diagonals": chained("Mul", 60, {"x": [SIDE, SIDE]}, {"c": np.float32(3)}),
    "matrices": chained("MatMul", 60, {"x": [200, 200]}, {"w": weights(200, 200)}),
    "relus": chained("Relu", 60, {"x": [SIDE, SIDE]}, {}),
    "where": model(
        [node("Greater", "x c", "g"), node("Where", "g x d")],
        {"x": [300, 300]},
        {"c": weights(300, 300), "d": weights(300, 300, seed=1)},
    ),
}


@pytest.mark.rule("F-6")
@pytest.mark.parametrize("name", BOMBS)
def test_claims_that_grow_node_by_node(name: str) -> None:
    assert BOMBS[name].ByteSize() < 2**20
    with at_most(700):
        refused(BOMBS[name], "node `")


@pytest.mark.rule("F-6")
def test_one_place_of_a_data_file_that_is_read_again_and_again(tmp_path: Path) -> None:
    count, size = 200, 2**20
    built = model([node("Sum", " ".join(["x", *(f"w{k}" for k in range(count))]))], {"x": [size]})
    for k in range(count):
        tensor = numpy_helper.from_array(np.zeros(1, np.float32), f"w{k}")
        tensor.dims[0] = size
        inlined_external(tensor, "m.data", 4 * size)
        built.graph.initializer.append(tensor)
    (tmp_path / "m.onnx").write_bytes(built.SerializeToString())
    (tmp_path / "m.data").write_bytes(bytes(4 * size))
    with at_most(700):
        refused(tmp_path / "m.onnx", "far more memory than the model's files")
    del built.graph.initializer[8:]
    built.graph.node[0].CopyFrom(node("Sum", " ".join(["x", *(f"w{k}" for k in range(8))])))
    (tmp_path / "m.onnx").write_bytes(built.SerializeToString())
    assert ircert.load(tmp_path / "m.onnx").output_dim == size


def test_a_claim_in_a_tensor() -> None:
    built = one("Add", [1, 2], weights(2))
    built.graph.initializer[0].dims[0] = 1 << 29
    assert len(built.SerializeToString()) < 300
    refused(built, "initializer `c0`", "claims the shape [536870912]", "another number of bytes")
    built.graph.initializer[0].dims[0] = -2
    refused(built, "initializer `c0`", "claims the shape [-2]")


def test_a_claim_in_a_sparse_tensor() -> None:
    values = numpy_helper.from_array(weights(1), "w")
    built = model([node("Add", "w x")], {"x": [3]})
    for indices, dims, message in (([1], [1 << 40], "numbers would be needed"), ([7], [3], "do not fit its shape")):
        del built.graph.sparse_initializer[:]
        sparse = helper.make_sparse_tensor(values, numpy_helper.from_array(np.array(indices), "i"), dims)
        built.graph.sparse_initializer.append(sparse)
        refused(built, "initializer `w`", message)


# --- numbers and types ---------------------------------------------------------------------------------------------


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


def test_string_weights() -> None:
    built = model([node("Add", "x w")], {"x": [1, 2]})
    built.graph.initializer.append(helper.make_tensor("w", TensorProto.STRING, [1], [b"a"]))
    refused(built, "initializer `w`", "it holds string numbers")


# --- ops -----------------------------------------------------------------------------------------------------------

BODY = helper.make_graph([node("Relu", "x", "z")], "body", [], [helper.make_tensor_value_info("z", 1, None)])
OPS: dict[str, tuple[Any, str, str]] = {
    "sign": (one("Sign", [1, 2]), "Sign", "jumps"),
    "floor": (one("Floor", [1, 2]), "Floor", "jumps"),
    "arg_max": (one("ArgMax", [1, 2]), "ArgMax", "jumps"),
    "thresholded": (one("ThresholdedRelu", [1, 2]), "ThresholdedRelu", "alpha = 0"),
    "shrink": (one("Shrink", [1, 2]), "Shrink", "bias = lambd"),
    "instance_norm": (
        one("InstanceNormalization", [1, 2, 3], weights(2), weights(2)),
        "InstanceNormalization",
        "deviation",
    ),
    "quantised": (one("QuantizeLinear", [1, 2], np.float32(0.5)), "QuantizeLinear", "export the float model"),
    "unknown": (one("Det", [2, 2]), "Det", "not supported"),
    "cast": (one("Cast", [1, 2], to=TensorProto.INT64), "Cast", "rounds computed numbers to int64"),
    "equal": (
        model([node("Equal", "x c", "y", name="the_Equal")], {"x": [1, 2]}, {"c": weights(2)}),
        "Equal",
        "condition",
    ),
    "random": (one("RandomNormalLike", [1, 2]), "RandomNormalLike", "random"),
    "dropout": (one("Dropout", [1, 2], np.float32(0.5), np.array(True)), "Dropout", "model.eval()"),
    "batch_norm": (
        one("BatchNormalization", [1, 2], *[np.ones(2, np.float32)] * 4, training_mode=1),
        "BatchNormalization",
        "model.eval()",
    ),
    "resize": (one("Resize", [1, 1, 2], None, np.array([1, 1, 2], np.float32), mode="linear"), "Resize", "nearest"),
    "powers": (one("Pow", [1, 2], np.array([2, 3], np.float32)), "Pow", "exponents differ"),
    "if": (
        model(
            [node("Greater", "x c", "g"), node("If", "g", "y", name="the_If", then_branch=BODY, else_branch=BODY)],
            {"x": [1]},
            {"c": weights(1)},
        ),
        "If",
        "control flow",
    ),
    "indices": (
        model([node("MaxPool", "x", "p y", name="the_MaxPool", kernel_shape=[2])], {"x": [1, 1, 4]}),
        "MaxPool",
        "second output",
    ),
    "conv_weight": (
        model([node("Conv", "x x", "y", name="the_Conv")], {"x": [1, 1, 3]}),
        "Conv",
        "weight must be a constant",
    ),
    "moved_comparison": (
        model(
            [node("Greater", "x c", "g"), node("Squeeze", "g", "h"), node("Where", "h x c")],
            {"x": [1]},
            {"c": weights(1)},
        ),
        "Squeeze",
        "comparison",
    ),
    "batch_norm_trained": (
        model(
            [helper.make_node("BatchNormalization", list("xsbmv"), list("ypqrt"), name="the_BatchNormalization")],
            {"x": [3, 1]},
            dict.fromkeys("sbmv", np.ones(1, np.float32)),
            opset=9,
        ),
        "BatchNormalization",
        "model.eval()",
    ),
    "dropout_of_constants": (
        model(
            [node("Dropout", "w r t", "d", name="the_Dropout"), node("Mul", "x d")],
            {"x": [1, 8]},
            {"w": weights(1, 8), "r": np.float32(0.5), "t": np.array(True)},
        ),
        "Dropout",
        "model.eval()",
    ),
    "comparison_as_integer": (
        model(
            [node("Greater", "x c", "g"), node("Cast", "g", "i", to=7), node("Cast", "i", to=1)],
            {"x": [1]},
            {"c": weights(1)},
        ),
        "Cast",
        "int64",
    ),
    "resize_10": (
        one("Resize", [1, 1, 4], np.array([1, 1, 0.75], np.float32), opset=10, mode="nearest"),
        "Resize",
        "operator set 11",
    ),
    "upsample_shrinks": (
        one("Upsample", [1, 1, 4], np.array([1, 1, 0.5], np.float32), opset=9, mode="nearest"),
        "Upsample",
        "operator set 11",
    ),
    "resize_same_size": (
        one("Resize", [1, 1, 3], np.array([1, 1, 1.1], np.float32), opset=10, mode="nearest"),
        "Resize",
        "factor 1",
    ),
    "nearest_mode": (
        one("Resize", [1, 1, 4], None, np.array([1, 1, 0.7], np.float32), mode="nearest", nearest_mode="up"),
        "Resize",
        "nearest_mode up",
    ),
    "auto_pad": (one("MaxPool", [1, 1, 4], kernel_shape=[2], auto_pad="SOME"), "MaxPool", "auto_pad 'SOME'"),
    "softmax_axis": (one("Softmax", [1, 2], opset=11, axis=2), "Softmax", "axis 2"),
    "same_dilated": (
        one("MaxPool", [1, 1, 6], kernel_shape=[2], dilations=[2], auto_pad="SAME_UPPER"),
        "MaxPool",
        "give pads",
    ),
    "gelu": (one("Gelu", [1, 4], opset=20, approximate="fast"), "Gelu", "none and tanh"),
    **{
        f"pad_{mode}": (one("Pad", [4], np.array([1, 1]), mode=mode), "Pad", f"mode '{mode}'")
        for mode in ("mean", "symmetric", "linear_ramp", "empty", "maximum")
    },
    "pad_reflect_long": (one("Pad", [3], np.array([3, 0]), mode="reflect"), "Pad", "less than the axis"),
    "pad_wrap_long": (one("Pad", [3], np.array([4, 0]), mode="wrap", opset=19), "Pad", "less than the axis"),
    "gemm_c": (one("Gemm", [1, 2], weights(2, 3), weights(4, 3)), "Gemm", "larger than the product"),
    "kernel_shape": (one("Conv", [1, 1, 4], weights(1, 1, 2), kernel_shape=[3]), "Conv", "contradicts its weight"),
    "split_uneven": (
        model([node("Split", "x", "y z", name="the_Split")], {"x": [5]}, opset=13),
        "Split",
        "does not split",
    ),
    "gather": (
        model([node("Cast", "x", "i", to=7), node("Gather", "x i", "y", name="n")], {"x": [2]}),
        "Cast",
        "int64",
    ),
}


@pytest.mark.rule("F-2")
@pytest.mark.parametrize("name", OPS)
def test_unsupported_ops(name: str) -> None:
    built, op, message = OPS[name]
    refused(built, f"{op}: ", message, "node `")


def test_loop() -> None:
    body = helper.make_graph(
        [node("Identity", "c", "d"), node("Relu", "v", "w")],
        "body",
        [
            helper.make_tensor_value_info("i", 7, []),
            helper.make_tensor_value_info("c", 9, []),
            helper.make_tensor_value_info("v", 1, [1]),
        ],
        [helper.make_tensor_value_info("d", 9, []), helper.make_tensor_value_info("w", 1, [1])],
    )
    built = model([node("Loop", "n _ x", "y", body=body)], {"x": [1]}, {"n": np.array(3)})
    refused(built, "Loop: control flow", "node `y`", "unrolled")


def test_custom_domain() -> None:
    built = model(
        [helper.make_node("Fused", ["x"], ["y"], "boom", domain="com.example")], {"x": [1]}, domains=["com.example"]
    )
    refused(built, "node `boom`", "com.example.Fused", "standard operators")


@pytest.mark.parametrize(("opset", "remedy"), [(6, "version_converter"), (10_000, "newer onnx")])
def test_operator_sets_out_of_range(opset: int, remedy: str) -> None:
    refused(one("Relu", [1, 2], opset=opset), f"operator set {opset}", remedy)


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


def test_structure() -> None:
    refused(model([node("Relu", "z")], {"x": [1]}), "nothing defines the value `z`")
    refused(model([node("Relu", "x"), node("Neg", "x")], {"x": [1]}), "two nodes define the value `y`")
    refused(
        model([node("Relu", "b", "a"), node("Neg", "a", "b")], {"x": [1]}, outputs=["b"]), "nothing defines the value"
    )
    refused(model([node("Relu", "x", "h")], {"x": [1]}), "nothing defines the value `y`")
    refused(model([node("Relu", "c")], {}, {"c": weights(1)}), "does not depend on an input")


def test_a_negative_sparse_index_is_refused() -> None:
    sparse = onnx.SparseTensorProto(dims=[2, 2])
    sparse.values.CopyFrom(numpy_helper.from_array(weights(2), "w"))
    sparse.indices.CopyFrom(numpy_helper.from_array(np.array([-1, 3]), "i"))
    built = model([node("MatMul", "x w")], {"x": [1, 2]})
    built.graph.sparse_initializer.append(sparse)
    refused(built, "sparse indices")


def test_messages_are_one_printable_line_whatever_the_file_calls_its_nodes() -> None:
    built = one("Sign", [1, 2])
    built.graph.node[0].name = "a\nb\x1b[31m\u2028c"
    with pytest.raises(UnsupportedModel) as caught:
        ircert.load(built)
    message = str(caught.value)
    assert message.isprintable()
    assert "a\\nb\\x1b[31m\\u2028c" in message


def test_a_very_long_data_file_name(tmp_path: Path) -> None:
    built = one("Gemm", [1, 2], weights(2, 2))
    inlined_external(built.graph.initializer[0], "w" * 100_000, 16)
    path = tmp_path / "net.onnx"
    path.write_bytes(built.SerializeToString())
    with pytest.raises(FileError, match="name has 100000 characters") as caught:
        ircert.load(path)
    assert len(str(caught.value)) < 300


def nested(depth: int) -> Any:
    """Functions, each of which calls the one before twice."""
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    bodies = [[node("Relu", "a", "b")]]
    for k in range(depth):
        bodies.append([helper.make_node(f"f{k}", [a], [b], domain="own") for a, b in (("a", "c"), ("c", "b"))])
    functions = [helper.make_function("own", f"f{k}", ["a"], ["b"], body, imports) for k, body in enumerate(bodies)]
    call = helper.make_node(f"f{depth}", ["x"], ["y"], domain="own")
    return model([call], {"x": [1, 2]}, domains=["own"], functions=functions)


@pytest.mark.rule("F-6")
def test_functions_that_call_functions() -> None:
    assert len(ircert.load(nested(6))) == 65
    assert nested(60).ByteSize() < 5000
    refused(nested(60), "functions cannot be inlined")
    built = nested(1)
    built.functions[0].node[0].CopyFrom(helper.make_node("f1", ["a"], ["b"], domain="own"))
    refused(built, "functions cannot be inlined")
