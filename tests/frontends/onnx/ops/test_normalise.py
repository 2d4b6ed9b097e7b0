"""Normalisation and Softmax, in their attribute corners, against onnxruntime; and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import helper

from tests.frontends.support import agreeing, evaluating, model, one, refusing, weights

CASES: dict[str, Any] = {
    "batch_norm": one(
        "BatchNormalization",
        [1, 3, 2, 2],
        weights(3),
        weights(3, seed=1),
        weights(3, seed=2),
        abs(weights(3, seed=3)),
        epsilon=0.01,
    ),
    "batch_norm_2d": one(
        "BatchNormalization",
        ["N", 3],
        weights(3),
        weights(3, seed=1),
        weights(3, seed=2),
        abs(weights(3, seed=3)),
        opset=9,
    ),
}

SMOOTH: dict[str, Any] = {
    "softmax": one("Softmax", [2, 3, 2], axis=1),
    "softmax_last": one("Softmax", [2, 3]),
    "softmax_old": one("Softmax", [2, 3, 2], opset=11, axis=1),
    "log_softmax": one("LogSoftmax", [2, 3, 2], axis=0),
    "layer_norm": one("LayerNormalization", [2, 4], weights(4), weights(4, seed=1)),
    "layer_norm_axis": one("LayerNormalization", [1, 2, 3], weights(2, 3), axis=1, epsilon=0.1),
}

REFUSED: dict[str, tuple[Any, str, str]] = {
    "batch_norm": (
        one("BatchNormalization", [1, 2], *[np.ones(2, np.float32)] * 4, training_mode=1),
        "BatchNormalization",
        "model.eval()",
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
    "softmax_axis": (one("Softmax", [1, 2], opset=11, axis=2), "Softmax", "axis 2"),
}

test_agrees_with_onnxruntime = agreeing(CASES)
test_smooth_ops_evaluate = evaluating(SMOOTH)
test_what_is_not_read_is_refused = refusing(REFUSED)
