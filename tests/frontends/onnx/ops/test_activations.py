"""Activations, in their attribute corners, against onnxruntime; and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ircert
from ircert.errors import UnsupportedModel
from ircert.passes.canonicalize import Canonicalize
from tests.frontends.support import agreeing, evaluating, model, node, one, refusing, weights

CASES: dict[str, Any] = {
    "relu": one("Relu", [1, 4]),
    "leaky": one("LeakyRelu", [1, 4]),
    "leaky_alpha": one("LeakyRelu", [1, 4], alpha=1.5),
    "prelu": one("PRelu", [1, 3, 2], weights(3, 1)),
    "prelu_one": one("PRelu", [1, 3], np.array([0.25], dtype=np.float32)),
    "prelu_computed": model([node("Abs", "x", "s"), node("PRelu", "x s")], {"x": [1, 3]}),
    "hard_sigmoid": one("HardSigmoid", [1, 4]),
    "hard_sigmoid_alpha": one("HardSigmoid", [1, 4], alpha=0.5, beta=0.25),
    "abs": one("Abs", [1, 4]),
    "thresholded": one("ThresholdedRelu", [1, 4], alpha=0.0),
    "shrink": one("Shrink", [1, 4], lambd=0.5, bias=0.5),
}

SMOOTH: dict[str, Any] = {
    **{op.lower(): one(op, [1, 4]) for op in ("Tanh", "Sigmoid", "Softplus", "Softsign", "HardSwish", "Erf", "Exp")},
    **{op.lower(): one(op, [1, 4]) for op in ("Sin", "Cos", "Elu", "Selu", "Celu")},
    "elu_alpha": one("Elu", [1, 4], alpha=0.5),
    "selu_alpha": one("Selu", [1, 4], alpha=0.5, gamma=2.0),
    "celu_alpha": one("Celu", [1, 4], alpha=0.5),
    "gelu": one("Gelu", [1, 4], opset=20),
    "gelu_tanh": one("Gelu", [1, 4], opset=20, approximate="tanh"),
    "mish": one("Mish", [1, 4], opset=18),
    "sqrt": model([node("Exp", "x", "e"), node("Sqrt", "e", "s"), node("Log", "s")], {"x": [1, 3]}),
    "reciprocal": model([node("Exp", "x", "e"), node("Reciprocal", "e")], {"x": [1, 3]}),
}

REFUSED: dict[str, tuple[Any, str, str]] = {
    "thresholded": (one("ThresholdedRelu", [1, 2]), "ThresholdedRelu", "alpha = 0"),
    "shrink": (one("Shrink", [1, 2]), "Shrink", "bias = lambd"),
    "gelu": (one("Gelu", [1, 4], opset=20, approximate="fast"), "Gelu", "none and tanh"),
}

test_agrees_with_onnxruntime = agreeing(CASES)
test_smooth_ops_evaluate = evaluating(SMOOTH)
test_what_is_not_read_is_refused = refusing(REFUSED)


def test_swish() -> None:
    x = np.linspace(-3, 3, 8)
    for alpha in (1.0, 0.5, 0.0):
        graph = ircert.load(one("Swish", [1, 8], opset=24, alpha=alpha))
        np.testing.assert_allclose(graph(x), x / (1 + np.exp(-alpha * x)), rtol=1e-12)


@pytest.mark.rule("IR-13")
def test_outputs_that_need_no_smooth_function_are_piecewise_linear() -> None:
    nodes = [node("Tanh", "x", "t"), node("Relu", "x", "r"), node("Concat", "t r", axis=1)]
    graph = ircert.load(model(nodes, {"x": [1, 2]}))
    with pytest.raises(UnsupportedModel, match="tanh is not piecewise linear"):
        Canonicalize().run(graph)
    assert all(n.op.piecewise_linear for n in graph.select([2, 3]).nodes)
    assert graph.select([3]).exact([1, 2]).tolist() == [2]
