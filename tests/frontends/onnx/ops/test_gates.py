"""Activations in the pieces that exporters write: read as one curve, with the numbers of the file."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ircert
from ircert.frontends.onnx_export import to_onnx
from ircert.ir.graph import Graph
from ircert.ir.ops import Op
from ircert.ir.ops.gates import GeluCubic, GeluErf, Swish
from tests.frontends.support import Dims, compare, model, node

X: dict[str, Dims] = {"x": [1, 4]}
ROOT, RATE, CUBE = 1.41421354, 0.797884583, 0.044714998
THIRD = [node("Mul", "x x", "x2"), node("Mul", "x x2", "x3")]
GUARDED = [node("Softplus", "x", "s"), node("Greater", "x t", "c"), node("Where", "c x s")]


def tanh_chain(powers: list[Any]) -> list[Any]:
    inner = [node("Mul", "x3 d", "dx"), node("Add", "x dx", "sum"), node("Mul", "sum c", "u"), node("Tanh", "u", "t")]
    return [*powers, *inner, node("Add", "t one", "r"), node("Mul", "x r", "p"), node("Mul", "p half")]


ERF = [node("Erf", "u", "e"), node("Add", "e one", "r")]
LOG_ONE_PLUS = [
    *(node("Abs", "x", "a"), node("Neg", "a", "n"), node("Exp", "n", "e")),
    *(node("Add", "e one", "r"), node("Log", "r", "l")),
]
ONE: dict[str, Any] = {"one": 1.0, "half": 0.5}

# the words of all nodes that are no affine maps
CASES: dict[str, tuple[Any, list[str]]] = {
    "silu": (model([node("Sigmoid", "x", "g"), node("Mul", "x g")], X), ["silu"]),
    "silu_of_scaled": (
        model([node("Mul", "x c", "z"), node("Sigmoid", "z", "g"), node("Mul", "g z")], X, {"c": 16.0}),
        ["silu"],
    ),
    "quick_gelu": (
        model([node("Mul", "x c", "u"), node("Sigmoid", "u", "g"), node("Mul", "x g")], X, {"c": 1.702}),
        ["swish"],
    ),
    "gelu_torch": (
        model([node("Div", "x c", "u"), *ERF, node("Mul", "x r", "p"), node("Mul", "p half")], X, {"c": ROOT, **ONE}),
        ["gelu_erf"],
    ),
    "gelu_keras": (
        model(
            [node("Mul", "x c", "u"), *ERF, node("Mul", "x half", "h"), node("Mul", "h r")],
            X,
            {"c": 0.707106769, **ONE},
        ),
        ["gelu_erf"],
    ),
    "gelu_tanh_torch": (model(tanh_chain(THIRD), X, {"c": RATE, "d": CUBE, **ONE}), ["gelu_cubic"]),
    "gelu_tanh_power": (
        model(tanh_chain([node("Pow", "x three", "x3")]), X, {"c": RATE, "d": CUBE, "three": 3.0, **ONE}),
        ["gelu_cubic"],
    ),
    "tanh_gate": (
        model([node("Tanh", "x", "t"), node("Add", "t one", "r"), node("Mul", "x r")], X, ONE),
        ["swish"],
    ),
    "mish": (model([node("Softplus", "x", "s"), node("Tanh", "s", "t"), node("Mul", "x t")], X), ["mish"]),
    "hard_swish": (
        model(
            [node("Add", "x c", "a"), node("Clip", "a low six", "k"), node("Div", "k six", "g"), node("Mul", "x g")],
            X,
            {"c": 3.0, "low": 0.0, "six": 6.0},
        ),
        ["hard_swish"],
    ),
    "softsign": (model([node("Abs", "x", "a"), node("Add", "a one", "r"), node("Div", "x r")], X, ONE), ["softsign"]),
    "softplus_guarded": (model(GUARDED, X, {"t": 20.0}), ["softplus"]),
    "softplus_log": (
        model([node("Exp", "x", "e"), node("Add", "e one", "r"), node("Log", "r")], X, ONE),
        ["softplus"],
    ),
    "softplus_logaddexp": (
        model(
            [*LOG_ONE_PLUS, node("Relu", "x", "m"), node("Add", "m l")],
            X,
            ONE,
        ),
        ["softplus"],
    ),
    "log_sigmoid": (model([node("Sigmoid", "x", "s"), node("Log", "s")], X), ["softplus"]),
}

# what stays as it is
OTHERS: dict[str, Any] = {
    "another_argument": model([node("Mul", "x c", "z"), node("Sigmoid", "z", "g"), node("Mul", "x g")], X, {"c": 99.0}),
    "shifted": model([node("Add", "x one", "z"), node("Sigmoid", "x", "g"), node("Mul", "z g")], X, ONE),
    "not_one": model([node("Erf", "x", "e"), node("Add", "e half", "r"), node("Mul", "x r")], X, ONE),
    "early_guard": model(GUARDED, X, {"t": 5.0}),
    "other_scales": model(
        [node("Mul", "x c", "z"), node("Sigmoid", "z", "g"), node("Mul", "x g")], X, {"c": [1.0, 1.0, 2.0, 1.0]}
    ),
}


def words(graph: Graph) -> list[str]:
    return [n.op.kind for n in graph.nodes if n.op.kind not in ("input", "affine")]


@pytest.mark.rule("F-1", "F-11")
@pytest.mark.parametrize("name", CASES)
def test_pieces_are_read_as_one_curve(name: str) -> None:
    built, expected = CASES[name]
    graph = compare(built)
    assert words(graph) == expected
    saved = ircert.load(to_onnx(graph))
    assert words(saved) == expected
    x = np.linspace(-3, 3, 4)
    np.testing.assert_allclose(saved(x), graph(x), rtol=1e-12)


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_something_else_stays_so(name: str) -> None:
    graph = compare(OTHERS[name])
    assert set(words(graph)) & {"product", "choose"}


@pytest.mark.rule("F-1")
def test_numbers_are_those_of_the_file() -> None:
    ops = {name: _curve(*case) for name, case in CASES.items()}
    single = np.float32
    assert ops["gelu_torch"] == GeluErf(1.0 / float(single(ROOT)))
    assert ops["gelu_keras"] == GeluErf(float(single(0.707106769)))
    assert ops["gelu_tanh_torch"] == GeluCubic(float(single(RATE)), float(single(CUBE)))
    assert ops["quick_gelu"] == Swish(float(single(1.702)))
    assert ops["tanh_gate"] == Swish(2.0)


def _curve(built: Any, kinds: list[str]) -> Op:
    return next(n.op for n in ircert.load(built).nodes if n.op.kind == kinds[0])


@pytest.mark.rule("E-17")
def test_such_a_network_is_certified() -> None:
    chain = CASES["gelu_torch"][0]
    weight = np.array([[1.0, 0.5], [-0.5, 1.0], [0.3, -1.0], [1.0, 1.0]])
    inner = ircert.load([(weight, np.zeros(4))]).then(ircert.load(chain))
    graph = inner.then(ircert.load([(weight.T, np.zeros(2))]))
    result = ircert.certify(graph, [0.0, 0.0], radius=0.1, time_limit=20.0)
    assert result.verdict == "certified"
