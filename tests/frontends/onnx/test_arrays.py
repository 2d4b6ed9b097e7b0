"""Known arrays: computed as onnxruntime computes them, in the types of the file."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import ircert
from tests.frontends.support import compare, model, node


def agree(nodes: list[Any], constants: dict[str, Any], *, dtype: int = TensorProto.FLOAT, opset: int = 17) -> Any:
    """The value of `c`, made by the nodes, as a graph and onnxruntime add it to the input."""
    built = model([*nodes, node("Add", "x c")], {"x": [1]}, constants, dtype=dtype, opset=opset)
    session = onnxruntime.InferenceSession(built.SerializeToString(), providers=["CPUExecutionProvider"])
    zero = np.zeros(1, helper.tensor_dtype_to_np_dtype(dtype))
    expected = session.run(None, {"x": zero})[0].ravel().tolist()
    assert ircert.load(built)([0.0]).tolist() == expected
    return expected


JUMPS: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "floor": ([node("Mul", "a b", "p"), node("Floor", "p", "c")], {"a": np.float32(0.7), "b": np.float32(10)}),
    "ceil": ([node("Mul", "a b", "p"), node("Ceil", "p", "c")], {"a": np.float32(0.1), "b": np.float32(30)}),
    "round": ([node("Mul", "a b", "p"), node("Round", "p", "c")], {"a": np.float32(0.7), "b": np.float32(5)}),
    "sign": ([node("Mul", "a b", "p"), node("Sign", "p", "c")], {"a": np.float32(1e-30), "b": np.float32(1e-30)}),
    "mod": (
        [node("Mul", "a b", "p"), node("Mod", "p d", "c", fmod=1)],
        {"a": np.float32(0.1), "b": np.float32(10), "d": np.float32(1)},
    ),
    "equal": (
        [node("Mul", "a b", "p"), node("Equal", "p q", "e"), node("Cast", "e", "c", to=TensorProto.FLOAT)],
        {"a": np.float32(0.1), "b": np.float32(3), "q": np.float32(0.1) * np.float32(3)},
    ),
    "less": (
        [node("Mul", "a b", "p"), node("Less", "p q", "e"), node("Cast", "e", "c", to=TensorProto.FLOAT)],
        {"a": np.float32(0.1), "b": np.float32(3), "q": np.float32(0.3)},
    ),
    "cast": (
        [node("Mul", "a b", "p"), node("Cast", "p", "i", to=7), node("Cast", "i", "c", to=TensorProto.FLOAT)],
        {"a": np.float32(0.7), "b": np.float32(10)},
    ),
    "overflow": ([node("Mul", "a b", "p"), node("Reciprocal", "p", "c")], {"a": np.float32(3e38), "b": np.float32(10)}),
    "half": (
        [node("Cast", "a", "h", to=TensorProto.FLOAT16), node("Cast", "h", "c", to=TensorProto.FLOAT)],
        {"a": np.float32(0.1)},
    ),
    **{
        f"cumsum_{reverse}{exclusive}": (
            [node("CumSum", "a k", "c", reverse=reverse, exclusive=exclusive)],
            {"a": np.array([1.0, 2.0, 4.0]), "k": np.array(0)},
        )
        for reverse, exclusive in itertools.product((0, 1), (0, 1))
    },
    "range": ([node("Range", "a b d", "c")], {"a": np.float32(0), "b": np.float32(2.0), "d": np.float32(0.1)}),
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
