"""Constants of inverses hold for all pairs, and are what they must be in closed forms."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

import ircert
from ircert.geometry.norm import Norm
from ircert.ir.graph import Graph
from ircert.ir.ops.curves import Tanh
from ircert.ir.ops.piecewise import LeakyRelu
from ircert.structure.inverse import length_up, stretches
from ircert.structure.known import Knowledge
from ircert.testing.invertible import invertible_networks
from tests.structure.flows import residual


def assert_holds(graph: Graph, k: np.ndarray, seed: int = 0) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(200, graph.input_dim)) * 3
    y = x + rng.normal(size=x.shape) * 10 ** rng.uniform(-3, 1, (200, 1))
    for norm in Norm:
        apart = np.linalg.norm(x - y, ord=norm.order, axis=1)
        images = np.linalg.norm(graph(x) - graph(y), ord=norm.order, axis=1)
        assert (apart <= length_up(k, norm) * images * (1 + 1e-9) + 1e-9).all()


@pytest.mark.rule("L-9")
@settings(max_examples=40)
@given(invertible_networks(smooth=False))
def test_designs_that_are_hidden(graph: Graph) -> None:
    k = stretches(Knowledge(graph))
    assert np.isfinite(k).all()
    assert_holds(graph, k)


@pytest.mark.rule("L-9")
def test_closed_forms() -> None:
    scaled = ircert.load([(np.diag([2.0, -0.5]), None)])
    assert stretches(Knowledge(scaled)) == pytest.approx([0.5, 2.0], rel=1e-9)
    build = ircert.Builder(2)
    leaky = build.graph(build.node(LeakyRelu(np.array([0.25, 4.0])), build.input))
    assert stretches(Knowledge(leaky)) == pytest.approx([4.0, 1.0], rel=1e-9)
    blocks = residual(np.random.default_rng(0), 3, 2, 0.5, Tanh())
    assert stretches(Knowledge(blocks)) == pytest.approx([4.0] * 3, rel=1e-6)


@pytest.mark.rule("L-9")
def test_functions_that_become_flat_give_nothing() -> None:
    build = ircert.Builder(1)
    assert np.isinf(stretches(Knowledge(build.graph(build.node(Tanh(), build.input))))).all()


@pytest.mark.rule("L-9")
@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-200, 1e-165, 1e-100, 1.0, 1e200, 1e307])
def test_lengths_of_numbers_whose_squares_are_no_floats(size: float) -> None:
    for norm in Norm:
        for numbers in (np.array([size]), np.array([size, size]), np.array([size, 0.0, size / 2])):
            exact = norm.measure([Fraction(v) for v in numbers.tolist()])
            found = length_up(numbers, norm)
            assert Fraction(found) ** norm.power >= exact if norm == Norm.TWO else Fraction(found) >= exact
            assert found <= float(numbers.sum()) * (1 + 1e-9) + 1e-322


@pytest.mark.rule("L-9")
def test_an_inverse_with_tiny_stretches_is_not_too_large() -> None:
    """L' of 1e165 tanh on |x| <= 1 is its slope at 1."""
    build = ircert.Builder(2)
    weight = np.diag([1e165, 1.0000000001e165])
    graph = build.graph(build.affine(build.node(Tanh(), build.input), weight, np.zeros(2)))
    found = ircert.bilipschitz(graph, (np.zeros(2), 1.0, "inf"), 2, time_limit=5).lower
    assert found.low <= 1e165 / math.cosh(1) ** 2 * (1 + 1e-9)
