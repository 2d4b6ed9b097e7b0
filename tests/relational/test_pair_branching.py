"""Bounds on pairs with equal outputs: no pair is above them, and closed forms are met."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ircert
from ircert.geometry.norm import Norm
from ircert.ir.graph import Graph
from ircert.ir.ops.curves import Sigmoid, Tanh
from ircert.limits import OutOfTime, until
from ircert.relational import pair_branching
from ircert.relational.pair_branching import PairBranching
from tests.relational.test_intervals import curved
from tests.relational.twins import around, graph, layers, points_of

NORMS = [Norm.INF, Norm.ONE, Norm.TWO]


def read(weight: list[list[float]], kind: type[Tanh] | type[Sigmoid]) -> Graph:
    """A curve of linear functions of two inputs."""
    build = ircert.Builder(2)
    return build.graph(build.node(kind(), build.affine(build.input, weight)))


def test_a_closed_form() -> None:
    """f = tanh(x_0) fixes x_0; sigmoid(x_0 + x_1) then varies most at x_0 = 0: by tanh(r / 2)."""
    f, g = read([[1.0, 0.0]], Tanh), read([[1.0, 1.0]], Sigmoid)
    search = PairBranching(f, g, around(np.zeros(2), 1.0), Norm.INF, tol=5e-2)
    search.learn(math.tanh(0.5) * (1 - 1e-12))
    assert search.most >= math.tanh(0.5)
    search.run(200)
    assert search.done
    assert math.tanh(0.5) <= search.most <= math.tanh(0.5) * (1 + 6e-2)


@pytest.mark.parametrize("ball_norm", NORMS)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("relu", [False, True])
def test_no_pair_is_above(ball_norm: Norm, norm: Norm, relu: bool) -> None:
    """f reads x through a matrix with a kernel, so that pairs along it have equal outputs."""
    rng = np.random.default_rng(3)
    first = layers(5, 3, 2)[0]
    more = [(np.eye(2), np.zeros(2)), *layers(6, 2, 6, 2)]
    f = curved([first, *more], Tanh)
    g = graph(layers(7, 3, 6, 2)) if relu else curved(layers(7, 3, 6, 2), Sigmoid)
    ball = around(np.array([0.1, -0.2, 0.3]), 0.7, ball_norm)
    kernel = np.linalg.svd(first[0])[2][-1]
    x = points_of(ball, 400)
    y = x + rng.uniform(-1.4, 1.4, size=(len(x), 1)) * kernel
    inside = ball_norm.lengths(y - ball.center) <= 0.7
    x, y = x[inside], y[inside]
    assert len(x) > 20
    for other, gaps in ((g, g(x) - g(y)), (None, x - y)):
        search = PairBranching(f, other, ball, norm)
        for _ in range(3):
            assert norm.lengths(gaps).max() <= search.most * (1 + 1e-12)
            search.run(3)


def test_the_centre_alone() -> None:
    """x with tanh(x_0) = tanh(c_0): at most r away, where any two are 2 r."""
    f, ball = read([[1.0, 0.0]], Tanh), around(np.array([0.3, 0.2]), 0.5)
    assert PairBranching(f, None, ball, Norm.INF, center=True).most == pytest.approx(0.5)
    assert PairBranching(f, None, ball, Norm.INF).most == pytest.approx(1.0)


def test_what_f_tells_apart_is_bounded_by_it() -> None:
    """An injective f: the pairs that are left shrink to the diagonal."""
    f = curved([(np.array([[2.0, 1.0], [0.0, 1.0]]), np.zeros(2)), (np.eye(2), np.zeros(2))], Tanh)
    search = PairBranching(f, None, around(np.zeros(2), 0.3), Norm.INF)
    search.run(20)
    assert search.most < 0.1


@pytest.mark.parametrize("weighed", [0, 10**9])
def test_systems_are_shared_or_solved_a_few_rows_at_a_time(monkeypatch: pytest.MonkeyPatch, weighed: int) -> None:
    """Rows of many inputs share one system; those of few are weighed, in parts that the clock can come between."""
    f, g = read([[1.0, 0.0]], Tanh), read([[1.0, 1.0], [1.0, -1.0]], Sigmoid)
    whole = PairBranching(f, g, around(np.zeros(2), 1.0), Norm.INF).most
    monkeypatch.setattr(pair_branching, "WEIGHED", weighed)
    monkeypatch.setattr(pair_branching, "TOGETHER", 1)
    parts = PairBranching(f, g, around(np.zeros(2), 1.0), Norm.INF).most
    assert math.tanh(0.5) <= parts
    assert weighed == 0 or parts == pytest.approx(whole, rel=1e-9)


def test_the_clock_is_looked_at_between_rows() -> None:
    rows = pair_branching._few_rows(10**9, 3)
    assert next(rows) == slice(0, 1)
    with until(lambda: True), pytest.raises(OutOfTime):
        next(rows)
