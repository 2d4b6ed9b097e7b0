"""p* of refuted balls: never more than the separation of the pair that is named, never less than its bound."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import ircert
from ircert.engines.base import Answer, Question
from ircert.engines.boxes.search.ball_optimum import bounded_optimum
from ircert.geometry.place import Place
from ircert.result.radius import End


@pytest.mark.parametrize("seconds", [0.0, 10.0])
def test_the_farthest_pair_of_an_absolute_value(seconds: float) -> None:
    """|x| around 1/4 within 1: pairs ±t with t <= 3/4, so p* is 3/2; a nearer pair is replaced where time is given."""
    graph = ircert.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    near = [Fraction(1, 8)], [Fraction(-1, 8)]
    question = Question(graph, None, "local", Place.everywhere(np.array([0.25])), 1.0, 4.0)
    answer = Answer.bad(near, End(0.0, ""), None, {})
    found, far = bounded_optimum(question, answer, near, 1.0, seconds, lambda: End(0.375, "the nearer pair"))
    assert found.optimum is not None
    assert (far is None) == (seconds == 0.0)
    assert found.optimum.bound >= 1.5
    if seconds:
        assert found.optimum.value == pytest.approx(1.5)
        assert found.refuted is not None
        assert float(found.refuted) == 0.375
        assert found.witness != near
    else:
        assert (found.optimum.value, found.witness, found.refuted) == (0.25, near, None)
