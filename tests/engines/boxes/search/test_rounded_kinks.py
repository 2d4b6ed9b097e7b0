"""Searches around centres that a kink misses by rounding alone."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.ir.arrays import Array


def kinked(size: int) -> tuple[ircert.Graph, Array]:
    """x + V relu(W x + b) and a centre next to the first kink: one unit in the last place of its bias away."""
    rng = np.random.default_rng(3)
    center, eye = np.full(size, 0.5), np.eye(size)
    w = rng.integers(-8, 9, (10, size)) / 8
    b = rng.integers(-4, 5, 10) / 8 - w @ center
    b[0] = np.nextafter(-(w[0] @ center), 9.0)
    v = rng.integers(-8, 9, (size, 10)) / 16
    first = (np.vstack([w, eye, -eye]), np.concatenate([b, np.zeros(2 * size)]))
    return ircert.load([first, (np.hstack([v, eye, -eye]), np.zeros(size))]), center


@pytest.mark.rule("E-3")
def test_a_search_does_not_stay_below_a_kink_that_is_no_fold() -> None:
    result = ircert.certify(*kinked(6), time_limit=60)
    assert result.verdict == "certified"
    assert result.radius.certified == pytest.approx(6 / 47, rel=1e-5)


@pytest.mark.rule("E-3")
def test_a_fold_next_to_the_centre_is_found_and_the_ball_before_it_is_proved() -> None:
    result = ircert.certify(*kinked(5), time_limit=60)
    assert result.verdict == "certified"
    assert result.radius.refuted is not None
    assert 0 < result.radius.certified <= result.radius.refuted < 1e-16
