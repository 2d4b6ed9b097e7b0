"""Bounds hold in real arithmetic: exact values at points of the ball never leave them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ircert
from ircert.bounds.rounding import affine_interval
from ircert.bounds.symbolic import relaxation
from ircert.errors import IrcertError
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.ir.build import needed_nodes
from ircert.ir.graph import Graph
from ircert.programs.build import ProgramBuilder
from ircert.programs.encodings.analyse import analyse
from ircert.programs.encodings.lp_bounds import lp_bounds, safe_upper_bound
from ircert.questions.network import lowered as canonical
from ircert.questions.query import Query
from ircert.testing import graphs, mlps

SLOW = settings(deadline=None, suppress_health_check=list(HealthCheck))
METHODS: list[Any] = ["interval", "symbolic", "lp"]


def points_of(ball: Ball, rng: np.random.Generator, count: int = 6) -> Iterator[Any]:
    """Points of the ball, most of them on its rim."""
    for k in range(count):
        step = rng.standard_normal(len(ball.center))
        step = np.sign(step) * (rng.random(len(step)) < 0.7) if k % 2 else step
        length = {"inf": np.abs(step).max(), "1": np.abs(step).sum(), "2": np.sqrt(step @ step)}[ball.norm]
        x = ball.center + step / (length or 1.0) * ball.radius
        x = x if ball.contains(x) else ball.center + (x - ball.center) * (1 - 1e-12)
        if ball.contains(x):
            yield x


def check(graph: Graph, query: Query, rng: np.random.Generator) -> None:
    found = [analyse(graph, query.ball, method) for method in METHODS]
    for x in points_of(query.ball, rng):
        for node in graph.nodes:
            part = Graph(needed_nodes({n.name: n for n in graph.nodes}, node.name), node.name)
            values = part.exact(x)
            for bounds in found:
                limits = zip(bounds.low[node.name].tolist(), values, bounds.high[node.name].tolist(), strict=True)
                assert all(Fraction(low) <= v <= Fraction(high) for low, v, high in limits), (node.name, bounds.method)


@pytest.mark.rule("B-1", "B-2")
@SLOW
@given(graphs(), st.sampled_from(Norm), st.integers(0, 10**6))
def test_no_exact_value_leaves_the_bounds(graph: Graph, norm: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = canonical(graph)
    center = rng.integers(-16, 17, graph.input_dim) / 8
    check(graph, Query("local", center, float(rng.choice([0.125, 1, 3.7])), norm), rng)


@pytest.mark.rule("B-1")
@SLOW
@given(mlps(inputs=3), st.integers(0, 10**6))
def test_domains_cut_the_ball(graph: Graph, seed: int) -> None:
    rng = np.random.default_rng(seed)
    center = rng.random(graph.input_dim)
    query = Query("local", center, 0.75, "inf", domain=(0.0, 1.0))
    check(graph, query, rng)
    # the other methods choose slopes by the bounds, and worse ones at times
    whole, cut = (analyse(graph, ball, "interval") for ball in (Query("local", center, 0.75, "inf").ball, query.ball))
    assert (cut.low[graph.output] >= whole.low[graph.output] - 1e-9).all()


def test_tiny_and_huge_weights_do_not_fool_norm_2() -> None:
    """Squares of 1e-239 vanish and of 1e200 overflow; lengths must not."""
    for scale in (1e-239, 1e-160, 1e150):
        graph = ircert.load([([[3 * scale, 4 * scale]], None)])
        bounds = analyse(graph, Query("local", [0.0, 0.0], 1.0, "2").ball)
        assert bounds.high["y"][0] == pytest.approx(5 * scale)
        assert bounds.high["y"][0] >= 5 * scale


def test_each_method_is_at_least_as_tight_as_the_one_before() -> None:
    rng = np.random.default_rng(0)
    sizes = [2, 16, 16, 2]
    layers = [(rng.standard_normal((m, n)) / np.sqrt(n), rng.standard_normal(m)) for n, m in pairwise(sizes)]
    graph = ircert.load(layers)
    ball = Query("local", [0.3, -0.2], 1.0).ball
    interval, symbolic, lp = (analyse(graph, ball, method) for method in METHODS)
    for name in ("h1", "h2"):
        for loose, tight in ((interval, symbolic), (symbolic, lp)):
            assert (tight.low[name] >= loose.low[name]).all()
            assert (tight.high[name] <= loose.high[name]).all()
    assert interval.count_unstable() >= symbolic.count_unstable() >= lp.count_unstable()
    assert (lp.high["h2"] - lp.low["h2"]).sum() < 0.9 * (symbolic.high["h2"] - symbolic.low["h2"]).sum()
    assert lp.summary() == f"lp: {32 - lp.count_unstable()} of 32 neurons stable"


def test_lp_bounds_stop_at_the_time_limit_and_report_progress() -> None:
    rng = np.random.default_rng(0)
    graph = ircert.load(
        [(rng.standard_normal((8, 2)), None), (rng.standard_normal((8, 8)), None), (rng.standard_normal((2, 8)), None)]
    )
    ball = Query("local", [0.0, 0.0], 1.0).ball
    start = analyse(graph, ball)
    at_once = lp_bounds(start, ball, time_limit=0.0)
    assert (at_once.high["h2"] == start.high["h2"]).all()
    seen: list[tuple[str, int, int]] = []
    lp_bounds(start, ball, progress=lambda *step: seen.append(step))
    assert seen
    assert all(1 <= done <= total for _, done, total in seen)


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=2), st.lists(st.floats(-5, 5), min_size=1, max_size=1))
def test_any_multipliers_give_a_valid_bound(multipliers: list[float], cost: list[float]) -> None:
    """max c v over -2 <= v <= 1 (bounds [-3, 3]): whatever the dual, the bound is no less than the optimum."""
    build = ProgramBuilder()
    v = build.variables("v", 1, -3.0, 3.0)
    build.rows("top", [(v, 1.0)], "<=", 1.0)
    build.rows("bottom", [(v, 1.0)], ">=", -2.0)
    program = build.program()
    optimum = max(cost[0] * 1.0, cost[0] * -2.0)
    assert safe_upper_bound(program, np.array(cost), np.array(multipliers)) >= optimum
    best = np.array([cost[0], 0.0]) if cost[0] > 0 else np.array([0.0, cost[0]])
    assert safe_upper_bound(program, np.array(cost), best) == pytest.approx(optimum, abs=1e-12)


@given(st.floats(-1e6, 1e6), st.floats(0, 1e6), st.floats(0, 1))
def test_the_relaxation_of_relu_holds(low: float, width: float, share: float) -> None:
    high = low + width
    slope, offset, alpha = (Fraction(float(v[0])) for v in relaxation(np.array([low]), np.array([high])))
    z = min(Fraction(low) + Fraction(share) * Fraction(width), Fraction(high))
    relu = z if z > 0 else Fraction(0)
    assert alpha * z <= relu <= slope * z + offset


@given(st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3), st.lists(st.floats(-1, 1), min_size=3, max_size=3))
def test_affine_intervals_hold_exactly(weights: list[float], x: list[float]) -> None:
    low, high = affine_interval(np.array([weights]), np.array([0.1]), np.array(x), np.array(x))
    exact = sum((Fraction(w) * Fraction(v) for w, v in zip(weights, x, strict=True)), Fraction(0.1))
    assert Fraction(float(low[0])) <= exact <= Fraction(float(high[0]))


def test_graphs_that_are_not_canonical_are_refused() -> None:
    build = ircert.Builder(1)
    graph = build.graph(build.node(ircert.ir.ops.Abs(), build.input))
    with pytest.raises(IrcertError, match="canonicalize"):
        analyse(graph, Query("local", [0.0], 1.0).ball)


def chain(*weights: float) -> Graph:
    build = ircert.Builder(1)
    x = build.input
    for weight in weights:
        x = build.affine(x, [[weight]])
    return build.graph(x)


@pytest.mark.rule("B-1")
def test_coefficients_that_underflow_are_accounted_for() -> None:
    for graph, radius in (
        (chain(1e-170, 1e-170), 1e150),
        (chain(1e-170, 1e-170, 1e200), 1e150),
        (chain(5e-324), 2.0**1000),
    ):
        ball = Query("local", [0.0], radius).ball
        exact = graph.exact([radius])[0]
        for method in METHODS:
            assert Fraction(float(analyse(graph, ball, method).high[graph.output][0])) >= exact, method
    tiny = ircert.load([([[5e-324, 5e-324]], None)])
    ball = Query("local", [0.0, 0.0], 2.0**1000, "2").ball
    rim = Fraction(2.0**1000) * Fraction(7, 10)
    assert Fraction(float(analyse(tiny, ball).high["y"][0])) >= tiny.exact([rim, rim])[0]


def test_numbers_that_overflow_leave_the_interval_bounds() -> None:
    build = ircert.Builder(1)
    x = build.input
    for weight in (1e-200, 1e200, 1e200, 1e-200):
        x = build.relu(build.affine(x, [[weight]]))
    graph = build.graph(x)
    ball = Query("local", [0.0], 1.0).ball
    interval, symbolic = analyse(graph, ball, "interval"), analyse(graph, ball)
    for name in graph.sizes:
        assert not np.isnan(symbolic.high[name]).any()
        assert (symbolic.high[name] <= interval.high[name]).all()


@pytest.mark.rule("B-1")
@pytest.mark.parametrize("join", ["concat", "select"])
def test_an_entry_that_occurs_several_times(join: str) -> None:
    """2^53 x + x - 2^53 x is x: the coefficients must not be added in floats."""
    build = ircert.Builder(1)
    three = build.concat(*[build.input] * 3) if join == "concat" else build.select(build.input, [0, 0, 0])
    graph = build.graph(build.relu(build.affine(three, [[2.0**53, 1.0, -(2.0**53)]])))
    bounds = analyse(graph, Query("local", [0.0], 1.0).ball, "lp")
    assert bounds.high["affine"][0] >= 1.0
    assert bounds.low["affine"][0] <= -1.0
