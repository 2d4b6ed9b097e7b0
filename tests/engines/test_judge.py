"""The gate between an engine's answer and a verdict."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.engines.base import Answer, Cause, Question, Stop
from ircert.engines.judge import BrokenProof, judge, settles
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.ir.ops.curves import Tanh
from ircert.result.radius import End, Radius
from ircert.result.result import Optimum

GOOD = End(0.5, "a proof")


def question(radius: float | None = None, **more: Any) -> Question:
    """|x| around 1: injective up to radius 1."""
    fold = ircert.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    return Question(fold, None, "local", Place.everywhere(np.array([1.0])), radius, 4.0, **more)


def pair(x: float) -> tuple[list[Fraction], list[Fraction]]:
    return [Fraction(x)], [Fraction(-x)]


@pytest.mark.rule("E-1")
def test_a_certified_ball_is_certified_up_to_its_radius() -> None:
    found = judge(question(0.75), Answer.good(GOOD))
    assert (found.verdict, found.trust, float(found.radius.certified)) == ("certified", "exact", 0.75)


@pytest.mark.rule("E-1")
def test_a_refuted_ball_needs_a_collision_inside_it() -> None:
    found = judge(question(1.5), Answer.bad(pair(0.25), GOOD))
    assert (found.verdict, found.radius.refuted) == ("refuted", 1.25)
    assert found.witness is not None
    with pytest.raises(BrokenProof, match="without a collision inside"):
        judge(question(1.125), Answer.bad(pair(0.25), GOOD))


@pytest.mark.rule("E-1")
@pytest.mark.parametrize("wrong", [([Fraction(1)], [Fraction(2)]), ([Fraction(1)], [Fraction(1)])])
def test_a_witness_that_does_not_collide_is_a_bug(wrong: Any) -> None:
    with pytest.raises(BrokenProof, match="fails in exact arithmetic"):
        judge(question(3.0), Answer.bad(wrong, GOOD))


@pytest.mark.rule("E-1")
def test_a_certified_ball_with_a_collision_is_a_bug() -> None:
    with pytest.raises(BrokenProof, match="holds a collision"):
        judge(question(1.5), replace(Answer.good(GOOD), witness=pair(0.25)))


def test_a_search_is_settled_by_a_narrow_bracket_or_the_largest_radius() -> None:
    asked = question(tol=1e-2)
    assert settles(asked, Radius(End(0.999, "a"), End(1.0, "b")))
    assert not settles(asked, Radius(End(0.9, "a"), End(1.0, "b")))
    assert settles(asked, Radius(End(4.0, "a")))
    near = judge(asked, Answer.bracket(End(0.999, "a"), End(1.0, "b"), pair(2.0**-40)))
    assert near.verdict == "certified"
    wide = judge(asked, Answer.bracket(GOOD, End(1.0, "b"), pair(2.0**-40)))
    assert (wide.verdict, "wider than tol" in str(wide.reason)) == ("unresolved", True)


def test_a_claimed_end_without_a_witness_counts_for_nothing() -> None:
    found = judge(question(), Answer.bracket(GOOD, End(1.0, "believe me")))
    assert (found.verdict, found.radius.refuted) == ("unresolved", None)
    assert "none could be shown" in str(found.reason)


def test_an_end_that_its_witness_does_not_show_moves_out_to_it() -> None:
    found = judge(question(), Answer.bracket(GOOD, End(0.75, "too near"), pair(0.5)))
    assert found.radius.refuted == 1.5


def test_brackets_that_contradict_themselves_are_bugs() -> None:
    with pytest.raises(BrokenProof, match="contradicts itself"):
        judge(question(), Answer.bracket(End(2.0, "wrong"), End(1.25, "b"), pair(0.25)))


@pytest.mark.rule("E-6")
def test_float_bounds_count_for_nothing_where_exact_ones_are_required() -> None:
    solver = Answer.good(GOOD, trust="solver")
    assert judge(question(0.5), solver).trust == "solver"
    strict = judge(question(0.5), solver, "exact")
    assert (strict.verdict, strict.trust, float(strict.radius.certified)) == ("unresolved", "exact", 0.0)


def test_the_reason_is_the_engines_own() -> None:
    stop = Stop(Cause.UNDECIDED, "bounds decide no more")
    found = judge(question(0.5), Answer.undecided(question(0.5), GOOD, stop))
    assert (found.verdict, found.reason) == ("unresolved", str(stop))


def turning(radius: float | None = None) -> Question:
    """x - 2 tanh(x) around 3, which turns at 0.88."""
    build = ircert.Builder(1)
    graph = build.graph(build.add(build.input, build.affine(build.node(Tanh(), build.input), [[-2.0]])))
    place = Place(np.array([3.0]), Norm.INF, np.array([-1.0]), np.array([9.0]))
    return Question(graph, None, "local", place, radius, 4.0)


def turned(x: float, y: float, **more: Any) -> Answer:
    return Answer(None, GOOD, None, None, "exact", turned=([Fraction(x)], [Fraction(y)]), **more)


@pytest.mark.rule("R-12")
def test_two_orientations_refute() -> None:
    found = judge(turning(), turned(3.0, 0.5))
    assert (found.verdict, found.radius.refuted) == ("unresolved", 2.5)
    assert found.turned is not None
    ball = judge(turning(2.6), replace(turned(3.0, 0.5), verdict="refuted"))
    assert (ball.verdict, ball.radius.refuted, ball.witness) == ("refuted", 2.5, None)


@pytest.mark.rule("R-12")
@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (turning(), turned(3.0, 2.0)),  # one orientation
        (turning(), turned(3.0, -1.0)),  # on the boundary of the domain
        (turning(2.5), replace(turned(3.0, 0.5), verdict="refuted")),  # on the boundary of the ball
        (turning(2.6), replace(turned(3.0, 0.5), verdict="certified")),
        (replace(turning(), problem="pseudo"), turned(3.0, 0.5)),
        (turning(), replace(turned(3.0, 0.5), certified=End(2.6, "a proof"))),
    ],
)
def test_orientations_that_show_nothing_are_bugs(asked: Question, answer: Answer) -> None:
    with pytest.raises(BrokenProof):
        judge(asked, answer)


@pytest.mark.rule("R-15")
def test_the_value_of_p_star_is_measured_anew() -> None:
    bad = Answer.bad(pair(0.25), GOOD)
    found = judge(question(1.5), replace(bad, optimum=Optimum(0.0, 3.0, "exact", "a proof")))
    assert found.optimum == (0.5, 3.0, "exact")
    assert found.optimum is not None
    assert found.optimum.evidence == "a proof"
    with pytest.raises(BrokenProof, match="does not attain"):
        judge(question(1.5), replace(bad, optimum=Optimum(0.75, 3.0, "exact")))
    with pytest.raises(BrokenProof, match="exceeds what was proved"):
        judge(question(1.5), replace(bad, optimum=Optimum(0.5, 0.25, "exact")))
