"""p* of smooth networks: closed forms lie in the bracket, proved pairs attain the value."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import ircert
from ircert.engines.judge import BrokenProof, judge
from ircert.ir.boxed_pair import BoxedPair, fault_of, least_gaps
from ircert.ir.ops.curves import Sigmoid, Tanh
from tests.relational.test_intervals import curved
from tests.relational.test_pair_branching import read
from tests.relational.twins import layers


def ask(problem: str, norm: str, objective: str, radius: float = 1.0, **more: object) -> ircert.Result:
    f, g = read([[1.0, 0.0]], Tanh), read([[1.0, 1.0]], Sigmoid)
    other = g if problem == "transform" else None
    return ircert.certify(
        f,
        np.zeros(2),
        problem,
        other,
        norm,
        radius=radius,
        objective_norm=objective,
        time_limit=30.0,
        tol=0.05,
        **{"optimum": True, **more},  # type: ignore[arg-type]
    )


@pytest.mark.rule("E-20")
@pytest.mark.parametrize(("problem", "expected"), [("local", 2.0), ("pseudo", 1.0), ("transform", math.tanh(0.5))])
def test_closed_forms(problem: str, expected: float) -> None:
    """tanh(x_0) fixes x_0: pairs differ in x_1 alone, by 2 r; sigmoid(x_0 + x_1) varies most at x_0 = 0."""
    for norm, objective in (("inf", "1"), ("1", "2"), ("2", "inf")):
        found = ask(problem, norm, objective)
        assert found.optimum is not None
        value, bound, trust = found.optimum
        assert (found.verdict, trust) == ("refuted", "exact")
        assert value <= expected <= bound
        assert value == pytest.approx(expected, rel=1e-3)
        assert found.witness is not None
        assert found.witness.radii is not None


@pytest.mark.rule("E-20")
def test_the_pair_attains_the_value_and_is_proved_anew() -> None:
    f, g = (curved([(2 * w, b) for w, b in layers(seed, 3, 8, 2)], Tanh) for seed in (1, 2))
    found = ircert.certify(f, np.zeros(3), "transform", g, radius=0.3, tol=0.5, time_limit=30.0, optimum=True)
    assert found.optimum is not None
    assert found.witness is not None
    assert found.witness.radii is not None
    radii = found.witness.radii
    pair = BoxedPair(found.witness.exact.x, found.witness.exact.y, radii.x, radii.y)
    assert fault_of(f, pair, g) is None
    assert max(least_gaps(pair, g)) >= Fraction(found.optimum.value) > 0
    assert found.optimum.bound <= 3 * found.optimum.value
    assert "boxes of pairs" in found.optimum.evidence or "linear bounds" in found.optimum.evidence


def test_it_is_there_by_default_where_there_are_fewer_outputs() -> None:
    found = ask("transform", "inf", "inf", 0.1, optimum=None)
    assert found.optimum is not None
    assert found.optimum.bound < 0.06
    assert ask("transform", "inf", "inf", 0.1, optimum=False).optimum is None


def test_a_certified_ball_has_none() -> None:
    f = curved([(np.eye(2) * 2, np.zeros(2)), (np.eye(2), np.zeros(2))], Tanh)
    found = ircert.certify(f, np.zeros(2), radius=0.2, optimum=True, time_limit=30.0)
    assert found.verdict == "certified"
    assert found.optimum is not None
    assert tuple(found.optimum)[:2] == (0.0, 0.0)


@pytest.mark.rule("R-15")
def test_a_value_that_boxes_do_not_attain_is_a_broken_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    def bolder(question: object, answer: object, require: object = None) -> object:
        from dataclasses import replace

        optimum = answer.optimum  # type: ignore[attr-defined]
        claimed = type(optimum)(optimum.value * 1.01, optimum.bound * 1.02, "exact")
        return judge(question, replace(answer, optimum=claimed))  # type: ignore[arg-type, type-var]

    monkeypatch.setattr("ircert.answering.judge", bolder)
    with pytest.raises(BrokenProof):
        ask("transform", "inf", "inf")
