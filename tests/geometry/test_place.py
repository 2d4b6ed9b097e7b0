"""Places: centre, norm and domain of all balls of a question."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place

PLACE = Place(np.array([0.1, 2.0]), Norm.TWO, np.array([0.0, -np.inf]), np.array([1.0, 3.0]))


def test_the_centre_in_rationals_is_the_float() -> None:
    assert PLACE.exact_center == [Fraction(0.1), 2]


def test_balls_are_cut_with_the_domain_and_know_their_place() -> None:
    ball = PLACE.ball(5.0)
    assert ball.contains([0.5, 2.5])
    assert not ball.contains([-0.5, 2.5])
    again = Place.of(Ball(ball.center, 1.0, ball.norm, ball.low, ball.high))
    assert (again.norm, again.low.tolist()) == (PLACE.norm, PLACE.low.tolist())


def test_how_far_the_domain_goes() -> None:
    assert PLACE.reach == np.inf
    domain = PLACE.within(np.array([-0.9, 2.0]), np.array([0.0, 2.5]))
    sides = [Fraction(0.1) + Fraction(0.9), Fraction(1, 2)]
    for norm in Norm:
        reach = replace(domain, norm=norm).reach
        assert norm.measure([Fraction(reach)]) >= norm.measure(sides)
        assert norm.measure([Fraction(np.nextafter(reach, 0.0))]) < norm.measure(sides)
    assert PLACE.within(PLACE.center, PLACE.center).reach == 0.0


def test_some_coordinates_another_box_and_no_domain() -> None:
    one = PLACE.keep([1])
    assert (one.size, one.center.tolist(), one.high.tolist()) == (1, [2.0], [3.0])
    assert one.simplest.norm is Norm.INF, "on a line all norms are one"
    assert PLACE.simplest.norm is Norm.TWO
    assert PLACE.within(np.zeros(2), np.full(2, 9.0)).box.high.tolist() == [9.0, 9.0]
    assert np.isinf(Place.everywhere(np.zeros(3)).high).all()
