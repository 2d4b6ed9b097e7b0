"""Constants: folded as onnxruntime computes them, in the file's own types, and as if they were inputs."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import ircert
from ircert.errors import UnsupportedModel
from tests.frontends.support import model, node, one, sample, weights
from tests.frontends.test_onnx_ops import CASES, SMOOTH

ODD: dict[str, Any] = {
    "batch_norm_9": one(
        "BatchNormalization", [1, 2, 3], weights(2), weights(2), weights(2), abs(weights(2)), opset=9, epsilon=0.1
    ),
    "softmax_11": one("Softmax", [1, 2, 2], opset=11, axis=1),
    "log_softmax_11": one("LogSoftmax", [2, 2, 2], opset=11, axis=1),
    "global_max_pool_3d": one("GlobalMaxPool", [1, 1, 2, 2, 2]),
    "max_pool_3d": one("MaxPool", [1, 1, 3, 3, 3], kernel_shape=[2, 2, 2]),
    "max_pool_same": one("MaxPool", [1, 1, 4], opset=12, kernel_shape=[2], strides=[3], auto_pad="SAME_UPPER"),
    "average_pool_valid": one("AveragePool", [1, 1, 6], opset=19, kernel_shape=[2], dilations=[2], auto_pad="VALID"),
    "conv_transpose_same": one(
        "ConvTranspose", [1, 1, 2], weights(1, 1, 2), auto_pad="SAME_UPPER", strides=[2], dilations=[2]
    ),
}


@pytest.mark.parametrize("name", [*CASES, *SMOOTH, *ODD])
@pytest.mark.rule("F-1")
def test_a_bound_input_gives_onnxruntimes_values(name: str) -> None:
    built = {**CASES, **SMOOTH, **ODD}[name]
    (info,) = [i for i in built.graph.input if i.name not in {t.name for t in built.graph.initializer}]
    shape = tuple(d.dim_value or 1 for d in info.type.tensor_type.shape.dim)
    value = sample(3, int(np.prod(shape)))[2].reshape(shape).astype(np.float32)
    session = onnxruntime.InferenceSession(built.SerializeToString(), providers=["CPUExecutionProvider"])
    expected = np.asarray(session.run(None, {info.name: value})[0], dtype=np.float64)
    bound = onnx.ModelProto()
    bound.CopyFrom(built)
    bound.graph.input.append(helper.make_tensor_value_info("free", TensorProto.FLOAT, [1]))
    bound.graph.node.append(node("Add", f"{built.graph.output[0].name} free", "sum"))
    graph = ircert.load(bound, inputs={info.name: value}, outputs=["sum"])
    np.testing.assert_allclose(
        graph([0.0]), expected.ravel(), rtol=1e-5, atol=1e-5 * max(1.0, float(np.abs(expected).max()))
    )


def agree(nodes: list[Any], constants: dict[str, Any], *, dtype: int = TensorProto.FLOAT, opset: int = 17) -> Any:
    """The value of `c`, made by the nodes, as a graph and onnxruntime add it to the input."""
    built = model([*nodes, node("Add", "x c")], {"x": [1]}, constants, dtype=dtype, opset=opset)
    session = onnxruntime.InferenceSession(built.SerializeToString(), providers=["CPUExecutionProvider"])
    zero = np.zeros(1, helper.tensor_dtype_to_np_dtype(dtype))
    expected = session.run(None, {"x": zero})[0].ravel().tolist()
    assert ircert.load(built)([0.0]).tolist() == expected
    return expected


F32 = np.float32
JUMPS: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "floor": ([node("Mul", "a b", "p"), node("Floor", "p", "c")], {"a": F32(0.7), "b": F32(10)}),
    "ceil": ([node("Mul", "a b", "p"), node("Ceil", "p", "c")], {"a": F32(0.1), "b": F32(30)}),
    "round": ([node("Mul", "a b", "p"), node("Round", "p", "c")], {"a": F32(0.7), "b": F32(5)}),
    "sign": ([node("Mul", "a b", "p"), node("Sign", "p", "c")], {"a": F32(1e-30), "b": F32(1e-30)}),
    "mod": (
        [node("Mul", "a b", "p"), node("Mod", "p d", "c", fmod=1)],
        {"a": F32(0.1), "b": F32(10), "d": F32(1)},
    ),
    "equal": (
        [node("Mul", "a b", "p"), node("Equal", "p q", "e"), node("Cast", "e", "c", to=TensorProto.FLOAT)],
        {"a": F32(0.1), "b": F32(3), "q": F32(0.1) * F32(3)},
    ),
    "less": (
        [node("Mul", "a b", "p"), node("Less", "p q", "e"), node("Cast", "e", "c", to=TensorProto.FLOAT)],
        {"a": F32(0.1), "b": F32(3), "q": F32(0.3)},
    ),
    "cast": (
        [node("Mul", "a b", "p"), node("Cast", "p", "i", to=7), node("Cast", "i", "c", to=TensorProto.FLOAT)],
        {"a": F32(0.7), "b": F32(10)},
    ),
    "overflow": ([node("Mul", "a b", "p"), node("Reciprocal", "p", "c")], {"a": F32(3e38), "b": F32(10)}),
    "half": (
        [node("Cast", "a", "h", to=TensorProto.FLOAT16), node("Cast", "h", "c", to=TensorProto.FLOAT)],
        {"a": F32(0.1)},
    ),
    **{
        f"cumsum_{reverse}{exclusive}": (
            [node("CumSum", "a k", "c", reverse=reverse, exclusive=exclusive)],
            {"a": np.array([1.0, 2.0, 4.0]), "k": np.array(0)},
        )
        for reverse, exclusive in itertools.product((0, 1), (0, 1))
    },
    "range": ([node("Range", "a b d", "c")], {"a": F32(0), "b": F32(2.0), "d": F32(0.1)}),
    "integers": (
        [node("Neg", "a", "n"), node("Div", "n b", "q"), node("Cast", "q", "c", to=TensorProto.FLOAT)],
        {"a": np.array([3, 7]), "b": np.array([2, -2])},
    ),
    "remainder": (
        [node("Mod", "a b", "q"), node("Cast", "q", "c", to=TensorProto.FLOAT)],
        {"a": np.array([-3, 7]), "b": np.array([2, -4])},
    ),
    "bytes": (
        [node("Mul", "a b", "q"), node("Cast", "q", "c", to=TensorProto.FLOAT)],
        {"a": np.array([200], np.int32), "b": np.array([2], np.int32)},
    ),
}


TABLE = np.arange(6.0).reshape(2, 3)
MOVES: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "dequantize": (
        [node("DequantizeLinear", "q s z", "c", axis=1)],
        {"q": np.array([[1, 2], [3, -4]], np.int8), "s": np.array([0.5, 0.25]), "z": np.array([0, 1], np.int8)},
    ),
    "dequantize_all": (
        [node("DequantizeLinear", "q s", "c")],
        {"q": np.array([[1, 200], [3, 4]], np.uint8), "s": np.array(0.1)},
    ),
    "eye": ([node("EyeLike", "t", "c", k=1)], {"t": TABLE}),
    "nonzero": ([node("NonZero", "t", "i"), node("Cast", "i", "c", to=TensorProto.FLOAT)], {"t": TABLE}),
    "one_hot": (
        [node("OneHot", "i n v", "c", axis=0)],
        {"i": np.array([0, 2, -1]), "n": np.array(3), "v": np.array([0.5, 2.0])},
    ),
    "compress": ([node("Compress", "t k", "c", axis=1)], {"t": TABLE, "k": np.array([True, False, True])}),
    "gather_nd": ([node("GatherND", "t i", "c")], {"t": TABLE, "i": np.array([[0, 1], [1, 2]])}),
    "scatter_nd": (
        [node("ScatterND", "t i u", "c")],
        {"t": TABLE, "i": np.array([[1]]), "u": np.array([[7.0, 8.0, 9.0]])},
    ),
    "scatter_elements": (
        [node("ScatterElements", "t i u", "c", axis=1)],
        {"t": TABLE, "i": np.array([[2], [-3]]), "u": np.array([[7.0], [8.0]])},
    ),
    "trilu": ([node("Trilu", "t k", "c", upper=0)], {"t": TABLE, "k": np.array(1)}),
    "reverse": (
        [node("ReverseSequence", "t n", "c", batch_axis=0, time_axis=1)],
        {"t": TABLE, "n": np.array([2, 3])},
    ),
    "product": ([node("ReduceProd", "t", "c", axes=[-1], keepdims=0)], {"t": TABLE}),
    "shape": ([node("Shape", "e", "s", start=-2), node("Cast", "s", "c", to=1)], {"e": np.zeros((2, 0, 3))}),
    "matmul": ([node("MatMul", "t w", "c")], {"t": TABLE, "w": TABLE.T.copy()}),
    "integers_of_a_clip": (
        [node("Clip", "i l", "j"), node("Cast", "j", "c", to=TensorProto.FLOAT)],
        {"i": np.array([-3, 5]), "l": np.array(0)},
    ),
    "power": ([node("Pow", "b t", "c")], {"b": np.array(2.0), "t": TABLE}),
}


@pytest.mark.parametrize("name", MOVES)
def test_constants_are_moved_as_onnxruntime_does(name: str) -> None:
    nodes, constants = MOVES[name]
    agree(nodes, constants)


@pytest.mark.rule("F-2")
def test_a_scatter_of_constants_that_reduces_is_refused() -> None:
    nodes = [node("ScatterND", "t i u", "c", reduction="add"), node("Add", "x c")]
    constants = {"t": TABLE, "i": np.array([[1], [1]]), "u": np.ones((2, 3))}
    with pytest.raises(UnsupportedModel, match="reduces entries"):
        ircert.load(model(nodes, {"x": [1]}, constants))


@pytest.mark.parametrize("name", JUMPS)
@pytest.mark.rule("F-1")
def test_arithmetic_among_constants_rounds_as_the_file_says(name: str) -> None:
    nodes, constants = JUMPS[name]
    agree(nodes, constants)


@pytest.mark.parametrize(
    ("nodes", "value"),
    [
        ([node("Floor", "a", "c")], 2.9999999999),
        ([node("Cast", "a", "i", to=7), node("Cast", "i", "c", to=TensorProto.DOUBLE)], 2.9999999999),
        ([node("Cast", "a", "i", to=9), node("Cast", "i", "c", to=TensorProto.DOUBLE)], 1e-60),
    ],
)
def test_doubles_are_decided_as_doubles(nodes: list[Any], value: float) -> None:
    agree(nodes, {"a": np.array(value)}, dtype=TensorProto.DOUBLE)


@pytest.mark.parametrize(
    ("made", "opset"),
    [
        (node("HannWindow", "n", "c"), 17),
        (node("Det", "m", "c"), 17),
        (node("RandomUniformLike", "m", "c"), 17),
        (node("Dropout", "m r t", "c"), 17),
    ],
)
@pytest.mark.rule("F-2")
def test_constants_of_other_ops_are_refused(made: Any, opset: int) -> None:
    constants = {"n": np.array(10**12), "m": weights(2, 2), "r": F32(0.5), "t": np.array(True)}
    with pytest.raises(UnsupportedModel):
        ircert.load(model([made, node("Add", "x c")], {"x": [1]}, constants, opset=opset))


@pytest.mark.rule("F-6")
def test_an_einsum_of_constants_does_not_fill_the_memory() -> None:
    built = model(
        [node("Einsum", "a a", "c", equation="i,j->ij"), node("Add", "x c")], {"x": [1]}, {"a": np.ones(50_000)}
    )
    with pytest.raises(UnsupportedModel, match="2500000000"):
        ircert.load(built)


def test_an_integer_result_that_is_not_exact_is_refused() -> None:
    nodes = [node("ReduceSum", "a", "s"), node("Cast", "s", "c", to=TensorProto.FLOAT), node("Add", "x c")]
    assert ircert.load(model(nodes, {"x": [1]}, {"a": np.array([2, 3])}))([0.0]).tolist() == [5.0]
    with pytest.raises(UnsupportedModel, match="not exact"):
        ircert.load(model(nodes, {"x": [1]}, {"a": np.array([2**53, 2**53])}))


# --- shapes ---------------------------------------------------------------------------------------------------------


def shapes_agree(built: Any, shape: tuple[int, ...]) -> None:
    """The shape of the result, read off by Shape, is that of onnxruntime's array."""
    session = onnxruntime.InferenceSession(built.SerializeToString(), providers=["CPUExecutionProvider"])
    expected = session.run(None, {"x": np.zeros(shape, F32)})[0].shape
    built.graph.node.extend(
        [
            node("Shape", "y", "_s"),
            node("Cast", "_s", "_f", to=TensorProto.FLOAT),
            node("ReduceSum", "x", "_t", keepdims=0),
            node("Add", "_f _t", "_z"),
        ]
    )
    assert ircert.load(built, outputs=["_z"])(np.zeros(int(np.prod(shape)))).tolist() == list(expected)


@pytest.mark.parametrize("name", CASES)
def test_results_have_onnxruntimes_shape(name: str) -> None:
    built = onnx.ModelProto()
    built.CopyFrom(CASES[name])
    (info,) = [i for i in built.graph.input if i.name not in {t.name for t in built.graph.initializer}]
    if info.name == "x" and name not in SCALARS:
        shapes_agree(built, tuple(d.dim_value or 1 for d in info.type.tensor_type.shape.dim))


SCALARS = {"matmul_1d_1d", "einsum_sum"}


@pytest.mark.parametrize("opset", [11, 13])
@pytest.mark.parametrize("axes", [*itertools.permutations([0, 2, 4]), (-3, -1), (-1, -3), (0, -1), (-5, 2, -1)])
def test_unsqueeze_takes_axes_in_any_order(axes: tuple[int, ...], opset: int) -> None:
    given: dict[str, Any] = {"axes": list(axes)} if opset < 13 else {}
    extra = () if opset < 13 else (np.array(axes),)
    shapes_agree(one("Unsqueeze", [2, 3], *extra, opset=opset, **given), (2, 3))


@pytest.mark.parametrize("opset", [11, 13])
@pytest.mark.parametrize("axes", [(0, 2), (2, 0), (-5, -3), (-3, 0, -1), (4, 2, 0), (-1,)])
def test_squeeze_takes_axes_in_any_order(axes: tuple[int, ...], opset: int) -> None:
    given: dict[str, Any] = {"axes": list(axes)} if opset < 13 else {}
    extra = () if opset < 13 else (np.array(axes),)
    shapes_agree(one("Squeeze", [1, 2, 1, 3, 1], *extra, opset=opset, **given), (1, 2, 1, 3, 1))


@pytest.mark.parametrize("step", [1, 2, -1, -3])
def test_slice_cuts_starts_and_ends_as_onnxruntime_does(step: int) -> None:
    edges = [-100, -5, -4, -1, 0, 3, 4, 100]
    x = np.array([1, 5, 2, 9], F32)
    for start, end in itertools.product(edges, edges):
        built = one("Slice", [4], *(np.array([v]) for v in (start, end, 0, step)))
        session = onnxruntime.InferenceSession(built.SerializeToString(), providers=["CPUExecutionProvider"])
        expected = session.run(None, {"x": x})[0].tolist()
        if expected:
            assert ircert.load(built)(x).tolist() == expected, (start, end)
        else:
            with pytest.raises(UnsupportedModel, match="empty"):
                ircert.load(built)


@pytest.mark.rule("F-2")
def test_slice_down_to_the_largest_integer_is_refused() -> None:
    with pytest.raises(UnsupportedModel, match="runtimes differ"):
        ircert.load(one("Slice", [4], *(np.array([v]) for v in (-1, 2**63 - 1, 0, -1))))
