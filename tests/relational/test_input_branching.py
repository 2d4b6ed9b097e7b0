"""Branch and bound on boxes: brackets that hold at any time."""

from __future__ import annotations

import numpy as np
import pytest

from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.limits import until
from ircert.relational.climbing import climbed, farthest
from ircert.relational.differential_bounds import Pair
from ircert.relational.input_branching import InputBranching, into
from ircert.relational.objectives import Disagreement, Length
from tests.relational.twins import around, graph, layers, points_of, rounded

NORMS = [Norm.INF, Norm.ONE, Norm.TWO]


@pytest.mark.parametrize("norm", NORMS)
def test_brackets_hold_at_any_time_and_close(norm: Norm) -> None:
    made = layers(2, 2, 8, 8, 2)
    pair, ball = Pair(graph(made), graph(rounded(made, 0.1))), around(np.array([0.3, -0.2]), 1.0, norm)
    length = Length(Norm.INF)
    search = InputBranching(pair, ball, length, tol=1e-4)
    sampled = length.values(*(h(points_of(ball, 500)) for h in (pair.first, pair.second))).max()
    last = np.inf
    while not search.done:
        search.run(1)
        assert sampled <= search.bound <= last
        last = search.bound
    assert search.value <= search.bound <= search.value * (1 + 1e-4)
    assert (search.outputs <= search.bound).all()
    assert (search.peaks[0] <= search.outputs * (1 + 1e-12)).all()


def test_time_that_is_over_loses_nothing() -> None:
    made = layers(2, 2, 8, 8, 2)
    pair, ball = Pair(graph(made), graph(rounded(made, 0.1))), around(np.zeros(2), 1.0)
    search = InputBranching(pair, ball, Length(Norm.INF), tol=1e-4)
    before = search.bound
    with until(lambda: True):
        search.run()
        search.step()  # its walk finds the time over, and its parts stay open
    assert search.bound == before
    search.run()
    assert search.done


def test_enough_is_enough() -> None:
    made = layers(2, 2, 8, 8, 2)
    pair, ball = Pair(graph(made), graph(rounded(made, 0.1))), around(np.zeros(2), 1.0)
    search = InputBranching(pair, ball, Length(Norm.INF))
    search.enough = search.bound / 2
    search.run()
    assert search.bound <= search.enough


def test_moved_into_the_ball() -> None:
    for norm in NORMS:
        ball = Ball(np.array([0.5, 0.5, 0.0]), 0.75, norm, np.zeros(3), np.ones(3))
        found = into(ball, np.random.default_rng(0).normal(size=(50, 3)) * 3)
        assert (ball.norm.lengths(found - ball.center) <= 0.75 * (1 + 1e-12)).all()
        assert ((found >= 0) & (found <= 1)).all()


@pytest.mark.parametrize("norm", NORMS)
def test_a_linear_function_is_climbed_at_once(norm: Norm) -> None:
    slopes = np.array([3.0, -4.0, 0.0])
    f, zero = graph([(slopes[None], np.zeros(1))]), graph([(np.zeros((1, 3)), np.zeros(1))])
    ball = around(np.zeros(3), 2.0, norm)
    assert slopes @ farthest(ball, slopes) == pytest.approx(2.0 * norm.dual.lengths(slopes))
    _, value = climbed(Pair(f, zero), ball, Length(Norm.INF))
    assert value == pytest.approx(2.0 * norm.dual.lengths(slopes))


def test_disagreement_is_found() -> None:
    f = graph([(np.array([[1.0, 0.0], [0.0, 1.0]]), np.zeros(2))])
    g = graph([(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0.0, 0.01]))])
    _, value = climbed(Pair(f, g), around(np.zeros(2), 1.0), Disagreement())
    assert 0 < value <= 0.005 + 1e-9
