"""Bounds of L from boxes: above all quotients, near closed forms, and the smaller the ball the nearer."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import ircert
from ircert.analysis.asked_ball import ball_for
from ircert.analysis.lipschitz import boxes
from ircert.analysis.lipschitz.boxes import StretchOnBoxes
from ircert.geometry.norm import Norm, norm_of
from ircert.ir.graph import Graph
from ircert.ir.ops import Curve, Exp, Square
from ircert.ir.ops.curves import Gelu, Sin, Tanh
from ircert.limits import Deadline, until
from ircert.questions.network import lowered


def network(curve: Curve | None, sizes: tuple[int, ...], seed: int = 0) -> Graph:
    """Random layers with a curve, or relus, and a second kind of neuron after the first layer."""
    rng = np.random.default_rng(seed)
    build = ircert.Builder(sizes[0])
    x = build.input
    for k, (a, b) in enumerate(itertools.pairwise(sizes)):
        x = build.affine(x, rng.normal(size=(b, a)) / math.sqrt(a), rng.normal(size=b))
        if k < len(sizes) - 2:
            x = build.relu(x) if curve is None or k == 1 else build.node(curve, x)
    return build.graph(x)


def bound(graph: Graph, radius: float, norm: Norm, ball: object = "inf", least: float = 0.0) -> float:
    asked = (np.full(graph.input_dim, 0.2), radius, ball)
    found = StretchOnBoxes(lowered(graph), ball_for(graph, asked, None), norm)
    with until(Deadline(10.0)):
        found.advance(least)
    return found.bound


@pytest.mark.rule("L-13")
@pytest.mark.parametrize("norm", ["inf", 1, 2])
@pytest.mark.parametrize("curve", [None, Tanh(), Gelu(), Sin(), Exp(), Square()])
@pytest.mark.parametrize("sizes", [(3, 6, 5, 3), (4, 6, 2), (2, 5, 5, 5)])
def test_no_quotient_is_larger(
    norm: object, curve: Curve | None, sizes: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, measured = network(curve, sizes), norm_of(norm)
    rng, center = np.random.default_rng(1), np.full(sizes[0], 0.2)
    for ball, most in itertools.product(("inf", 2), (1, 300)):
        monkeypatch.setattr(boxes, "MOST", most)
        steps = rng.standard_normal((4000, sizes[0]))
        steps *= rng.random((4000, 1)) / np.linalg.norm(steps, ord=norm_of(ball).order, axis=1, keepdims=True)
        x = center + 0.3 * steps
        near = x + 1e-5 * rng.standard_normal(x.shape)
        quotients = np.linalg.norm(graph(x) - graph(near), ord=measured.order, axis=1)
        quotients /= np.linalg.norm(x - near, ord=measured.order, axis=1)
        inside = np.linalg.norm(near - center, ord=norm_of(ball).order, axis=1) <= 0.3
        found = bound(graph, 0.3, measured, ball)
        assert quotients[inside].max() <= found * (1 + 1e-9)
        assert most == 1 or found <= 2 * quotients.max()


@pytest.mark.rule("L-13")
@pytest.mark.parametrize("norm", ["inf", 1, 2])
def test_closed_forms(norm: object) -> None:
    """x + 2 tanh(x), entry by entry, stretches most where |x| is least."""
    build = ircert.Builder(3)
    total = build.add(build.input, build.affine(build.node(Tanh(), build.input), 2.0 * np.eye(3)))
    graph = build.graph(total)
    for radius in (0.01, 0.1, 0.15):
        exact = 1 + 2 * (1 - math.tanh(0.2 - radius) ** 2)
        assert exact <= bound(graph, radius, norm_of(norm), least=exact) <= 1.006 * exact


@pytest.mark.rule("L-13")
def test_smaller_balls_have_smaller_bounds() -> None:
    graph = network(Tanh(), (5, 24, 24, 5))
    small, medium, large = (bound(graph, radius, Norm.INF, least=0.9) for radius in (0.01, 0.1, 1.0))
    assert small < medium < large
    found = ircert.bilipschitz(graph, (np.full(5, 0.2), 0.01), time_limit=20.0).upper
    assert found.low <= found.high < 1.05 * found.low
    assert found.high.evidence == boxes.BOXES


@pytest.mark.rule("L-13", "E-7")
def test_time_that_ends_keeps_the_bound() -> None:
    graph = network(Tanh(), (4, 12, 12, 4))
    found, asked = StretchOnBoxes(lowered(graph), ball_for(graph, ([0.0] * 4, 1.0), None), Norm.INF), 0

    def over() -> bool:
        nonlocal asked
        asked += 1
        return asked > 40

    with until(over):
        found.advance(0.0)
    before = found.bound
    assert before < math.inf
    found.advance(0.0)
    assert found.bound < before


@pytest.mark.rule("L-13")
def test_large_networks_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boxes, "WORK", 10)
    assert bound(network(Tanh(), (3, 5, 3)), 0.1, Norm.INF) == math.inf


@pytest.mark.rule("L-13")
@pytest.mark.parametrize("size", [1e-100, 1e-158, 1e-162, 1e-170, 1e-300])
@pytest.mark.parametrize("norm", list(Norm))
def test_weights_whose_squares_are_too_small_for_floats(norm: Norm, size: float) -> None:
    """L of size * tanh in every coordinate is the size, at 0."""
    build = ircert.Builder(3)
    graph = build.graph(build.affine(build.node(Tanh(), build.input), size * np.eye(3), np.zeros(3)))
    assert bound(graph, 1.0, norm) >= size * (1 - 1e-12)
    found = ircert.bilipschitz(graph, (np.zeros(3), 1.0), norm, time_limit=5).upper
    assert found.low <= size * (1 + 1e-12)
    assert found.high >= size * (1 - 1e-12)


@pytest.mark.rule("L-13", "E-7")
def test_many_outputs_are_not_begun_without_time() -> None:
    """There is a matrix for as many of them as there are inputs."""
    graph = network(Tanh(), (1, 4, 400))
    found = StretchOnBoxes(lowered(graph), ball_for(graph, ([0.2], 0.1), None), Norm.INF)
    asked = 0

    def over() -> bool:
        nonlocal asked
        asked += 1
        return asked > 50

    with until(over):
        found.advance(0.0)
    assert found.bound == math.inf
    assert asked < 60
    found.advance(0.0)
    assert found.bound < math.inf
