"""Ops on constants: as if the constants were inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import ircert
from ircert.errors import UnsupportedModel
from tests.frontends.onnx.ops.every_op import PIECEWISE_LINEAR, SMOOTH
from tests.frontends.support import model, node, one, sample, weights

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


@pytest.mark.parametrize("name", [*PIECEWISE_LINEAR, *SMOOTH, *ODD])
@pytest.mark.rule("F-1")
def test_a_bound_input_gives_onnxruntimes_values(name: str) -> None:
    built = {**PIECEWISE_LINEAR, **SMOOTH, **ODD}[name]
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
    constants = {"n": np.array(10**12), "m": weights(2, 2), "r": np.float32(0.5), "t": np.array(True)}
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


@pytest.mark.rule("F-2")
def test_a_scatter_of_constants_that_reduces_is_refused() -> None:
    nodes = [node("ScatterND", "t i u", "c", reduction="add"), node("Add", "x c")]
    constants = {"t": np.arange(6.0).reshape(2, 3), "i": np.array([[1], [1]]), "u": np.ones((2, 3))}
    with pytest.raises(UnsupportedModel, match="reduces entries"):
        ircert.load(model(nodes, {"x": [1]}, constants))
