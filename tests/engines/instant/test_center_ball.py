"""A first ball for large networks: before exact arithmetic, and whatever happens then."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ircert
from ircert.answering import search_about
from ircert.engines.base import Answer, Cause, Question, Stop
from ircert.engines.instant.center_ball import EVIDENCE, center_ball, from_center_ball
from ircert.engines.instant.engine import instant
from ircert.engines.judge import NOTHING
from ircert.limits import OutOfTime
from ircert.result.radius import End

SIZE = 80


def flow(seed: int = 0) -> Any:
    """x + 0.2 g(x) with 80 inputs, as one plain network of two hidden layers."""
    rng = np.random.default_rng(seed)
    pair, none = np.vstack([np.eye(SIZE), -np.eye(SIZE)]), np.zeros(2 * SIZE)
    first = np.vstack([rng.normal(size=(32, SIZE)) / 9, pair])
    second = np.block(
        [[rng.normal(size=(32, 32)) / 6, np.zeros((32, 2 * SIZE))], [np.zeros((2 * SIZE, 32)), np.eye(160)]]
    )
    last = np.hstack([0.4 * rng.normal(size=(SIZE, 32)) / 6, pair.T])
    biases = np.r_[0.5 * rng.normal(size=32), none], np.r_[0.5 * rng.normal(size=32), none]
    return ircert.load([(first, biases[0]), (second, biases[1]), (last, None)])


def question(graph: Any, **given: Any) -> Question:
    center = np.full(graph.input_dim, 0.1)
    options = {"domain": None, "problem": "local", "other": None, "norm": "inf", "max_radius": None}
    return search_about(graph, center, **(options | given))


@pytest.mark.rule("IA-5")
@pytest.mark.parametrize("problem", ["local", "pseudo", "transform"])
@pytest.mark.parametrize("norm", ["inf", 1, 2])
def test_a_ball_is_known_before_anything_else(problem: str, norm: Any) -> None:
    other = flow(1) if problem == "transform" else None
    known = center_ball(question(flow(), problem=problem, norm=norm, other=other))
    assert known is not None
    assert known.certified > 1e-6
    assert known.certified.evidence == EVIDENCE
    assert known.trust == "exact"


@pytest.mark.rule("IA-5")
def test_exact_arithmetic_looks_for_no_collision_at_the_centre_then(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = question(flow())
    looked: list[object] = []
    monkeypatch.setattr("ircert.engines.instant.engine._collision", lambda *given: looked.append(given))
    assert from_center_ball(asked, lambda q: instant(q) or Answer.bracket(End(0.0, NOTHING))).certified > 0
    assert not looked
    instant(asked)
    assert looked


@pytest.mark.rule("IA-5")
@pytest.mark.parametrize("engine", ["auto", "boxes"])
def test_time_that_ends_at_once_leaves_the_ball(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*given: Any, **options: Any) -> Any:
        raise OutOfTime

    monkeypatch.setattr("ircert.engines.auto.engine._in_turns", late)
    monkeypatch.setattr("ircert.engines.boxes.engine.Search", late)
    found = ircert.certify(flow(), np.full(SIZE, 0.1), engine=engine)
    assert found.radius.certified > 1e-6
    assert found.reason == "the time limit was reached"


def test_an_interrupt_leaves_the_ball_too() -> None:
    def interrupted(_: Question) -> Answer:
        raise KeyboardInterrupt

    found = from_center_ball(question(flow()), interrupted)
    assert found.certified > 0
    assert found.stop == Stop(Cause.INTERRUPTED)


def test_a_ball_inside_it_is_certified() -> None:
    radius = float(center_ball(question(flow())).certified)  # type: ignore[union-attr]
    asked = [ircert.certify(flow(), np.full(SIZE, 0.1), radius=r, time_limit=5) for r in (radius, radius / 2)]
    assert [found.verdict for found in asked] == ["certified", "certified"]
    assert asked[0].optimum is not None
    assert asked[0].optimum.bound == 0.0


def test_the_evidence_is_named_once() -> None:
    found = ircert.certify(flow(), np.full(SIZE, 0.1), time_limit=0.5)
    assert found.radius.certified.evidence.count(EVIDENCE) <= 1


def test_only_inputs_that_the_domain_leaves_free_have_to_be_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sum of two inputs, one of which is pinned down."""
    monkeypatch.setattr("ircert.engines.instant.center_ball.LEAST_WORK", 0)
    weight = np.eye(3)
    weight[0, 1], weight[1] = 1.0, 0.0
    graph = ircert.load([(weight, np.ones(3)), (np.eye(3), None)])
    low, high = np.full(3, -9.0), np.full(3, 9.0)
    assert center_ball(question(graph, domain=(low, high))) is None
    low[1] = high[1] = 0.1
    found = center_ball(question(graph, domain=(low, high)))
    assert found is not None
    assert 1.09 < found.certified < 1.11  # the third input: 1 + x


def test_small_networks_and_fewer_outputs_are_left_to_others() -> None:
    assert center_ball(question(ircert.load([(np.eye(3), None), (np.eye(3), None)]))) is None
    rng = np.random.default_rng(0)
    layers = [(rng.normal(size=(200, 200)), rng.normal(size=200)), (rng.normal(size=(199, 200)), None)]
    assert center_ball(question(ircert.load(layers))) is None
