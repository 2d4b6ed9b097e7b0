"""Boxes that hold a collision of a network with curves; what was changed about them is seen."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import ircert
from ircert.ir.boxed_pair import BoxedPair, boxed, fault_of
from ircert.ir.graph import Graph
from ircert.ir.ops.curves import Silu, Tanh
from ircert.ir.ops.smooth import Product

ROOT = 1.9150080481545375
"""x = 2 tanh(x)."""


def bend(factor: float = -2.0) -> Graph:
    """x + factor tanh(x)."""
    build = ircert.Builder(1)
    return build.graph(build.add(build.input, build.affine(build.node(Tanh(), build.input), [[factor]])))


def sheared() -> Graph:
    """(u - 2 tanh(u), y - x), u = x + y."""
    build = ircert.Builder(2)
    u = build.affine(build.input, [[1.0, 1.0]])
    first = build.add(u, build.affine(build.node(Tanh(), u), [[-2.0]]))
    return build.graph(build.concat(first, build.affine(build.input, [[-1.0, 1.0]])))


def exact(*values: float) -> list[Fraction]:
    return [Fraction(v) for v in values]


def found(graph: Graph, x: list[Fraction], y: list[Fraction], unknowns: list[tuple[int, int]]) -> BoxedPair:
    pair = boxed(graph, x, y, unknowns)
    assert pair is not None
    assert fault_of(graph, pair) is None
    return pair


def test_a_known_collision() -> None:
    pair = found(bend(), exact(1.9), exact(0.0), [(0, 0)])
    assert abs(float(pair.x[0]) - ROOT) < 1e-15
    assert pair.y + pair.y_radii == exact(0.0, 0.0)
    assert 0 < pair.x_radii[0] < Fraction(1, 2**60)


def test_close_to_a_fold() -> None:
    fold = math.acosh(math.sqrt(2.0))
    pair = found(bend(), exact(fold + 1e-7), exact(fold - 1e-7), [(1, 0)])
    assert abs(float(pair.y[0]) - (fold - 1e-7)) < 1e-13


def test_several_inputs_and_inputs_that_are_shared() -> None:
    graph = sheared()
    pair = found(graph, exact(1.0, 0.9), exact(0.0, 0.0), [(0, 0), (0, 1)])
    assert abs(float(sum(pair.x)) - ROOT) < 1e-15
    found(graph, exact(1.0, 0.9), exact(0.0, 0.0), [(0, 0), (1, 1)])
    assert boxed(graph, exact(1.0, 0.9), exact(0.0, 0.0), [(0, 0)]) is None  # two equations, one unknown
    alone = graph.then(ircert.load([(np.eye(2), [0.0, 0.0])])).fix({1: 0.25})
    assert boxed(alone, exact(0.9), exact(-0.6), [(0, 0), (1, 0)]) is None  # -x tells all points apart


def test_outputs_that_cannot_differ_are_no_equations() -> None:
    build = ircert.Builder(2)
    first = build.add(build.input, build.affine(build.node(Tanh(), build.input), -2 * np.eye(2)))
    pair = found(build.graph(first), exact(1.9, 0.5), exact(0.0, 0.5), [(0, 0)])
    assert pair.x[1] == pair.y[1] == Fraction(1, 2)
    moved = replace(pair, x=[pair.x[0], Fraction(3, 4)])
    assert "1 unknown inputs for 2 equations" in str(fault_of(build.graph(first), moved))


def test_kinks_and_gates() -> None:
    build = ircert.Builder(1)
    gate = build.node(Product(), build.node(Tanh(), build.input), build.node(Tanh(), build.input))
    found(build.graph(gate), exact(0.7), exact(-0.6), [(1, 0)])
    build = ircert.Builder(1)
    kinked = build.add(build.relu(build.input), build.node(Silu(), build.affine(build.input, [[-1.0]])))
    pair = found(build.graph(kinked), exact(0.3), exact(-0.2), [(1, 0)])
    assert fault_of(build.graph(kinked), replace(pair, x=exact(0.0), x_radii=exact(0.0))) is not None


def test_what_was_changed_is_no_proof() -> None:
    graph = sheared()
    pair = found(graph, exact(1.0, 0.9), exact(0.0, 0.0), [(0, 0), (0, 1)])
    moved = [pair.x[0] + 4 * pair.x_radii[0], pair.x[1]]
    wide = [Fraction(2)] * 2
    same = BoxedPair(exact(0.5, 0.5), exact(0.5, 0.5), exact(1e-9, 1e-9), exact(0.0, 0.0))
    for wrong, why in (
        (replace(pair, x=moved), "does not show"),
        (replace(pair, x_radii=wide), "overlap"),
        (replace(pair, x=[-v for v in pair.x], x_radii=wide, y=exact(9.0, 9.0)), "does not show"),
        (replace(pair, x_radii=[-r for r in pair.x_radii]), "negative"),
        (replace(pair, x_radii=[pair.x_radii[0], Fraction(0)]), "unknown inputs"),
        (replace(pair, y_radii=pair.x_radii), "unknown inputs"),
        (replace(pair, x_radii=exact(0.0, 0.0)), "unknown inputs"),
        (same, "overlap"),
    ):
        assert why in str(fault_of(graph, wrong))
    assert fault_of(sheared().then(ircert.load([(2 * np.eye(2), [1.0, 1.0])])), pair) is None
    assert "does not show" in str(fault_of(graph.then(bend_both()), replace(pair, y=exact(0.1, 0.0))))


def bend_both() -> Graph:
    build = ircert.Builder(2)
    return build.graph(build.node(Tanh(), build.input))


def test_another_network_has_to_tell_the_boxes_apart() -> None:
    graph = bend()
    pair = found(graph, exact(1.9), exact(0.0), [(0, 0)])
    assert fault_of(graph, pair, other=bend(3.0)) is None
    assert "tell the boxes apart" in str(fault_of(graph, pair, other=graph))


@settings(max_examples=25)
@given(st.floats(-0.99, 3.0), st.floats(-3, 3), st.floats(-3, 3), st.integers(-40, 1))
def test_injective_maps_have_no_pair(factor: float, x: float, y: float, power: int) -> None:
    graph = bend(factor)
    assert boxed(graph, exact(x), exact(y), [(0, 0)]) is None
    pair = BoxedPair(exact(x), exact(y), [Fraction(2) ** power], [Fraction(0)])
    assert fault_of(graph, pair) is not None
