"""Which ball comes next, against a made-up cost of balls."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ircert.engines.boxes.search.climbing import (
    FIRST_BALL,
    FIRST_EFFORT,
    GAP,
    LEAST_BALL,
    LEAST_GAP,
    MORE,
    WITHIN,
    Climb,
    ClimbAtOnce,
    climb_for,
)


def climbed(start: float, top: float, cost: float, tries: int = 60) -> tuple[float, Climb]:
    """How far a climb gets where a ball of radius r takes cost * r boxes."""
    climb, clear = Climb(start), 0.0
    for _ in range(tries):
        if clear >= top or climb.is_hopeless:
            break
        radius = climb.next(clear, top)
        assert clear < radius <= top
        if cost * radius <= climb.effort:
            clear = radius
            climb.proved(clear, cost * radius, far=False)
        else:
            climb.failed(radius, clear)
    return clear, climb


def test_cheap_balls_lead_to_the_top_in_few_steps() -> None:
    clear, climb = climbed(0.01, 100.0, 1.0, tries=8)
    assert clear == 100.0
    assert climb.effort == FIRST_EFFORT


def test_dear_balls_take_more_effort() -> None:
    clear, climb = climbed(0.01, 100.0, 10 * FIRST_EFFORT)
    assert clear == 100.0
    assert climb.effort > FIRST_EFFORT


def test_before_effort_grows_the_gap_is_small() -> None:
    climb, clear = Climb(1.0), 1.0
    while climb.effort == FIRST_EFFORT:
        radius = climb.next(clear, 50.0)
        if radius <= 7.0:
            clear = radius
            climb.proved(clear, FIRST_EFFORT / 100, far=False)
        elif climb.effort == FIRST_EFFORT:
            climb.failed(radius, clear)
    assert clear <= 7.0
    assert clear * GAP**2 > 7.0


@pytest.mark.parametrize("power", [2.0, 5.0, 9.0])
def test_steps_follow_what_balls_are_expected_to_take(power: float) -> None:
    """Whatever the power, most of the work is done for balls that are proved."""
    climb, clear, proved, tried = Climb(0.01), 0.0, 0.0, 0
    while clear < 2.0:
        radius, tried = climb.next(clear, 1e9), tried + 1
        boxes = 1_000 * radius**power
        if boxes <= climb.effort:
            clear, proved = radius, proved + boxes
            climb.proved(clear, boxes, far=False)
        else:
            climb.failed(radius, clear, boxes)
    assert tried < 40
    assert proved < 8 * 1_000 * clear**power


def test_a_first_ball_that_fails_is_followed_by_smaller_ones() -> None:
    climb = Climb(1.0)
    climb.failed(climb.next(0.0, 10.0), 0.0)
    assert climb.next(0.0, 10.0) < 0.1


def test_it_ends_where_everybody_gives_up() -> None:
    climb = Climb(1.0)
    for _ in range(100):
        if climb.is_hopeless:
            break
        climb.failed(climb.next(0.5, 10.0), 0.5, gave_up=True)
    assert climb.is_hopeless


def test_far_out_steps_grow_without_bound() -> None:
    climb, clear, steps = Climb(1.0), 1e6, 0
    while clear < 1e300:
        clear = climb.next(clear, math.inf)
        climb.proved(clear, 1.0, far=True)
        steps += 1
    assert steps < 70


@pytest.mark.parametrize("power", [2.0, 8.0])
def test_balls_take_no_more_than_was_spent_before(power: float) -> None:
    """With costs r**power known, the next ball takes about that at most; where that is hardly larger than what is
    proved, a small step is tried all the same."""
    for spent in (4_000.0, 40_000.0, 1e7):
        climb = Climb(0.01, effort=2_000.0)
        climb.proved(1.0, 1_000.0, far=False)
        climb.failed(2.0, 1.0, expected=1_000.0 * 2.0**power)
        radius = climb.next(1.0, 100.0, spent)
        assert radius > 1.0
        assert climb.effort <= 2 * spent
        assert 1_000.0 * radius**power <= max(spent, 1_000.0 * LEAST_GAP**power) * (1 + 1e-9)


def test_a_first_ball_that_is_never_proved_is_tried_anew_with_more_effort() -> None:
    climb, tried = Climb(0.5), []
    for _ in range(40):
        tried.append(climb.next(0.0, 1.0))
        climb.failed(tried[-1], 0.0, expected=1e9)
    assert min(tried) >= 0.5 * LEAST_BALL
    assert tried[1] == 0.5 * FIRST_BALL
    assert tried.count(0.5) > 2
    assert climb.effort > FIRST_EFFORT


@pytest.mark.rule("E-3")
def test_a_step_goes_on_to_the_next_switch() -> None:
    """Balls in which the same neurons switch take about as much."""
    climb = Climb(1e-60, switches=np.array([1e-60, 2e-60, 1e-20, 0.5, 0.6]))
    assert climb.next(0.0, 10.0) == 1e-60
    climb.proved(1e-60, 1.0, far=False)
    assert climb.next(1e-60, 10.0) == WITHIN * 1e-20
    climb.proved(WITHIN * 1e-20, 1.0, far=False)
    assert climb.next(WITHIN * 1e-20, 10.0) == WITHIN * 0.5
    assert climb.next(WITHIN * 1e-20, 0.1) == 0.1
    climb.proved(WITHIN * 0.5, 1.0, far=False)
    assert climb.next(WITHIN * 0.5, 10.0) == pytest.approx(4 * WITHIN * 0.5)


def test_beyond_most_switches_no_gap_is_wide() -> None:
    """One neuron that hardly moves says nothing about the others far out."""
    switches = np.r_[np.linspace(0.1, 0.9, 9), 1e7]
    climb = Climb(0.05, switches=switches)
    climb.proved(0.3, 1.0, far=False)
    assert climb.next(0.3, 1e6) == 1.2
    climb.proved(1.2, 1.0, far=False)
    assert climb.next(1.2, 1e6) == pytest.approx(4.8)


def test_steep_costs_are_approached_by_small_steps() -> None:
    switches = np.linspace(0.1, 1.0, 100)
    climb = Climb(0.05, switches=switches, steep=True)
    climb.proved(0.1, 1.0, far=False)
    assert climb.next(0.1, 10.0) == 0.4
    climb.proved(0.4, 1.0, far=False)
    assert climb.next(0.4, 10.0) == 0.8
    climb.proved(1.1, 1.0, far=False)
    assert climb.next(1.1, 10.0) == pytest.approx(4.4)


def test_balls_that_are_all_alike_get_more_effort() -> None:
    climb = Climb(0.25, alike=0.5)
    assert climb.next(0.0, 1.0) == 0.25
    climb.failed(0.25, 0.0, expected=1e9)
    assert climb.next(0.0, 1.0) == 0.25
    assert climb.effort == MORE * FIRST_EFFORT


@pytest.mark.parametrize(("expected", "takes"), [(None, 2.0), (0.5, 2.0), (1.5, 1.5), (100.0, 100.0)])
def test_what_a_ball_takes_that_was_not_proved(expected: float | None, takes: float) -> None:
    """As much as is expected, or twice the effort where that says it should have been enough."""
    climb = Climb(0.1)
    climb.proved(1.0, 99.0, far=False)
    climb.failed(2.0, 1.0, None if expected is None else expected * climb.effort)
    assert climb.price == pytest.approx(100.0 + takes * climb.effort)


def test_narrow_gaps_change_nothing() -> None:
    climb = Climb(1.0, switches=np.array([1.1, 7.0, 20.0]))
    climb.proved(1.0, 1.0, far=False)
    assert climb.next(1.0, 100.0) == 4.0


def test_a_first_ball_that_is_smaller_than_the_start_is_followed_by_the_start() -> None:
    assert Climb(1.0).next(0.1, 10.0) == 1.0
    assert Climb(1.0).next(1.0, 10.0) == 4.0


def test_a_gap_whose_end_is_not_proved_is_climbed() -> None:
    climb, clear, tries = Climb(1e-9, switches=np.array([1e-9, 1.0])), 1e-9, 0
    climb.proved(clear, 10.0, far=False)
    while clear < 0.01 and tries < 40:
        radius, tries = climb.next(clear, 10.0), tries + 1
        if radius < 0.05:
            clear = radius
            climb.proved(clear, 10.0, far=False)
        else:
            climb.failed(radius, clear)
    assert clear >= 0.01


def test_a_first_ball_is_never_too_small_for_floats() -> None:
    climb = Climb(1e-270)
    for _ in range(100):
        assert climb.next(0.0, 1.0) > 1e-275
        climb.failed(climb.start, 0.0)


def test_at_once_a_ball_is_asked_about_again() -> None:
    """With more effort, until it is proved or a violation is nearer."""
    climb = climb_for(1.0, 100.0, np.zeros(0), at_once=True)
    assert isinstance(climb, ClimbAtOnce)
    climb.proved(1.0, 4, far=False)
    assert climb.next(1.0, 50.0, 1e6) == 4.0
    climb.failed(4.0, 1.0)
    assert climb.effort == MORE * 100.0
    assert climb.next(1.5, 50.0, 1e6) == 4.0, "what was shown on the way does not change it"
    climb.proved(4.0, 390, far=False)
    assert climb.next(4.0, 50.0, 1e6) == 16.0
    climb.failed(16.0, 4.0)
    assert climb.next(4.0, 10.0, 1e6) == 10.0, "balls beyond the nearest violation are not asked about"


def test_at_once_a_smaller_ball_is_next_where_all_ways_gave_up() -> None:
    climb = climb_for(1.0, 100.0, np.zeros(0), at_once=True)
    assert climb.next(0.0, 50.0) == 1.0
    climb.failed(1.0, 0.0)
    assert 0.0 < climb.next(0.0, 50.0) < 1.0
    climb.proved(1.0, 4, far=False)
    assert climb.next(1.0, 50.0) == 4.0
    climb.failed(4.0, 1.0, gave_up=True)
    assert climb.next(1.0, 50.0) == 2.0


def test_at_once_all_is_reached() -> None:
    climb, clear = climb_for(0.01, 100.0, np.zeros(0), at_once=True), 0.0
    for _ in range(60):
        radius = climb.next(clear, 10.0)
        assert clear < radius <= 10.0
        if (50 if radius < 1.5 else 3_000) <= climb.effort:
            clear = radius
            climb.proved(clear, 50, far=False)
        else:
            climb.failed(radius, clear)
        if clear == 10.0:
            return
    pytest.fail(f"{clear} is as far as it gets")
