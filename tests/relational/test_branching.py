"""Branch and bound: brackets that hold at any time, and close."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from ircert.ir.arrays import Array
from ircert.limits import until
from ircert.programs.build import ProgramBuilder
from ircert.programs.program import Program
from ircert.relational.branching import Branching
from ircert.relational.safe_relaxation import SafeRelaxation

PRIZES = np.array([5.0, 4.0, 3.0, 6.5, 2.25])
WEIGHTS = np.array([2.0, 3.0, 1.0, 4.0, 2.5])


def knapsack(most: float = 6.0) -> Program:
    build = ProgramBuilder()
    x = build.binaries("x", len(PRIZES))
    build.rows("weight", [(x, WEIGHTS[None])], "<=", most)
    return build.program()


def best(most: float) -> float:
    choices = (np.array(c) for c in itertools.product((0, 1), repeat=len(PRIZES)))
    return max(float(c @ PRIZES) for c in choices if c @ WEIGHTS <= most)


def attained(point: Array) -> float:
    """What is left of a point when fractions are dropped."""
    whole = np.floor(point + 1e-9)
    return float(whole @ PRIZES)


@pytest.mark.parametrize("most", [1.5, 4.0, 6.0, 9.0, 20.0])
def test_brackets_hold_at_any_time_and_close(most: float) -> None:
    search = Branching(SafeRelaxation(knapsack(most)), PRIZES, attained=attained)
    truth = best(most)
    while not search.done:
        search.run(1)
        assert search.value <= truth <= search.bound
    assert search.value == truth
    assert search.bound == pytest.approx(truth, rel=1e-9)


def test_time_that_is_over_leaves_everything_open() -> None:
    search = Branching(SafeRelaxation(knapsack()), PRIZES, attained=attained)
    with until(lambda: True):
        search.run()
    assert search.bound == math.inf
    search.run()
    assert search.value == best(6.0)


def test_closer_bounds_from_outside_are_used() -> None:
    def without_the_first(lower: Array, upper: Array) -> tuple[Array, Array] | None:
        upper = upper.copy()
        upper[0] = 0.0
        return None if (lower > upper).any() else (lower, upper)

    search = Branching(SafeRelaxation(knapsack()), PRIZES, attained=attained, tighten=without_the_first)
    search.run()
    assert search.value == 9.5
    assert search.bound == pytest.approx(9.5, rel=1e-9)


def test_without_values_there_are_bounds() -> None:
    search = Branching(SafeRelaxation(knapsack()), PRIZES)
    search.run()
    assert search.bound == pytest.approx(best(6.0), rel=1e-9)
    assert search.value == -math.inf
