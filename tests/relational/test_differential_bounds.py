"""Bounds on differences: what they say holds in exact arithmetic, and they are closer than two separate bounds."""

from __future__ import annotations

from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ircert
from ircert.bounds.symbolic import symbolic_bounds
from ircert.geometry.norm import Norm
from ircert.ir.ops import Curve, Relu, Square
from ircert.ir.ops.curves import Gelu, Sigmoid, Silu, Softplus, Tanh
from ircert.questions.network import lowered
from ircert.relational.differential_bounds import Limits, Pair, differential_bounds
from ircert.relational.points import Points
from ircert.testing import graphs
from tests.relational.twins import around, graph, layers, points_of, rounded

NORMS = [Norm.INF, Norm.ONE, Norm.TWO]


def inside(low: float, value: Fraction, high: float) -> bool:
    return (low == -np.inf or Fraction(low) <= value) and (high == np.inf or value <= Fraction(high))


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("shared", [True, False])
def test_every_difference_is_inside(norm: Norm, shared: bool) -> None:
    made = layers(1, 3, 8, 8, 2)
    f, g = graph(made), graph(rounded(made))
    for radius in (1e-9, 0.1, 1.0):
        ball = around(np.array([0.1, -0.3, 0.2]), radius, norm)
        _, _, apart = differential_bounds(f, g, ball, shared=shared)
        low, high = apart[f.output]
        x = points_of(ball, 12)
        y = x if shared else points_of(ball, 12, seed=1)
        for a, b in zip(x, y, strict=True):
            if not (ball.contains(a) and ball.contains(b)):  # rounded out of a tiny ball
                continue
            gaps = [p - q for p, q in zip(f.exact(a), g.exact(b), strict=True)]
            assert all(map(inside, low.tolist(), gaps, high.tolist()))


@settings(deadline=None, max_examples=25)
@given(graphs(inputs=3, nodes=6, width=4), st.sampled_from(NORMS), st.booleans(), st.integers(0, 3))
def test_any_graph_beside_another(made: ircert.Graph, norm: Norm, shared: bool, seed: int) -> None:
    """Of one shape, the graph itself; of another, a layered one with as many outputs."""
    f = lowered(made)
    for g in (f, graph(layers(seed, made.input_dim, 5, made.output_dim))):
        ball = around(np.linspace(-1, 1, f.input_dim), 0.75, norm)
        found = Pair(f, g).bounds(Points.of(ball, 1 if shared else 2))
        x = points_of(ball, 4, seed)
        y = x if shared else points_of(ball, 4, seed + 1)
        for a, b in zip(x, y, strict=True):
            ends = list(f.exact(a)), list(g.exact(b))
            gaps = [p - q for p, q in zip(*ends, strict=True)]
            for values, (low, high) in zip(
                (*ends, gaps),
                (found.first[f.output], found.second[g.output], found.difference[f.output]),
                strict=True,
            ):
                assert all(map(inside, low[0].tolist(), values, high[0].tolist()))


def test_rounding_is_paid_for_where_nothing_else_is() -> None:
    """Affine networks: the forms are exact, and corners attain the bounds up to rounding."""
    rng = np.random.default_rng(5)
    made = [(rng.normal(size=(4, 4)) * 10.0 ** rng.integers(-8, 8, size=(4, 1)), rng.normal(size=4)) for _ in range(3)]
    build = [ircert.Builder(4), ircert.Builder(4)]
    ends = []
    for builder, change in zip(build, (0.0, 1e-13), strict=True):
        node = builder.input
        for weight, bias in made:
            node = builder.affine(node, weight * (1 + change), bias)
        ends.append(builder.graph(node))
    f, g = ends
    ball = around(rng.normal(size=4), 0.3)
    low, high = differential_bounds(f, g, ball, shared=True)[2][f.output]
    corners = np.array(np.meshgrid(*[[-1, 1]] * 4)).reshape(4, -1).T
    values = []
    for signs in corners:
        x = [Fraction(c) + Fraction(0.3) * int(s) for c, s in zip(ball.center.tolist(), signs, strict=True)]
        values.append([p - q for p, q in zip(f.exact(x), g.exact(x), strict=True)])
    for j in range(4):
        column = [row[j] for row in values]
        assert Fraction(low[j]) <= min(column) <= max(column) <= Fraction(high[j])
        assert float(max(column)) >= high[j] - 1e-2 * (high[j] - low[j])


def test_differences_are_closer_than_two_separate_bounds() -> None:
    made = layers(0, 5, 30, 30, 30, 3)
    f, g = graph(made), graph(rounded(made, 2.0**-12))
    ball = around(np.full(5, 0.3), 0.05)
    low, high = differential_bounds(f, g, ball, shared=True)[2][f.output]
    apart = symbolic_bounds(f, ball), symbolic_bounds(g, ball)
    alone = apart[0].high[f.output] - apart[1].low[g.output]
    assert (np.maximum(-low, high) < 0.05 * alone).all()


def test_a_network_beside_itself_does_not_differ() -> None:
    f = graph(layers(3, 4, 9, 9, 3))
    low, high = differential_bounds(f, f, around(np.zeros(4), 2.0), shared=True)[2][f.output]
    assert np.abs([low, high]).max() < 1e-200


def test_phases_cut_and_empty() -> None:
    """relu(x) - 0: where x >= 0 it is x, and where x >= 0 and x <= -1 there is nothing."""
    f, g = graph([(np.eye(1), np.zeros(1)), (np.eye(1), np.zeros(1))]), graph([(np.zeros((1, 1)), np.zeros(1))])
    node = next(n.operands[0] for n in f.nodes if isinstance(n.op, Relu))
    ball = around(np.zeros(1), 1.0)
    on = Limits(first={node: (np.zeros(1), np.full(1, np.inf))})
    found = Pair(f, g).bounds(Points.of(ball), on)
    assert found.difference[f.output][1][0, 0] == pytest.approx(1.0)
    assert not found.empty[0]
    none = Limits(first={node: (np.full(1, 2.0), np.full(1, np.inf))})
    assert Pair(f, g).bounds(Points.of(ball), none).empty[0]


@pytest.mark.parametrize("curve", [Tanh, Sigmoid, Gelu, Silu, Softplus, Square])
def test_curves(curve: type[Curve]) -> None:
    rng = np.random.default_rng(2)
    weights = [rng.normal(size=(6, 2)), rng.normal(size=(2, 6))]
    made = []
    for change in (0.0, 1e-3):
        build = ircert.Builder(2)
        node = build.affine(build.input, weights[0] + change)
        node = build.node(curve(), node)
        made.append(lowered(build.graph(build.affine(node, weights[1]))))
    f, g = made
    for radius in (0.01, 0.5, 3.0):
        ball = around(np.array([0.2, -0.1]), radius)
        low, high = differential_bounds(f, g, ball, shared=True)[2][f.output]
        for x in points_of(ball, 6):
            ends = [h.enclosure(x) for h in (f, g)]
            for j in range(2):
                gap = ends[0][j] - ends[1][j]
                assert flint.arb(float(low[j])) <= gap <= flint.arb(float(high[j]))
    assert np.isfinite(high - low).all()


def test_boxes_outside_a_round_ball_are_empty() -> None:
    ball = around(np.zeros(2), 1.0, Norm.TWO)
    points = Points(ball, np.array([[0.8, 0.8], [0.5, 0.5]]), np.array([[1.0, 1.0], [1.0, 1.0]]))
    assert points.missing_ball().tolist() == [True, False]


def test_numbers_that_overflow_bound_nothing() -> None:
    huge = [(np.full((2, 1), 1e300), np.zeros(2)), (np.full((1, 2), 1e300), np.zeros(1))]
    f = graph(huge)
    low, high = differential_bounds(f, f, around(np.zeros(1), 1e5), shared=False)[2][f.output]
    assert low[0] == -np.inf
    assert high[0] == np.inf
