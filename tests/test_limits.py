"""Deadlines, and the one that long computations ask."""

from __future__ import annotations

import math

import pytest

from ircert.limits import Allowance, Changing, Deadline, OutOfTime, Undecided, checkpoint, is_over, left, until


def test_without_a_limit_time_never_ends() -> None:
    checkpoint()
    assert (is_over(), left()) == (False, math.inf)
    assert not Deadline().passed()
    assert Deadline().left() == math.inf


def test_a_deadline_comes_and_stays() -> None:
    over, far = Deadline(-1.0), Deadline(1000.0)
    assert (over.passed(), over.left()) == (True, 0.0)
    assert not far.passed()
    assert 900 < far.left() <= 1000


def test_inside_a_limit_checkpoints_raise_and_outside_they_do_not() -> None:
    with until(Deadline(-1.0)):
        assert is_over()
        with pytest.raises(OutOfTime):
            checkpoint()
    checkpoint()


def test_the_first_limit_to_come_counts() -> None:
    with until(Deadline(1000.0)), until(Deadline(10.0)):
        assert left() <= 10.0
    with until(Deadline(10.0)), until(lambda: False):
        assert left() <= 10.0, "a function knows no time"
    with until(lambda: True), until(Deadline(1000.0)):
        assert is_over()


def test_a_limit_ends_with_its_block_even_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), until(lambda: True):
        raise ZeroDivisionError
    assert not is_over()


def test_an_allowance_ends_with_its_work_or_its_time() -> None:
    used = False
    work = Allowance(Deadline(1000.0), lambda: used)
    assert not work.passed()
    used = True
    assert (work.passed(), work.left()) == (True, 0.0)
    assert Allowance(Deadline(-1.0), lambda: False).passed()


def test_a_changing_deadline_is_asked_anew() -> None:
    seconds = 5.0
    with until(Changing(lambda: seconds, lambda: seconds <= 0)):
        assert (left(), is_over()) == (5.0, False)
        seconds = 0.0
        assert (left(), is_over()) == (0.0, True)


def test_out_of_time_is_one_way_to_be_undecided() -> None:
    assert issubclass(OutOfTime, Undecided)
