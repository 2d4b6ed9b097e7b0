"""Balls that hold the real values and derivatives of a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import arb

import ircert
from ircert.errors import PointError, UnsupportedModel
from ircert.ir.enclosure import enclosed_determinant, enclosed_jacobian
from ircert.ir.ops import CURVES, Abs, Curve, Product
from ircert.ir.ops.curves import Elu, Gelu, Tanh
from ircert.ir.ops.exp import Exp
from ircert.ir.ops.smooth import Log, Reciprocal


def network(curve: Curve) -> ircert.Graph:
    build = ircert.Builder(2)
    z = build.affine(build.input, [[1.0, -2.0], [0.5, 0.25], [3.0, 1.0]], [0.1, -0.2, 0.3])
    y = build.concat(build.node(curve, z), build.relu(build.select(z, [2, 0])), build.node(Abs(), build.input))
    whole = build.add(y, build.affine(build.input, np.ones((7, 2))))
    return build.graph(build.affine(whole, [[1.0, 2, 3, 4, 5, 6, 7], [-1, 2, -3, 4, -5, 6, -8]]))


@pytest.mark.parametrize("op", CURVES, ids=lambda op: op.kind)
@pytest.mark.rule("IR-20")
def test_floats_lie_near_and_precision_grows(op: type[Curve]) -> None:
    graph, x = network(op()), [0.3, -0.7]
    few, many = graph.enclosure(x, 64), graph.enclosure(x, 300)
    for value, a, b in zip(graph(x), few, many, strict=True):
        assert a.contains(b)
        assert float(b.rad()) < 1e-80
        assert abs(float(b.mid()) - value) < 1e-13


def test_rational_points_and_rich_operations() -> None:
    graph = network(Tanh())
    assert graph.enclosure(["1/3", 2]).shape == (2,)
    build = ircert.Builder(1)
    plain = build.graph(build.node(Abs(), build.affine(build.input, [[-3.0]])))
    assert plain.enclosure(["1/3"])[0].contains(1)


@pytest.mark.parametrize("curve", [Tanh(), Gelu(), Elu(0.5)])
def test_derivatives(curve: Curve) -> None:
    graph, x, step = network(curve), np.array([0.3, -0.7]), 1e-6
    jacobian = enclosed_jacobian(graph, x.tolist())
    for j in range(2):
        unit = step * np.eye(2)[j]
        slope = (graph(x + unit) - graph(x - unit)) / (2 * step)
        assert np.allclose([float(jacobian[i, j].mid()) for i in range(2)], slope, atol=1e-7)
    assert abs(float(enclosed_determinant(graph, x.tolist()).mid())) > 0


def test_products_have_derivatives() -> None:
    build = ircert.Builder(1)
    graph = build.graph(build.node(Product(), build.input, build.node(Tanh(), build.input)))
    value, slope = graph.enclosure([0.5])[0], enclosed_jacobian(graph, [0.5])[0, 0]
    t = arb(0.5).tanh()
    assert value.overlaps(t / 2)
    assert slope.overlaps(t + (1 - t * t) / 2)


def test_all_slopes_of_a_kink_are_held() -> None:
    build = ircert.Builder(1)
    graph = build.graph(build.add(build.relu(build.input), build.node(Elu(2.0), build.input)))
    slope = enclosed_jacobian(graph, [0])[0, 0]
    assert slope.contains(2)
    assert slope.contains(3)
    assert slope.contains(1)


def test_exp_and_reciprocals() -> None:
    build = ircert.Builder(1)
    graph = build.graph(build.node(Reciprocal(), build.node(Exp(), build.input)))  # exp(-x)
    for x in (-3, 0, 2):
        expected = arb(-x).exp()
        assert graph.enclosure([x])[0].overlaps(expected)
        assert enclosed_jacobian(graph, [x])[0, 0].overlaps(-expected)
    assert not build.graph(build.node(Reciprocal(), build.input)).enclosure([0])[0].is_finite()


def test_what_has_no_enclosure() -> None:
    build = ircert.Builder(1)
    with pytest.raises(UnsupportedModel, match=r"log at .* has no enclosure"):
        build.graph(build.node(Log(), build.input)).enclosure([1])
    with pytest.raises(PointError, match="a point of 1 numbers"):
        network(Tanh()).enclosure([1])


@pytest.mark.parametrize("op", CURVES, ids=lambda op: op.kind)
def test_far_out_lines_are_left(op: type[Curve]) -> None:
    build = ircert.Builder(1)
    graph = build.graph(build.node(op(), build.input))
    for x, tail in zip((-1e120, 1e120), op().tails(), strict=True):
        value, slope = graph.enclosure([x])[0], enclosed_jacobian(graph, [x])[0, 0]
        assert abs(value - tail.slope * x - tail.offset) <= 1.1 + 1e-30 * abs(x)
        assert abs(slope - tail.slope) <= 1.1


@pytest.mark.parametrize("bits", [-1, 0, 1.5, True, 2**40, "8"])
def test_bits_that_are_no_precision_are_refused(bits: Any) -> None:
    build = ircert.Builder(1)
    with pytest.raises(PointError, match="bits must be an integer"):
        build.graph(build.node(Tanh(), build.input)).enclosure([0.5], bits)
