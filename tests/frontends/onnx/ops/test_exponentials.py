"""Curves that models write out with exp: read as what they are, and compared with a runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ircert
from ircert.answering import certifiable
from ircert.errors import UnsupportedModel
from ircert.ir.graph import Graph
from ircert.ir.ops.curves import Elu
from tests.frontends.support import Dims, compare, model, node

X: dict[str, Dims] = {"x": [1, 4]}
NUMBERS: dict[str, Any] = {"one": 1.0, "zero": 0.0, "two": 2.0, "k": 1.702, "alpha": 1.5, "beta": 0.6}
ONE_PLUS = [node("Neg", "x", "n"), node("Exp", "n", "e"), node("Add", "one e", "r")]
LOWER = [node("Exp", "x", "e"), node("Sub", "e one", "d"), node("Mul", "d alpha", "l")]
ABOVE = node("Greater", "x zero", "c")
LOG = [
    *(node("Abs", "d", "a"), node("Neg", "a", "m"), node("Exp", "m", "e"), node("Add", "e one", "r")),
    *(node("Log", "r", "l"), node("Max", "zero x", "t"), node("Add", "t l", "s"), node("Add", "zero x", "u")),
]


def built(*nodes: Any) -> Any:
    used = {name for n in nodes for name in n.input}
    return model(list(nodes), X, {name: value for name, value in NUMBERS.items() if name in used})


CASES: dict[str, tuple[Any, list[str]]] = {
    "silu": (built(*ONE_PLUS, node("Div", "x r")), ["silu"]),
    "silu_reciprocal": (built(*ONE_PLUS, node("Reciprocal", "r", "g"), node("Mul", "x g")), ["silu"]),
    "silu_quotient": (built(*ONE_PLUS, node("Div", "one r", "g"), node("Mul", "g x")), ["silu"]),
    "swish": (
        built(
            *(node("Mul", "x k", "u"), node("Neg", "u", "n"), node("Exp", "n", "e")),
            *(node("Add", "e one", "r"), node("Div", "x r")),
        ),
        ["swish"],
    ),
    "sigmoid": (built(node("Exp", "x", "e"), node("Add", "e one", "r"), node("Div", "e r")), ["sigmoid"]),
    "tanh": (
        built(
            *(node("Mul", "x two", "u"), node("Exp", "u", "e"), node("Sub", "e one", "t")),
            *(node("Add", "e one", "r"), node("Div", "t r")),
        ),
        ["sigmoid"],
    ),
    "elu": (built(*LOWER, ABOVE, node("Where", "c x l")), ["elu"]),
    "elu_less": (built(*LOWER, node("Less", "x zero", "c"), node("Where", "c l x")), ["elu"]),
    "elu_twice_chosen": (
        built(
            *(ABOVE, node("Where", "c zero x", "m"), node("Exp", "m", "e"), node("Sub", "e one", "d")),
            *(node("Mul", "d alpha", "l"), node("Where", "c x l")),
        ),
        ["elu"],
    ),
    "elu_sum": (
        built(*LOWER, node("Min", "l zero", "b"), node("Relu", "x", "a"), node("Add", "a b")),
        ["elu"],
    ),
    "elu_sum_of_exp_of_min": (
        built(
            *(node("Min", "x zero", "m"), node("Exp", "m", "e"), node("Sub", "e one", "d")),
            *(node("Relu", "x", "a"), node("Add", "d a")),
        ),
        ["elu"],
    ),
    "celu": (
        built(
            *(node("Div", "x alpha", "z"), node("Exp", "z", "e"), node("Sub", "e one", "d")),
            *(node("Mul", "d alpha", "l"), ABOVE, node("Where", "c x l")),
        ),
        ["elu", "relu", "add"],
    ),
    "logaddexp": (
        built(node("Sub", "zero x", "d"), *LOG, node("IsNaN", "d", "nan"), node("Where", "nan u s")),
        ["softplus"],
    ),
    "logaddexp_unequal": (
        built(
            *(node("Sub", "zero x", "d"), *LOG, node("Equal", "d d", "same"), node("Not", "same", "nan")),
            node("Where", "nan u s"),
        ),
        ["softplus"],
    ),
}

# what is not continuous, or something else
OTHERS: dict[str, Any] = {
    "another_place": built(*LOWER, node("Greater", "x one", "c"), node("Where", "c x l")),
    "another_end": built(node("Exp", "x", "e"), node("Sub", "e two", "l"), ABOVE, node("Where", "c x l")),
    "negative": built(
        *(node("Neg", "x", "z"), node("Exp", "z", "e"), node("Sub", "e one", "l"), ABOVE, node("Where", "c x l"))
    ),
    "two_plus": built(node("Exp", "x", "e"), node("Add", "e two", "r"), node("Div", "x r")),
    "sum_without_min": built(*LOWER, node("Relu", "x", "a"), node("Add", "a l")),
    "quotient_of_others": built(
        *(node("Exp", "x", "e"), node("Mul", "x two", "u"), node("Exp", "u", "f"), node("Add", "f one", "r")),
        node("Div", "e r"),
    ),
}


def words(graph: Graph) -> list[str]:
    return [n.op.kind for n in graph.nodes if n.op.kind not in ("input", "affine")]


@pytest.mark.rule("F-1", "F-11")
@pytest.mark.parametrize("name", CASES)
def test_pieces_are_read_as_curves(name: str) -> None:
    graph = compare(CASES[name][0])
    assert words(graph) == CASES[name][1]
    certifiable(graph, "the network")


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_something_else_stays_so(name: str) -> None:
    assert "exp" in words(compare(OTHERS[name]))


def test_numbers_are_those_of_the_file() -> None:
    (op,) = (n.op for n in ircert.load(CASES["celu"][0]).nodes if n.op.kind == "elu")
    assert op == Elu(1.5)
    graph, k = ircert.load(CASES["celu"][0]), 1 / 1.5
    x = np.array([-2.0, -0.125, 0.0, 0.7])
    assert np.allclose(graph(x), np.where(x > 0, x, 1.5 * np.expm1(k * x)), rtol=1e-15)


def test_a_sum_below_a_negative_factor_is_no_elu() -> None:
    """min(-(exp(x) - 1), 0) is 0 below 0, not above."""
    lower = [node("Exp", "x", "e"), node("Sub", "one e", "l"), node("Min", "l zero", "b")]
    graph = compare(built(*lower, node("Relu", "x", "a"), node("Add", "a b")))
    assert "exp" in words(graph)


def test_conditions_on_what_may_be_undefined_are_refused() -> None:
    with pytest.raises(UnsupportedModel, match="IsNaN"):
        ircert.load(built(node("Log", "x", "l"), node("IsNaN", "l", "nan"), node("Where", "nan zero l")))
    with pytest.raises(UnsupportedModel, match="Equal"):
        ircert.load(built(node("Exp", "x", "e"), node("Equal", "x e", "c"), node("Where", "c x e")))


def test_a_choice_that_may_jump_is_refused_in_words() -> None:
    """torch's softplus with a threshold below 20 jumps there."""
    nodes = [node("Softplus", "x", "s"), node("Greater", "x two", "c"), node("Where", "c x s")]
    with pytest.raises(UnsupportedModel, match="may jump where its condition changes"):
        certifiable(ircert.load(built(*nodes)), "the network")
