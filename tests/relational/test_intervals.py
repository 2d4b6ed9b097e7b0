"""Intervals beside forms: exact rationals are inside, and no bound is above that of two intervals."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

import ircert
from ircert.bounds.rounding import affine_interval
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph
from ircert.ir.ops import Affine, Curve, Relu
from ircert.ir.ops.curves import Gelu, Sigmoid, Silu, Tanh
from ircert.relational import intervals
from ircert.relational.activations import values
from ircert.relational.differential_bounds import Pair
from ircert.relational.points import Points
from tests.relational.twins import Layers, around, layers

CURVES: list[Callable[[], Curve]] = [Tanh, Sigmoid, Silu, Gelu]


def curved(given: Layers, kind: Callable[[], Curve]) -> Graph:
    """Layers with a curve between them."""
    build = ircert.Builder(given[0][0].shape[1])
    node = build.input
    for k, (weight, bias) in enumerate(given):
        node = build.affine(node if k == 0 else build.node(kind(), node), weight, bias)
    return build.graph(node)


def drawn(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Array, Array]:
    ends = rng.normal(size=(2, *shape)) * 10.0 ** rng.integers(-12, 12, shape)
    return ends.min(axis=0), ends.max(axis=0)


@pytest.mark.parametrize("seed", range(5))
def test_exact_numbers_are_inside(seed: int) -> None:
    rng = np.random.default_rng(seed)
    weight, bias, signs = rng.normal(size=(3, 4)), rng.normal(size=3), (1.0, -1.0)
    low, high = drawn(rng, (2, 4))
    made = {
        "mapped": intervals.mapped([(weight, (low, high))], bias),
        "added": intervals.added([(low, high), (low, high)], signs),
        "product": intervals.product((low, high), (low, high)),
        "weighed": intervals.weighed(np.tile(weight[0], (2, 1, 1)), (low, high)),
    }
    for _ in range(20):
        one, other = (np.where(rng.random((2, 4)) < 0.5, low, high) for _ in range(2))
        for box in range(2):
            x, y = ([Fraction(v) for v in part[box].tolist()] for part in (one, other))
            rows = [[Fraction(v) for v in row.tolist()] for row in weight]
            dots = [sum((a * b for a, b in zip(row, x, strict=True)), Fraction(0)) for row in rows]
            exact: dict[str, list[Fraction]] = {
                "mapped": [dot + Fraction(b) for dot, b in zip(dots, bias.tolist(), strict=True)],
                "added": [a - b for a, b in zip(x, y, strict=True)],
                "product": [a * b for a, b in zip(x, y, strict=True)],
                "weighed": [dots[0]],
            }
            for name, found in exact.items():
                lows, highs = ([Fraction(v) for v in side[box].tolist()] for side in made[name])
                assert all(a <= v <= b for a, v, b in zip(lows, found, highs, strict=True)), name


def test_what_is_no_number_says_nothing() -> None:
    everything = np.full((1, 2), -np.inf), np.full((1, 2), np.inf)
    with np.errstate(all="ignore"):
        made = (
            intervals.mapped([(np.eye(2), everything)], np.zeros(2)),
            intervals.added([everything, everything], (1.0, -1.0)),
            intervals.product(everything, (np.zeros((1, 2)), np.ones((1, 2)))),
        )
    for found in made:
        assert (found[0] == -np.inf).all()
        assert (found[1] == np.inf).all()


def interval_of(graph: Graph, box: tuple[Array, Array]) -> tuple[Array, Array]:
    """The range of the outputs by interval arithmetic alone."""
    known = {graph.input: box}
    for node in graph.nodes:
        if isinstance(node.op, Affine):
            known[node.name] = affine_interval(node.op.weight, node.op.bias, *known[node.operands[0]])
        elif isinstance(node.op, Relu | Curve):
            known[node.name] = values(node.op, known[node.operands[0]])
    return known[graph.output]


@pytest.mark.parametrize("kind", CURVES)
@pytest.mark.parametrize("radius", [0.5, 20.0])
def test_no_bound_is_above_the_trivial_one(kind: Callable[[], Curve], radius: float) -> None:
    """Two networks that have nothing in common, on balls where lines around curves say less than their ranges."""
    for seed in range(4):
        f, g = (curved([(4 * w, b) for w, b in layers(s, 3, 10, 10, 2)], kind) for s in (seed, seed + 100))
        ball = around(np.zeros(3), radius)
        low, high = (side[0] for side in Pair(f, g).bounds(Points.of(ball)).difference[f.output])
        one, other = (interval_of(graph, ball.box) for graph in (f, g))
        room = 1e-12 * np.abs([*one, *other]).max()
        assert (high <= one[1] - other[0] + room).all()
        assert (low >= one[0] - other[1] - room).all()
