"""Gemm and MatMul, in their attribute corners, against onnxruntime; and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

from tests.frontends.support import agreeing, compare, model, node, one, refusing, weights

CASES: dict[str, Any] = {
    "gemm": one("Gemm", ["N", 3], weights(3, 4), weights(4)),
    "gemm_no_c": one("Gemm", [1, 3], weights(3, 4)),
    "gemm_all": one("Gemm", [3, 1], weights(4, 3), weights(1, 4), transA=1, transB=1, alpha=0.5, beta=2.0),
    "gemm_rows": one("Gemm", [2, 3], weights(3, 4), weights(2, 1)),
    "gemm_scalar_c": one("Gemm", [2, 3], weights(3, 4), np.float32(1.5), opset=11),
    "gemm_left": model([node("Gemm", "w x")], {"x": [3, 2]}, {"w": weights(4, 3)}),
    "gemm_left_t": model(
        [node("Gemm", "w x c", transA=1, transB=1)], {"x": [2, 3]}, {"w": weights(3, 4), "c": weights(2)}
    ),
    "gemm_both": model([node("Gemm", "x x x", alpha=0.5, beta=3.0)], {"x": [2, 2]}),
    "gemm_zero_beta": one("Gemm", [1, 3], weights(3, 4), weights(4), beta=0.0),
    "matmul_1d": one("MatMul", [5], weights(5, 3)),
    "matmul_1d_1d": one("MatMul", [5], weights(5)),
    "matmul_left": model([node("MatMul", "w x")], {"x": [5]}, {"w": weights(3, 5)}),
    "matmul_left_column": model([node("MatMul", "w x")], {"x": [1, 5, 1]}, {"w": weights(3, 5)}),
    "matmul_3d": one("MatMul", ["N", 4, 5], weights(5, 3)),
    "matmul_3d_stack": one("MatMul", [2, 4, 5], weights(2, 5, 3)),
    "matmul_spread": one("MatMul", [4, 5], weights(2, 5, 3)),
    "matmul_left_3d": model([node("MatMul", "w x")], {"x": [2, 5, 3]}, {"w": weights(4, 5)}),
    "matmul_both": model([node("Transpose", "x", "t", perm=[0, 2, 1]), node("MatMul", "x t")], {"x": [1, 2, 3]}),
    "matmul_add": model(
        [node("MatMul", "x w", "h"), node("Add", "b h")], {"x": ["N", 3]}, {"w": weights(3, 2), "b": weights(2)}
    ),
}

REFUSED: dict[str, tuple[Any, str, str]] = {
    "gemm_c": (one("Gemm", [1, 2], weights(2, 3), weights(4, 3)), "Gemm", "larger than the product"),
}

test_agrees_with_onnxruntime = agreeing(CASES)
test_what_is_not_read_is_refused = refusing(REFUSED)


def test_bias_is_taken_by_the_map_before_it() -> None:
    assert len(compare(CASES["matmul_add"])) == 2


@pytest.mark.parametrize("opset", [7, 9, 11, 13, 17, 21])
def test_operator_sets(opset: int) -> None:
    nodes = [node("Gemm", "x w b", "h"), node("Relu", "h", "r"), node("Gemm", "r v c")]
    compare(
        model(
            nodes,
            {"x": [1, 3]},
            {"w": weights(3, 5), "b": weights(5), "v": weights(5, 2), "c": weights(2)},
            opset=opset,
        )
    )


@pytest.mark.parametrize("dtype", [TensorProto.DOUBLE, TensorProto.FLOAT16])
def test_other_float_types(dtype: int) -> None:
    built = model(
        [node("Gemm", "x w b", "h"), node("Relu", "h", "r"), node("MatMul", "r v")],
        {"x": ["N", 3]},
        {"w": weights(3, 5), "b": weights(5), "v": weights(5, 2)},
        dtype=dtype,
    )
    compare(built, rtol=1e-12 if dtype == TensorProto.DOUBLE else 5e-3)
