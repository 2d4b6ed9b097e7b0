"""Lengths of whole nodes: closed forms in norms that parts keep, and pairs of points."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

import ircert
from ircert.geometry.norm import Norm
from ircert.ir.graph import Graph
from ircert.ir.ops.curves import Tanh
from ircert.ir.ops.piecewise import LeakyRelu
from ircert.structure.inverse_lengths import inverse_length
from ircert.structure.known import Knowledge
from ircert.structure.range import Range
from ircert.structure.ranges import ranges
from ircert.testing.invertible import invertible_networks
from tests.structure.flows import autoregressive, couplings, regular, residual

FIXTURES = Path(__file__).parent / "fixtures" / "torch_dynamo"


def length(graph: Graph, norm: Norm, radius: float = 1.0) -> float:
    inputs = Range.between(graph.input_dim, -radius, radius)
    return inverse_length(Knowledge(graph), ranges(graph, inputs), norm)


def assert_holds(graph: Graph, found: float, norm: Norm, radius: float = 1.0) -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(-radius, radius, (300, graph.input_dim))
    y = np.clip(x + rng.normal(size=x.shape) * 10 ** rng.uniform(-3, 0, (300, 1)), -radius, radius)
    assert (norm.lengths(x - y) <= found * norm.lengths(graph(x) - graph(y)) * (1 + 1e-9) + 1e-9).all()


@pytest.mark.rule("L-12")
@pytest.mark.parametrize("norm", Norm)
def test_closed_forms(norm: Norm) -> None:
    assert length(residual(np.random.default_rng(0), 5, 3, 0.5, Tanh()), norm) == pytest.approx(8.0, rel=1e-6)
    build = ircert.Builder(3)
    turned = build.affine(build.select(build.input, [2, 0, 1]), np.diag([2.0, -0.5, 4.0]))
    assert length(build.graph(turned), norm) == pytest.approx(2.0, rel=1e-9)
    leaky = build.node(LeakyRelu(np.array([0.25])), build.input)
    assert length(build.graph(leaky), norm) == pytest.approx(4.0, rel=1e-9)


@pytest.mark.rule("L-12")
def test_orthogonal_maps_keep_lengths_in_norm_two() -> None:
    q = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))[0]
    graph = ircert.load([(q, None)])
    assert length(graph, Norm.TWO) == pytest.approx(1.0, rel=1e-3)
    assert length(graph, Norm.INF) == pytest.approx(np.abs(q.T).sum(axis=1).max(), rel=1e-9)


@pytest.mark.rule("L-12")
@pytest.mark.parametrize("norm", Norm)
def test_maps_are_inverted(norm: Norm) -> None:
    weight = regular(np.random.default_rng(1), 4)
    found = length(ircert.load([(weight, np.ones(4))]), norm)
    assert found == pytest.approx(np.linalg.norm(np.linalg.inv(weight), ord=norm.order), rel=1e-2)
    tall = np.vstack([weight, np.ones((1, 4))])
    graph = ircert.load([(tall, None)])
    assert_holds(graph, length(graph, norm), norm)


@pytest.mark.rule("L-12")
@pytest.mark.parametrize("norm", Norm)
def test_flows(norm: Norm) -> None:
    rng = np.random.default_rng(0)
    made = [couplings(rng, 4, 2, scaled=True), couplings(rng, 5, 2), autoregressive(rng, 3)]
    made += [
        ircert.load(FIXTURES / f"{name}.onnx") for name in ("revnet", "iresnet_leaky", "glow_64", "freia_coupling")
    ]
    for graph in made:
        found = length(graph, norm, 0.25)
        assert found == math.inf or found > 0
        if found < math.inf:
            assert_holds(graph, found, norm, 0.25)


@pytest.mark.rule("L-12")
@settings(max_examples=30)
@given(invertible_networks(smooth=False))
def test_designs_that_are_hidden(graph: Graph) -> None:
    for norm in Norm:
        found = length(graph, norm)
        if found < math.inf:
            assert_holds(graph, found, norm)


@pytest.mark.rule("L-12")
def test_a_convolutional_residual_flow() -> None:
    graph = ircert.load(FIXTURES / "iresnet_3072.onnx")
    assert length(graph, Norm.TWO) < 3_000
    assert length(graph, Norm.INF) == math.inf


@pytest.mark.rule("L-12")
@pytest.mark.parametrize("size", [1e165, 1e170, 1e300])
def test_many_blocks_whose_inverses_have_tiny_products(size: float) -> None:
    n = 69
    weight = np.diag(size * (1 + np.arange(n) / n / 4))
    build = ircert.Builder(n)
    found = ircert.bilipschitz(build.graph(build.affine(build.input, weight)), (np.zeros(n), 1.0, "inf"), 2)
    assert found.lower.low <= size
    assert found.lower.high >= size * (1 - 1e-9)
