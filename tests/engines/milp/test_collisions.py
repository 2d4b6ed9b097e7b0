"""Exact collisions from points that a solver gave."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from ircert.engines.base import Answer, Question
from ircert.engines.milp.collisions import Collisions
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.result.radius import End
from tests.engines.boxes.making import fold


def question(norm: Norm = Norm.INF, **more: Any) -> Question:
    """A fold at x1 = 1/2, seen from 0."""
    return Question(fold(), None, "local", Place.everywhere(np.zeros(2), norm), None, 8.0, **more)


@pytest.mark.rule("E-1")
@pytest.mark.parametrize("norm", tuple(Norm))
def test_a_rough_pair_leads_to_the_nearest_exact_one(norm: Norm) -> None:
    found = Collisions(question(norm))
    assert (found.distance, found.within(8.0)) == (math.inf, None)
    found.look([(np.array([1.24, 0.3]), np.array([-0.26, 0.31]))], 8.0)
    assert 0.5 < found.distance < 0.5001
    pair = found.within(found.distance)
    assert pair is not None
    x, y = pair
    assert x != y
    assert list(fold().exact(x)) == list(fold().exact(y))
    assert found.within(0.5) is None


def test_a_neuron_at_its_kink_is_tried_on_both_sides() -> None:
    """Both points on one side, one of them all but on the fold."""
    found = Collisions(question())
    found.look([(np.array([0.5 - 1e-9, 0.0]), np.array([0.25, 0.0]))], 8.0)
    assert found.distance < 0.5001


def test_what_is_no_number_is_not_looked_at() -> None:
    found = Collisions(question())
    found.look([(np.array([np.nan, 0.0]), np.zeros(2))], 8.0)
    assert found.distance == math.inf


def test_known_collisions_count_and_only_nearer_ones_replace_them() -> None:
    known = [Fraction(3, 4), Fraction(0)], [Fraction(1, 4), Fraction(0)]
    answer = replace(Answer.bracket(End(0.0, "nothing")), witness=known)
    found = Collisions(question(known=answer))
    assert found.distance == 0.75
    found.add(([Fraction(2), Fraction(0)], [Fraction(-1), Fraction(0)]))
    assert found.distance == 0.75
    assert found.within(0.75) == known
