"""Reductions, in their attribute corners, against onnxruntime."""

from __future__ import annotations

from typing import Any

from tests.frontends.support import agreeing, evaluating, ints, one

CASES: dict[str, Any] = {
    "reduce_sum": one("ReduceSum", [2, 3, 2], ints(1), keepdims=0),
    "reduce_sum_all": one("ReduceSum", [2, 3, 2]),
    "reduce_sum_none": one("ReduceSum", [2, 3], noop_with_empty_axes=1),
    "reduce_sum_attr": one("ReduceSum", [2, 3, 2], opset=11, axes=[-1]),
    "reduce_mean": one("ReduceMean", [2, 3, 2], axes=[1, 2]),
    "reduce_mean_18": one("ReduceMean", [2, 3, 2], ints(0, -1), opset=18, keepdims=0),
    "reduce_max": one("ReduceMax", [2, 3, 2], axes=[1], keepdims=0),
    "reduce_min_18": one("ReduceMin", [2, 3, 2], ints(2, 1), opset=18),
    "reduce_l1": one("ReduceL1", [2, 3], axes=[1]),
    "reduce_sum_square": one("ReduceSumSquare", [2, 3], axes=[1]),
}

SMOOTH: dict[str, Any] = {
    "reduce_l2": one("ReduceL2", [2, 3], axes=[1]),
}

test_agrees_with_onnxruntime = agreeing(CASES)
test_smooth_ops_evaluate = evaluating(SMOOTH)
