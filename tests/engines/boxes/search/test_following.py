"""Centres that follow others say what single searches say."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.atlases.asked import Asked
from ircert.data.networks import bundled
from ircert.engines.boxes.search import following as following_module
from ircert.engines.boxes.search.followed_ball import Ball
from ircert.engines.boxes.search.following import VAIN, Following
from ircert.engines.sharing import settled
from ircert.geometry.pair import Pair
from ircert.limits import Deadline
from tests.engines.boxes.making import residual
from tests.engines.boxes.search.asking import asked_about


@pytest.mark.parametrize("norm", ["inf", "2"])
def test_following_says_what_searches_say(norm: str) -> None:
    asked = asked_about(bundled("coupled-vanderpol-4-16-16-4"), norm)
    centers = np.array([[1.0, 0.5, -0.5, 0.2], [1.02, 0.52, -0.5, 0.2], [0.97, 0.5, -0.47, 0.22]])
    following, deadline = _after(asked, centers[0]), Deadline()
    questions = [asked.question(c, deadline) for c in centers[1:]]
    answers = following.answers(questions, deadline)
    for center, question, answer in zip(centers[1:], questions, answers, strict=True):
        single = ircert.certify(asked.graph, center, norm=norm).radius
        assert answer is not None
        assert answer.refuted is not None
        assert single.refuted is not None
        assert settled(question, answer)
        assert float(answer.certified) == pytest.approx(float(single.certified), rel=1e-6)
        assert float(answer.refuted) == pytest.approx(float(single.refuted), rel=1e-6)


def _after(asked: Asked, center: Any) -> Following:
    """What a search around a centre teaches."""
    witness = ircert.certify(asked.graph, center, norm=asked.norm).witness
    assert witness is not None
    following = Following()
    following.learn(asked.question(np.asarray(center), Deadline()), (list(witness.exact.x), list(witness.exact.y)))
    return following


def test_a_first_violation_is_hunted_for() -> None:
    asked, deadline = asked_about(bundled("coupled-vanderpol-4-16-16-4"), "inf"), Deadline()
    questions = [asked.question(np.array([1.0, 0.5, -0.5, 0.2 + 0.01 * k]), deadline) for k in range(2)]
    for question, answer in zip(questions, Following().answers(questions, deadline), strict=True):
        assert answer is not None
        assert settled(question, answer)


def test_nothing_to_follow_says_nothing() -> None:
    asked = asked_about(residual(np.random.default_rng(1), 3, 4), "inf")
    questions = [asked.question(np.zeros(3), Deadline())] * 2
    assert Following().answers(questions, Deadline()) == [None, None]


def test_time_that_is_over_is_no_answer() -> None:
    asked = asked_about(bundled("coupled-vanderpol-4-16-16-4"), "inf")
    following = _after(asked, [1.0, 0.5, -0.5, 0.2])
    questions = [asked.question(np.array([1.0, 0.5, -0.5, 0.1 * k]), Deadline()) for k in range(3)]
    assert not any(a is not None and float(a.certified) > 0 for a in following.answers(questions, Deadline(0)))


def test_an_atlas_of_many_inputs_is_that_of_single_searches() -> None:
    graph = bundled("coupled-vanderpol-4-16-16-4")
    centers = np.array([1.0, 0.5, -0.5, 0.2]) + np.random.default_rng(0).uniform(-0.2, 0.2, (6, 4))
    domain = (-1.5, 1.5)
    atlas = ircert.atlas(graph, centers, domain=domain)
    assert {row.way for row in atlas} == {"followed"}
    for row in atlas:
        single = ircert.certify(graph, row.center, domain=domain).radius
        assert row.certified == pytest.approx(float(single.certified), rel=1e-6)
        assert row.refuted == pytest.approx(None if single.refuted is None else float(single.refuted), rel=1e-6)


def test_a_violation_of_one_centre_is_tried_around_others() -> None:
    graph = bundled("coupled-vanderpol-4-16-16-4")
    asked, deadline = asked_about(graph, "inf"), Deadline()
    centers = np.array([[1.0, 0.5, -0.5, 0.2], [1.02, 0.52, -0.5, 0.2]])
    following = _after(asked, centers[0])
    balls = [following._approached(asked.question(c, deadline), deadline) for c in centers]
    balls[1].descent.best = Fraction(10), Pair((Fraction(10),) * 4, (Fraction(-10),) * 4)  # as if nothing near was met
    balls[1].descent.tried.clear()
    following._exchange(balls, balls[:1])
    assert balls[1].distance < 2
    assert not balls[1].is_closed


def test_asked_again_it_goes_on_where_something_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = asked_about(bundled("coupled-vanderpol-4-16-16-4"), "inf")
    following, deadline = _after(asked, [1.0, 0.5, -0.5, 0.2]), Deadline()
    questions = [asked.question(np.array([1.0, 0.5, -0.5, 0.2 + 0.01 * k]), deadline) for k in range(2)]
    monkeypatch.setattr(following_module, "EFFORTS", (1,))
    first = following.answers(questions, deadline)
    assert [answer is not None and settled(q, answer) for q, answer in zip(questions, first, strict=True)] == [
        False
    ] * 2
    monkeypatch.undo()
    monkeypatch.setattr(Following, "_approach", None)  # is not asked for centres that are known
    again = following.answers(questions, deadline)
    assert [answer is not None and settled(q, answer) for q, answer in zip(questions, again, strict=True)] == [True] * 2


def test_hard_balls_that_are_in_vain_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = asked_about(bundled("coupled-vanderpol-4-16-16-4"), "inf")
    following, deadline = _after(asked, [1.0, 0.5, -0.5, 0.2]), Deadline()
    questions = [asked.question(np.array([1.0, 0.5, -0.5, 0.2 + 0.1 * k]), deadline) for k in range(5)]
    monkeypatch.setattr(following_module, "EFFORTS", (1, 2))
    asked_for = []

    def in_vain(ball: Ball, effort: int) -> None:
        ball.spent = effort
        asked_for.append(effort)

    monkeypatch.setattr(Ball, "by_another", in_vain)
    following.answers(questions, deadline)
    assert asked_for == [1] * 5 + [2] * VAIN


def test_covers_that_time_ends_at_once_are_not_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = asked_about(bundled("coupled-vanderpol-4-16-16-4"), "inf")
    following, deadline = _after(asked, [1.0, 0.5, -0.5, 0.2]), Deadline()
    questions = [asked.question(np.array([1.0, 0.5, -0.5, 0.2 + 0.1 * k]), deadline) for k in range(2)]
    asked_for: list[int] = []

    def over(ball: Ball, effort: int) -> None:
        assert not asked_for, "time is over, and nothing is spent"
        asked_for.append(effort)
        monkeypatch.setattr(Deadline, "passed", lambda _: True)

    monkeypatch.setattr(Ball, "by_another", over)
    monkeypatch.setattr(Ball, "consider", lambda ball, matrices: None)
    following.answers(questions, deadline)
    assert len(asked_for) == 1
