"""Boxes count as a witness only after they were proved on the loaded network, inside domain and ball."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.engines.base import Answer, Question
from ircert.engines.judge import BrokenProof, judge
from ircert.engines.refutation import is_bad_everywhere
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.ir.boxed_pair import BoxedPair, boxed
from ircert.ir.graph import Graph
from ircert.ir.ops.curves import Gelu, Tanh
from ircert.result.radius import End

GOOD = End(0.5, "a proof")


def bend(size: int = 2) -> Graph:
    """x - 2 tanh(x), entry by entry."""
    build = ircert.Builder(size)
    return build.graph(build.add(build.input, build.affine(build.node(Tanh(), build.input), -2 * np.eye(size))))


def question(problem: str = "local", radius: float | None = None, **more: Any) -> Question:
    place = Place(np.array([1.5, 0.0]), Norm.INF, np.array([-2.0, -1.0]), np.array([9.0, 1.0]))
    return Question(bend(), more.pop("other", None), problem, place, radius, 9.0, **more)


def pair(x: tuple[float, float] = (1.9, 0.0), y: tuple[float, float] = (0.0, 0.0)) -> BoxedPair:
    found = boxed(bend(), [Fraction(v) for v in x], [Fraction(v) for v in y], [(0, 0), (0, 1)])
    assert found is not None
    return found


def answer(given: BoxedPair, **more: Any) -> Answer:
    return Answer(None, GOOD, more.pop("refuted", None), None, "exact", boxes=given, **more)


@pytest.mark.rule("R-13")
def test_boxes_refute() -> None:
    found = judge(question(), answer(pair()))
    assert found.radius.refuted == 1.5
    assert found.witness is not None
    assert found.witness.radii is not None
    assert found.witness.separation == pytest.approx(1.9150080481545375)
    assert found.witness.output_gap < 1e-15
    ball = judge(question(radius=1.5), replace(answer(pair()), verdict="refuted"))
    assert (ball.verdict, ball.radius.refuted, ball.witness is not None) == ("refuted", 1.5, True)
    assert "boxes" in str(ball.radius.refuted and ball.radius.refuted.evidence)
    pseudo = replace(question("pseudo"), place=replace(question().place, center=np.zeros(2)))
    assert judge(pseudo, answer(pair())).radius.refuted is not None
    told = question("transform", other=ircert.load([(np.eye(2), np.zeros(2))]))
    assert judge(told, answer(pair())).witness is not None


@pytest.mark.rule("R-13")
@pytest.mark.parametrize(
    ("asked", "given", "why"),
    [
        (question(), answer(replace(pair(), x=[Fraction(1), Fraction(0)])), "does not show"),
        (question(), answer(replace(pair(), x_radii=[Fraction(3), Fraction(3)])), "domain"),
        (question(), answer(pair((2.0, 3.5), (0.1, 3.5))), "domain"),
        (question(radius=1.25), replace(answer(pair()), verdict="refuted"), "without a collision"),
        (question(radius=1.5), replace(answer(pair()), verdict="certified"), "holds a collision"),
        (question("pseudo"), answer(pair()), "not the centre"),
        (question("transform", other=bend()), answer(pair()), "tell the boxes apart"),
        (question(), answer(pair(), refuted=End(0.0, "believe me")), "arbitrarily close"),
        (question(), replace(answer(pair()), certified=End(1.75, "a proof")), "contradicts itself"),
        (question(), replace(answer(pair()), witness=([Fraction(0)] * 2, [Fraction(1)] * 2)), "not both"),
    ],
)
def test_boxes_that_show_nothing_are_bugs(asked: Question, given: Answer, why: str) -> None:
    with pytest.raises(BrokenProof, match=why):
        judge(asked, given)


@pytest.mark.rule("R-13")
def test_collisions_arbitrarily_close_to_the_centre() -> None:
    place = Place.everywhere(np.array([0.25, -0.5]))
    one, both = bend().select([0]), bend()
    other = ircert.load([([[0.0, 1.0]], [0.0])])

    def asked(graph: Graph, problem: str, where: Place = place, told: Graph | None = None) -> bool:
        return is_bad_everywhere(Question(graph, told, problem, where, None, 9.0))

    assert asked(one, "local")
    assert asked(one, "pseudo")
    assert asked(one, "transform", told=other)
    assert not asked(one, "transform", told=ircert.load([([[1.0, 0.0]], [0.0])]))
    assert not any(asked(both, problem) for problem in ("local", "pseudo"))
    edge = replace(place, low=np.array([0.0, -0.5]))
    assert asked(one, "local", edge)
    assert not asked(one, "pseudo", edge)  # the second input has room on one side only
    assert not asked(one, "local", replace(place, low=np.array([0.0, -0.5]), high=np.array([1.0, -0.5])))
    build = ircert.Builder(2)
    bowl = build.node(Gelu(), build.affine(build.input, np.vstack([np.eye(2), -np.eye(2)])))
    least = build.graph(build.affine(bowl, np.ones((1, 4))))
    assert not asked(least, "pseudo", Place.everywhere(np.zeros(2)))  # gelu(x) + gelu(-x) is least at 0
    assert asked(least, "pseudo", Place.everywhere(np.array([0.0, 0.5])))
