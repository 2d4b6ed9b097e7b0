"""What one engine hands to the next."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

import ircert
from ircert.engines.base import Answer, Cause, Question, Stop, farthest
from ircert.engines.pinned import unpinned, without_pinned
from ircert.engines.sharing import (
    good_radius,
    known_refuted,
    merged,
    of_a_ball,
    of_the_whole_space,
    settled,
    statistics,
)
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.ir.boxed_pair import BoxedPair
from ircert.result.radius import End

PAIR = [Fraction(1)], [Fraction(-1)]


def question(radius: float | None = None, max_radius: float = 4.0, **more: Any) -> Question:
    fold = ircert.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    return Question(fold, None, "local", Place.everywhere(np.array([1.0])), radius, max_radius, **more)


def bracket(certified: float, refuted: float | None = None, **more: Any) -> Answer:
    end = None if refuted is None else End(refuted, "bad")
    return Answer.bracket(End(certified, f"good to {certified}"), end, None if end is None else PAIR, **more)


def test_the_better_ends_of_both() -> None:
    known, later = bracket(0.5, 2.0), bracket(0.75, 1.5)
    both = merged(known, later)
    assert (both.certified, both.refuted) == (0.75, 1.5)
    assert both.certified.evidence == "good to 0.75; up to 0.5: good to 0.5"
    back = merged(bracket(0.75, 1.5), bracket(0.5, 2.0))
    assert (back.certified, back.refuted, back.certified.evidence) == (0.75, 1.5, "good to 0.75")
    assert merged(None, later) is later


def test_an_end_keeps_the_trust_it_rests_on() -> None:
    assert merged(bracket(0.75, trust="solver"), bracket(0.5)).trust == "solver"
    assert merged(bracket(0.5, trust="solver"), bracket(0.75)).trust == "exact"


def test_known_ends_are_where_an_engine_starts() -> None:
    assert good_radius(question()) == 0.0
    start = good_radius(question(known=bracket(0.75, 1.5)))
    assert 0.75 * (1 - 1e-12) < start < 0.75, "the closed ball inside the open one"
    assert good_radius(question(known=bracket(0.75, trust="solver"))) == 0.0
    assert good_radius(question(radius=0.5, known=bracket(0.75))) == 0.5
    assert known_refuted(question(known=bracket(0.75, 1.5))) == 1.5
    assert known_refuted(question(known=bracket(0.75))) is None


def test_a_large_ball_is_not_the_whole_space() -> None:
    everywhere = question(max_radius=math.inf)
    ball = of_a_ball(everywhere)
    assert ball.max_radius == farthest(everywhere.center, Norm.INF)
    assert of_a_ball(question()).max_radius == 4.0
    answer = of_the_whole_space(everywhere, bracket(ball.max_radius))
    assert answer.stop is not None
    assert answer.stop.cause is Cause.UNDECIDED
    assert of_the_whole_space(everywhere, bracket(math.inf)).stop is None
    assert of_the_whole_space(question(), bracket(4.0)).stop is None


def test_when_nothing_is_left_to_find_out() -> None:
    assert settled(question(), bracket(4.0))
    assert not settled(question(), bracket(1.0, 2.0))
    assert settled(question(0.5), Answer.good(End(0.5, "a")))
    assert not settled(question(0.5), Answer.undecided(question(0.5), End(0.1, "a"), Stop(Cause.TIME)))


def test_statistics_of_several_turns() -> None:
    first = replace(bracket(0.5), stats={"seconds": {"search": 1.0}, "boxes": 3})
    second = replace(bracket(math.inf), stats={"seconds": {"search": 2.0}})
    found = statistics([("boxes", first, Stop(Cause.TIME)), ("regions", second, None)])
    assert found["seconds"] == {"search": 3.0}
    assert [turn["engine"] for turn in found["turns"]] == ["boxes", "regions"]
    assert [turn["certified"] for turn in found["turns"]] == [0.5, "inf"]
    assert statistics([("boxes", first, None)]) is first.stats


def test_boxes_are_kept_until_something_nearer_is_known() -> None:
    nothing = [Fraction(0)]
    near, far = (BoxedPair(*PAIR, nothing, [Fraction(k)]) for k in (1, 2))
    known = replace(bracket(0.5), refuted=End(2.0, "boxes"), boxes=near)
    assert merged(known, bracket(0.75)).boxes is near
    assert merged(known, replace(bracket(0.5), refuted=End(3.0, "boxes"), boxes=far)).boxes is near
    later = merged(known, replace(bracket(0.5), refuted=End(1.0, "boxes"), boxes=far))
    assert (later.boxes, later.refuted) == (far, 1.0)
    turned = merged(replace(known, refuted=End(1.5, "turned"), turned=PAIR), bracket(0.75))
    assert (turned.turned, turned.boxes, turned.refuted) == (PAIR, near, 1.5)


def test_points_and_boxes_where_inputs_are_pinned() -> None:
    """The second input has one value."""
    graph = ircert.load([(np.eye(3), np.zeros(3))])
    place = Place(np.array([1.0, 2.0, 3.0]), Norm.INF, np.array([-9.0, 2.0, -9.0]), np.array([9.0, 2.0, 9.0]))
    asked = Question(graph, None, "local", place, None, 4.0)
    x, y, small = [Fraction(1), Fraction(3)], [Fraction(0), Fraction(4)], [Fraction(0), Fraction(1, 8)]
    found = unpinned(replace(bracket(0.5), turned=(x, y), boxes=BoxedPair(x, y, small, small)), asked)
    p, q = ([Fraction(v) for v in point] for point in ((1, 2, 3), (0, 2, 4)))
    wide = [Fraction(0), Fraction(0), Fraction(1, 8)]
    assert (found.turned, found.boxes) == ((p, q), BoxedPair(p, q, wide, wide))
    again = without_pinned(replace(asked, known=found)).known
    assert again is not None
    assert (again.turned, again.boxes) == ((x, y), BoxedPair(x, y, small, small))
