"""Judging what solvers say, and watching them at it."""

from __future__ import annotations

import os
import signal
from typing import Any

import numpy as np
import pytest

from ircert.backends.answers import judged, violation
from ircert.backends.base import Outcome, Progress, Status
from ircert.backends.watch import Watch
from ircert.testing import small_program

PLAIN = small_program([1.0, 1.0], [([1, 2], "<=", 4)], upper=3, integer=[True, False])


def said(point: Any, value: float | None, bound: float | None, status: Status = Status.OPTIMAL) -> Outcome:
    array = None if point is None else np.array(point, dtype=np.float64)
    return judged(PLAIN, "x", status, point=array, value=value, bound=bound, nodes=0, seconds=0.0)


def test_a_true_answer_stays() -> None:
    outcome = said([3.0, 0.5], 3.5, 3.5)
    assert (outcome.status, outcome.value, outcome.bound, outcome.message) == (Status.OPTIMAL, 3.5, 3.5, "")
    assert outcome.by_name(PLAIN) == {"x_0": 3.0, "x_1": 0.5}


@pytest.mark.parametrize(
    ("point", "value", "bound"),
    [
        ([3.0, 0.5], 4.0, 4.0),
        ([3.0, 0.5], 3.5, 3.0),
        (None, 3.5, 3.5),
        ([3.0, np.nan], 3.5, 3.5),
        ([1e21, 0.5], 1e21, 9.0),
    ],
)
def test_a_solver_that_contradicts_itself_is_not_believed(point: Any, value: float, bound: float) -> None:
    outcome = said(point, value, bound)
    assert outcome.status is Status.UNKNOWN
    assert outcome.bound is None
    assert outcome.message


def test_a_point_outside_is_kept_and_said() -> None:
    outcome = said([3.0, 1.0], 4.0, 4.0)
    assert outcome.point is not None
    assert "violates the program by 0.25" in outcome.message


@pytest.mark.parametrize("bound", [np.inf, -np.inf, np.nan, 1e20, None])
def test_a_bound_that_is_none(bound: float | None) -> None:
    assert said([3.0, 0.5], 3.5, bound, Status.TIME_LIMIT).bound is None


@pytest.mark.parametrize("status", [Status.INFEASIBLE, Status.UNBOUNDED, Status.INFEASIBLE_OR_UNBOUNDED])
def test_no_numbers_where_there_is_no_optimum(status: Status) -> None:
    outcome = said([3.0, 0.5], 3.5, 3.5, status)
    assert (outcome.value, outcome.bound, outcome.point) == (None, None, None)


def test_violations_of_every_kind() -> None:
    ball = small_program(
        [1.0, 0.0], [([1, 1], "=", 1)], lower=-4, upper=1, integer=True, balls=[(np.eye(2), [0, 0], 1.0)]
    )
    for point, wanted in (([1, 0], 0), ([0.5, 0.5], 0.5), ([2, -1], 4), ([1, 1], 1), ([-5, 6], 60)):
        assert violation(ball, np.array(point, dtype=np.float64)) == pytest.approx(wanted)


# --- watching --------------------------------------------------------------------------------------------------------


def test_an_error_of_the_callback_waits_for_the_end() -> None:
    def fail(progress: Progress) -> None:
        raise ArithmeticError("mine")

    watch = Watch(fail)
    watch.__enter__()
    assert watch(Progress(0.0, None, None, 0))
    assert watch(Progress(1.0, None, None, 0))
    with pytest.raises(ArithmeticError, match="mine"):
        watch.__exit__(None, None, None)


def test_reports_come_at_a_pace_or_with_news() -> None:
    told: list[Progress] = []
    with Watch(told.append) as watch:
        for value in (None, None, 1.0, 1.0, 2.0):
            assert not watch(Progress(0.0, value, None, 0))
    assert [progress.value for progress in told] == [None, 1.0, 2.0]


def test_a_handler_of_the_user_decides_about_ctrl_c() -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        with Watch(None) as watch:
            os.kill(os.getpid(), signal.SIGINT)
            assert watch(Progress(0.0, None, None, 0))
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [signal.SIGINT]
