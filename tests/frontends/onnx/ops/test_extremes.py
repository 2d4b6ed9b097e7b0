"""Max, Min and Clip, in their attribute corners, against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto

import ircert
from ircert.ir.ops import Relu
from tests.frontends.support import agreeing, compare, model, node, one, weights

CASES: dict[str, Any] = {
    "clip": one("Clip", [1, 4], np.float32(-1), np.float32(0.5)),
    "clip_low": one("Clip", [1, 4], np.float32(-1)),
    "clip_high": one("Clip", [1, 4], None, np.float32(1)),
    "clip_none": one("Clip", [1, 4]),
    "clip_attributes": one("Clip", [1, 4], opset=7, min=0.0, max=1.0),
    "clip_attribute_max": one("Clip", [1, 4], opset=10, max=1.0),
    "clip_widest": one("Clip", [1, 4], np.float32(0), np.float32(np.finfo(np.float32).max)),
    "max": model([node("Neg", "x", "n"), node("Max", "x n c")], {"x": [1, 3]}, {"c": weights(3)}),
    "max_broadcast": model([node("Max", "x c")], {"x": [1, 3, 1]}, {"c": weights(2)}),
    "max_one": one("Max", [1, 3]),
    "min": model([node("Neg", "x", "n"), node("Min", "c x n")], {"x": [1, 3]}, {"c": weights(1, 3)}),
    "min_constants": model([node("Min", "c x d")], {"x": [1, 3]}, {"c": weights(3), "d": weights(3, seed=1)}),
}

test_agrees_with_onnxruntime = agreeing(CASES)


def test_clip_at_zero_is_relu() -> None:
    graph = compare(CASES["clip_widest"])
    assert isinstance(graph[graph.output].op, Relu)


def test_only_the_largest_float32_and_infinities_are_no_bound() -> None:
    graph = ircert.load(one("Clip", [2], np.array(-1e39), np.array(1e39), dtype=TensorProto.DOUBLE))
    assert graph([1e40, -1e40]).tolist() == [1e39, -1e39]
    free = ircert.load(one("Clip", [2], np.array(-np.inf), np.array(np.inf), dtype=TensorProto.DOUBLE))
    assert free([1e40, -1e40]).tolist() == [1e40, -1e40]
