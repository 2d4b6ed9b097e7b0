"""Where around activations: read where both branches are proved to meet, refused where they are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

import ircert
from ircert.errors import UnsupportedModel
from ircert.ir.ops import Clip, LeakyRelu, Relu
from ircert.ir.ops.smooth import Choose
from tests.frontends.support import compare, model, node, refusing, weights

ZERO = {"zero": np.float32(0), "a": np.float32(0.1), "c": np.float32(0.5)}
SLOPES = np.array([0.5, 2.0, -1.0], dtype=np.float32)


def where(*nodes: Any, constants: dict[str, Any] = ZERO) -> Any:
    return model(nodes, {"x": [1, 3]}, constants)


CONTINUOUS: dict[str, Any] = {
    "relu": where(node("Greater", "x zero", "g"), node("Where", "g x zero")),
    "leaky": where(node("Greater", "x zero", "g"), node("Mul", "a x", "m"), node("Where", "g x m")),
    "leaky_less": where(node("Less", "x zero", "g"), node("Mul", "a x", "m"), node("Where", "g m x")),
    "leaky_not": where(
        node("LessOrEqual", "x zero", "l"), node("Not", "l", "g"), node("Mul", "x a", "m"), node("Where", "g x m")
    ),
    "prelu": where(
        node("GreaterOrEqual", "x zero", "g"),
        node("Mul", "x s", "m"),
        node("Where", "g x m"),
        constants={**ZERO, "s": SLOPES},
    ),
    "threshold": where(node("Greater", "x c", "g"), node("Where", "g x c")),
    "minimum": where(node("Greater", "x c", "g"), node("Where", "g c x")),
    "maximum_of_two": where(
        node("Neg", "x", "n"), node("Add", "n c", "m"), node("Greater", "x m", "g"), node("Where", "g x m")
    ),
    "mixed": where(
        node("Greater", "x zero", "g"),
        node("Mul", "x s", "m"),
        node("Neg", "x", "n"),
        node("Where", "g n m"),
        constants={**ZERO, "s": SLOPES},
    ),
    "gate": where(node("Greater", "x zero", "g"), node("Cast", "g", "f", to=TensorProto.FLOAT), node("Mul", "f x")),
    "gate_right": where(
        node("Less", "x c", "g"), node("Cast", "g", "f", to=1), node("Sub", "x c", "d"), node("Mul", "d f")
    ),
    "hidden": where(
        node("MatMul", "x w", "h"),
        node("Greater", "h zero", "g"),
        node("Mul", "h a", "m"),
        node("Where", "g h m"),
        constants={**ZERO, "w": weights(3, 4)},
    ),
    "partly_constant": where(
        node("Mul", "x k", "m"),
        node("Add", "m d", "h"),
        node("Greater", "h zero", "g"),
        node("Mul", "h s", "n"),
        node("Where", "g h n"),
        constants={
            **ZERO,
            "k": np.array([0, 0, 1], dtype=np.float32),
            "d": np.array([1, -1, 0], dtype=np.float32),
            "s": SLOPES,
        },
    ),
    "always": where(
        node("Mul", "x zero", "h"),
        node("GreaterOrEqual", "h zero", "g"),
        node("Neg", "x", "n"),
        node("Where", "g x n"),
    ),
    "known_mask": where(
        node("Neg", "x", "n"), node("Where", "k x n"), constants={"k": np.array([[True, False, True]])}
    ),
    "known_mask_constant": where(
        node("Where", "k c x"), constants={"k": np.array([True, False, False]), "c": weights(3)}
    ),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous_choices_are_read(name: str) -> None:
    graph = compare(CONTINUOUS[name], count=30)
    assert all(n.op.piecewise_linear for n in graph.nodes)


@pytest.mark.parametrize(
    ("name", "op"),
    [("relu", Relu), ("leaky", LeakyRelu), ("prelu", LeakyRelu), ("threshold", Clip), ("hidden", LeakyRelu)],
)
def test_they_become_activations(name: str, op: type) -> None:
    graph = ircert.load(CONTINUOUS[name])
    assert isinstance(graph[graph.output].op, op)


JUMPS: dict[str, Any] = {
    "constant_branches": where(node("Greater", "x zero", "g"), node("Where", "g a c")),
    "wrong_threshold": where(node("Greater", "x c", "g"), node("Where", "g x zero")),
    "barely": where(
        node("Greater", "x c", "g"),
        node("Where", "g x d"),
        constants={**ZERO, "d": np.nextafter(np.float32(0.5), np.float32(1))},
    ),
    "other_tensor": where(node("Relu", "x", "r"), node("Greater", "x zero", "g"), node("Where", "g r x")),
    "step": where(node("Greater", "x zero", "g"), node("Cast", "g", to=TensorProto.FLOAT)),
    "gate_off_zero": where(node("Greater", "x c", "g"), node("Cast", "g", "f", to=1), node("Mul", "f x")),
    "counted": where(node("Greater", "x zero", "g"), node("Cast", "g", "f", to=1), node("Add", "f x")),
}


@pytest.mark.parametrize("name", JUMPS)
def test_jumps_are_refused(name: str) -> None:
    with pytest.raises(UnsupportedModel, match=r"jump|not proved to meet"):
        ircert.load(JUMPS[name])


@pytest.mark.parametrize("op", ["Greater", "GreaterOrEqual", "Less", "LessOrEqual"])
def test_a_choice_of_smooth_branches_only_evaluates(op: str) -> None:
    built = where(node(op, "x c", "g"), node("Exp", "x", "e"), node("Where", "g x e"))
    graph = compare(built, count=30)
    assert isinstance(graph[graph.output].op, Choose)
    assert not graph[graph.output].op.piecewise_linear


REFUSED: dict[str, tuple[Any, str, str]] = {
    "moved_comparison": (
        model(
            [node("Greater", "x c", "g"), node("Squeeze", "g", "h"), node("Where", "h x c")],
            {"x": [1]},
            {"c": weights(1)},
        ),
        "Squeeze",
        "comparison",
    ),
    "comparison_as_integer": (
        model(
            [node("Greater", "x c", "g"), node("Cast", "g", "i", to=7), node("Cast", "i", to=1)],
            {"x": [1]},
            {"c": weights(1)},
        ),
        "Cast",
        "int64",
    ),
}

test_what_is_not_read_is_refused = refusing(REFUSED)
