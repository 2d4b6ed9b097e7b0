"""Sums, products and powers, in their attribute corners, against onnxruntime; and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import helper

from tests.frontends.support import agreeing, evaluating, ints, model, node, one, refusing, weights

CASES: dict[str, Any] = {
    "add_broadcast": one("Add", [1, 3], weights(4, 1, 3)),
    "sub_left": model([node("Sub", "c x")], {"x": [1, 3]}, {"c": weights(3)}),
    "sub_right": one("Sub", [1, 3], weights(1)),
    "mul_broadcast": one("Mul", [1, 3, 1], weights(2, 1, 4)),
    "div": one("Div", [1, 3], weights(3)),
    "neg": one("Neg", [1, 3]),
    "residual": model([node("Relu", "x", "r"), node("Add", "r x")], {"x": [1, 3]}),
    "residual_sub": model([node("Relu", "x", "r"), node("Sub", "r x")], {"x": [1, 3]}),
    "residual_broadcast": model([node("ReduceSum", "x a", "r"), node("Add", "r x")], {"x": [1, 3]}, {"a": ints(1)}),
    "sum": model([node("Relu", "x", "r"), node("Sum", "r x c r")], {"x": [1, 3]}, {"c": weights(3)}),
    "sum_one": one("Sum", [1, 3]),
    "mean": model([node("Relu", "x", "r"), node("Mean", "r x c")], {"x": [1, 3]}, {"c": weights(3)}),
    "product": model([node("Relu", "x", "r"), node("Mul", "r x")], {"x": [1, 3]}),
    "square": one("Pow", [1, 3], np.float32(2)),
    "cube": one("Pow", [1, 3], np.array([3], dtype=np.int64)),
    "fourth": one("Pow", [1, 3], np.float32(4)),
    "power_one": one("Pow", [1, 3], np.float32(1)),
    "scaler": model(
        [helper.make_node("Scaler", ["x"], ["y"], domain="ai.onnx.ml", offset=[1.0, 2.0], scale=[0.5, 3.0])],
        {"x": ["N", 2]},
        domains=["ai.onnx.ml"],
    ),
}

SMOOTH: dict[str, Any] = {
    "power_one_half": model([node("Exp", "x", "e"), node("Pow", "e p")], {"x": [1, 3]}, {"p": np.float32(1.5)}),
    "divide": model([node("Exp", "x", "e"), node("Div", "x e")], {"x": [1, 3]}),
    "divide_constant": model([node("Exp", "x", "e"), node("Div", "c e")], {"x": [1, 3]}, {"c": weights(3)}),
    "quadratic": model(
        [node("MatMul", "x w", "h"), node("Mul", "h x", "p"), node("ReduceSum", "p a", keepdims=1)],
        {"x": ["N", 3]},
        {"w": weights(3, 3), "a": ints(-1)},
    ),
}

REFUSED: dict[str, tuple[Any, str, str]] = {
    "powers": (one("Pow", [1, 2], np.array([2, 3], np.float32)), "Pow", "exponents differ"),
}

test_agrees_with_onnxruntime = agreeing(CASES)
test_smooth_ops_evaluate = evaluating(SMOOTH)
test_what_is_not_read_is_refused = refusing(REFUSED)
