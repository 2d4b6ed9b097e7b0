"""A ball below a violation is proved by a matrix, or without one, and work that was left goes on."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import ircert
from ircert.data.networks import bundled
from ircert.engines.boxes.falsification.pair_memory import PairMemory
from ircert.engines.boxes.search.arguments import DEGREE, ONE_MATRIX
from ircert.engines.boxes.search.followed_ball import BOXES, Ball, Known, cover_all
from ircert.geometry.pair import Pair
from ircert.limits import Deadline
from tests.engines.boxes.search.asking import asked_about

HARD = [1.34, 2.465, -1.36, -2.457]
"""A centre of the coupled oscillators whose ball takes several matrices."""


def _ball(graph: ircert.Graph, center: list[float]) -> tuple[Ball, float]:
    """The ball of a centre below the violation that a search finds, and the radius that the search proves."""
    question = asked_about(graph, "inf").question(np.array(center), Deadline())
    ball = Ball(question, Deadline(), PairMemory())
    found = ircert.certify(graph, center)
    assert found.witness is not None
    ways = (
        [a - Fraction(b) for a, b in zip(v, center, strict=True)]
        for v in (found.witness.exact.x, found.witness.exact.y)
    )
    ball.descent.offer(Pair(*map(tuple, ways)))
    ball.look()
    return ball, float(found.radius.certified)


def _without_a_matrix() -> tuple[ircert.Graph, list[float]]:
    """A random network, and a centre whose ball has regions that no C serves, though it is good."""
    draw, sizes = np.random.default_rng(1), (4, 16, 16, 4)
    layers = [(draw.normal(size=(b, a)) / a**0.5, draw.normal(size=b) * 0.5) for a, b in pairwise(sizes)]
    ends = np.random.default_rng(101)
    first, last = ends.normal(size=4) * 0.5, ends.normal(size=4) * 0.5 + 0.5
    return ircert.load(layers), (first + 12 / 62 * (last - first)).tolist()


def test_work_that_was_left_goes_on() -> None:
    graph = bundled("coupled-vanderpol-4-16-16-4")
    ball, radius = _ball(graph, HARD)
    assert ball.by_another(1_000) is None
    assert ball.is_open
    before = ball.spent
    assert before > 1_000
    known = ball.by_another(100_000)
    assert known is not None
    assert ball.is_closed
    assert before < ball.spent < 100_000
    answer = ball.answer()
    assert answer is not None
    assert float(answer.certified) == pytest.approx(radius, rel=1e-6)
    assert ONE_MATRIX in answer.certified.evidence


def test_a_matrix_may_take_as_long_as_it_took() -> None:
    assert Known(np.eye(2), 3).most == BOXES
    assert Known(np.eye(2), 10 * BOXES).most > 10 * BOXES
    graph = bundled("coupled-vanderpol-4-16-16-4")
    ball, _ = _ball(graph, HARD)
    known = ball.by_another(100_000)
    assert known is not None
    assert known.boxes > 0
    ball.is_closed = False
    cover_all([ball], Known(known.matrix, 1))
    few = ball.is_closed
    cover_all([ball], known)
    assert ball.is_closed
    assert few == (known.boxes <= BOXES)


def test_where_there_is_no_matrix_others_prove_it() -> None:
    ball, radius = _ball(*_without_a_matrix())
    assert ball.by_another(10_000) is None, "there is no matrix"
    answer = ball.answer()
    assert answer is not None
    assert float(answer.certified) == pytest.approx(radius, rel=1e-6)
    assert DEGREE in answer.certified.evidence
    assert float(ball.distances(np.array([ball.setting.center]), np.array([ball.setting.center + 2.0]))[0]) == 2.0
