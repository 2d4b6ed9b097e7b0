"""Einsum, in their attribute corners, against onnxruntime."""

from __future__ import annotations

from typing import Any

from tests.frontends.support import agreeing, model, node, weights

CASES: dict[str, Any] = {
    "einsum_weight": model([node("Einsum", "x w", equation="bi,oi->bo")], {"x": ["N", 3]}, {"w": weights(2, 3)}),
    "einsum_left": model([node("Einsum", "w x", equation="oi, bi")], {"x": [1, 3]}, {"w": weights(2, 3)}),
    "einsum_trace": model([node("Einsum", "x", equation="ii->i")], {"x": [3, 3]}),
    "einsum_sum": model([node("Einsum", "x", equation="ij->")], {"x": [2, 3]}),
    "einsum_both": model([node("Einsum", "x x", equation="bi,bj->bij")], {"x": [1, 3]}),
}

test_agrees_with_onnxruntime = agreeing(CASES)
