"""Operations that are not piecewise linear: they evaluate, print, and say what cannot be done with them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.errors import GraphError, UnsupportedModel
from ircert.ir.ops import ALL, BY_KIND, Exp, Op, Square, curves, smooth
from ircert.ir.ops.gates import GATES

ATTRIBUTES: dict[str, dict[str, Any]] = {
    "elu": {"alpha": 0.5},
    "power": {"exponent": 1.5},
    "softmax": {"group": 2},
    "log_softmax": {"group": 4},
}


def graph_of(op: type[Op]) -> ircert.Graph:
    build = ircert.Builder(4)
    operands = [build.input] * (op.arity or 1)
    return build.graph(build.node(op(**ATTRIBUTES.get(op.kind, {})), *operands))


@pytest.mark.parametrize("op", smooth.SMOOTH)
def test_round_trip_and_flags(op: type[Op]) -> None:
    graph = graph_of(op)
    assert ircert.parse(str(graph)) == graph
    assert BY_KIND[op.kind] is op
    assert not op.piecewise_linear
    assert not op.core
    assert graph(np.full((3, 4), 0.5)).shape == (3, 4)


def test_everything_else_is_piecewise_linear() -> None:
    assert {op for op in ALL if not op.piecewise_linear} == {*smooth.SMOOTH, *GATES, Square, Exp}


@pytest.mark.parametrize("op", smooth.SMOOTH)
def test_no_lowering(op: type[Op]) -> None:
    graph = graph_of(op)
    build = ircert.Builder(4)
    with pytest.raises(UnsupportedModel, match=rf"^{op.kind} is not piecewise linear.*select"):
        graph[graph.output].op.lower(build, *[build.input] * (op.arity or 1))


@pytest.mark.parametrize("op", [op for op in smooth.SMOOTH if op not in (smooth.Product, smooth.Choose)])
def test_no_exact_values(op: type[Op]) -> None:
    with pytest.raises(UnsupportedModel, match=rf"^{op.kind} has irrational values.*select"):
        graph_of(op).exact([1, 2, 3, 4])


def test_products_are_exact() -> None:
    point = ["1/3", 2, -1, 0]
    assert graph_of(smooth.Product).exact(point).tolist() == [Fraction(1, 9), 4, 1, 0]


def test_choices_are_exact() -> None:
    build = ircert.Builder(2)
    a, b = build.select(build.input, [0]), build.select(build.input, [1])
    graph = build.graph(build.node(smooth.Choose(), a, b, build.affine(a, [[2.0]]), build.affine(b, [[-1.0]])))
    for point, expected in (((2, 1), 4), ((1, 2), -2), ((1, 1), -1)):
        assert graph.exact(point)[0] == graph(np.array(point, dtype=float))[0] == expected


@pytest.mark.parametrize(
    ("kind", "x", "expected"),
    [
        ("tanh", 0.5, 0.46211715726000975),
        ("sigmoid", 0.5, 0.6224593312018546),
        ("gelu", 1.0, 0.8413447460685429),
        ("gelu_tanh", 1.0, 0.8411919906082768),
        ("softplus", 1.0, 1.3132616875182228),
        ("softplus", 800.0, 800.0),
        ("softsign", -3.0, -0.75),
        ("hard_swish", 1.0, 2 / 3),
        ("silu", 1.0, 0.7310585786300049),
        ("mish", 1.0, 0.8650983882673103),
        ("elu", -1.0, 0.5 * (np.exp(-1) - 1)),
        ("erf", 1.0, 0.8427007929497149),
    ],
)
def test_values(kind: str, x: float, expected: float) -> None:
    np.testing.assert_allclose(graph_of(BY_KIND[kind])(np.full(4, x)), np.full(4, expected), rtol=1e-14)


def test_extreme_arguments_do_not_warn() -> None:
    points = np.array([[-1e300, -1.0, 0.0, 1e300]])
    for op in smooth.SMOOTH:
        if op not in (smooth.Softmax, smooth.LogSoftmax):
            graph_of(op)(points)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: smooth.Softmax(0), "group"),
        (lambda: smooth.Softmax(True), "group"),
        (lambda: curves.Elu(np.nan), "alpha"),
        (lambda: smooth.Power("2"), "exponent"),  # type: ignore[arg-type]
    ],
)
def test_attributes_are_checked(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_groups_must_divide() -> None:
    build = ircert.Builder(4)
    with pytest.raises(GraphError, match="groups of 3"):
        build.node(smooth.Softmax(3), build.input)
