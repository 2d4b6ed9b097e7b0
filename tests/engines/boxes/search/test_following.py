"""Centres that follow others say what single searches say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ircert
from ircert.atlases.asked import Asked
from ircert.data.networks import bundled
from ircert.engines.boxes.search.following import Following
from ircert.engines.sharing import settled
from ircert.limits import Deadline
from tests.engines.boxes.making import residual


def _asked(graph: ircert.Graph, norm: str, domain: tuple[float, float] | None = None) -> Asked:
    rest = {"other": None, "max_radius": None, "engine": "boxes", "backend": None, "formulation": None}
    given = {"tol": 1e-6, "seed": 0, "require": None, "time_each": None, "problem": "local"}
    return Asked.of(graph, norm=norm, domain=domain, **rest, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("norm", ["inf", "2"])
def test_following_says_what_searches_say(norm: str) -> None:
    asked = _asked(bundled("coupled-vanderpol-4-16-16-4"), norm)
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
    asked, deadline = _asked(bundled("coupled-vanderpol-4-16-16-4"), "inf"), Deadline()
    questions = [asked.question(np.array([1.0, 0.5, -0.5, 0.2 + 0.01 * k]), deadline) for k in range(2)]
    for question, answer in zip(questions, Following().answers(questions, deadline), strict=True):
        assert answer is not None
        assert settled(question, answer)


def test_nothing_to_follow_says_nothing() -> None:
    asked = _asked(residual(np.random.default_rng(1), 3, 4), "inf")
    questions = [asked.question(np.zeros(3), Deadline())] * 2
    assert Following().answers(questions, Deadline()) == [None, None]


def test_time_that_is_over_is_no_answer() -> None:
    asked = _asked(bundled("coupled-vanderpol-4-16-16-4"), "inf")
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
