"""Outlines lie where the norm says."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from ircert.errors import QueryError
from ircert.plotting import draw_ball, new_axes
from ircert.plotting.ball import ball_label, outline, rounded
from ircert.questions.query import Query
from tests.plotting.support import drawn, vertices

CENTER = np.array([1.0, -2.0])


def nearest(corners: Any, point: Any) -> float:
    """The distance of a point to the closed polygon."""
    best = math.inf
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        t = np.clip(np.dot(point - a, b - a) / max(np.dot(b - a, b - a), 1e-300), 0, 1)
        best = min(best, float(np.linalg.norm(a + t * (b - a) - point)))
    return best


@pytest.mark.parametrize(
    ("norm", "diagonal"), [("inf", 1.0), (np.inf, 1.0), ("1", 0.5), (1, 0.5), ("2", 0.5**0.5), (2, 0.5**0.5)]
)
def test_outlines_pass_through_the_right_points(norm: Any, diagonal: float) -> None:
    (line,) = drawn(draw_ball(new_axes(), CENTER, 3.0, norm), "certified-ball")
    corners = vertices(line)
    assert (corners[0] == corners[-1]).all()
    for direction in ([1, 0], [0, 1], [-1, 0], [0, -1]):
        assert nearest(corners[:-1], CENTER + 3.0 * np.array(direction)) < 1e-12
    for direction in ([1, 1], [-1, 1], [-1, -1], [1, -1]):
        assert nearest(corners[:-1], CENTER + 3.0 * diagonal * np.array(direction)) < 1e-12
    order = np.inf if norm == "inf" else float(norm)
    np.testing.assert_allclose(np.linalg.norm(corners - CENTER, order, axis=1), 3.0)


@pytest.mark.parametrize("norm", ["inf", "1", "2"])
@pytest.mark.parametrize("domain", [(-1.0, 1.0), ([-9, -0.1], [0.3, 9]), (-math.inf, 0.2), (-50, 50)])
def test_the_domain_cuts(norm: str, domain: Any) -> None:
    center = [0.1, 0.1]
    ball = Query("local", center, 1.25, norm, domain=domain).ball
    corners = outline(center, 1.25, norm, domain)
    assert len(corners) >= 3
    assert (corners >= ball.low).all()
    assert (corners <= ball.high).all()
    x, y = corners.T
    area = 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))
    sample = np.random.default_rng(0).uniform(-1.3, 1.5, (20000, 2))
    order = np.inf if norm == "inf" else float(norm)
    inside = np.linalg.norm(sample - center, order, axis=1) <= 1.25
    inside &= ((sample >= ball.low) & (sample <= ball.high)).all(axis=1)
    assert area == pytest.approx(inside.mean() * 2.8**2, abs=0.15)


def test_certified_is_solid_and_refuted_dashed() -> None:
    ax = draw_ball(draw_ball(new_axes(), CENTER, 1.0, "2"), CENTER, 2.0, "2", kind="refuted")
    (inner,), (outer,) = drawn(ax, "certified-ball"), drawn(ax, "refuted-ball")
    assert inner.get_linestyle() == "-"
    assert outer.get_linestyle() != "-"


def test_one_input_is_an_interval() -> None:
    ax = draw_ball(new_axes(), [1.0], 2.0, domain=(0, 9))
    assert len(drawn(ax, "certified-ball")) == 1
    assert outline([1.0], 2.0, "1", (0, 9)).ravel().tolist() == [0.0, 3.0]


def test_radii_without_an_outline() -> None:
    assert outline(CENTER, math.inf).shape == (0, 2)
    assert outline([0.5, 0.5], math.inf, "2", (0, 1)).tolist() == [[0, 0], [1, 0], [1, 1], [0, 1]]
    (line,) = drawn(draw_ball(new_axes(), CENTER, math.inf), "certified-ball")
    assert line.get_label() == "f injective: r = ∞ (∞-norm)"
    assert (outline(CENTER, 0.0, "1") == CENTER).all()


@pytest.mark.parametrize(
    ("value", "down", "up"),
    [
        (0.65547034, "0.6554", "0.6555"),
        (1.1, "1.1", "1.1"),
        (2.9999999, "2.999", "3"),
        (1234.56, "1234", "1235"),
        (9.99999e-9, "9.999e-09", "1e-08"),
        (1e6, "1e+06", "1e+06"),
        (0.0, "0", "0"),
        (math.inf, "∞", "∞"),
    ],
)
def test_numbers_claim_no_more_than_is_known(value: float, down: str, up: str) -> None:
    assert (rounded(value, up=False), rounded(value, up=True)) == (down, up)


def test_labels_say_what_is_claimed() -> None:
    assert ball_label(0.65547, "inf", "certified", "local") == "f injective: r = 0.6554 (∞-norm)"
    assert ball_label(2.77391, 2, "refuted", "pseudo") == "second preimage: R = 2.774 (2-norm)"
    assert ball_label(1.0, 1, "certified", "transform", inputs=1) == "mappable: r = 1"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((CENTER, -1.0), "must not be negative"),
        ((CENTER, math.nan), "must not be negative"),
        (([0, 0, 0], 1.0), "3 dimensions"),
        ((CENTER, 1.0, 3), "no norm 3"),
        ((CENTER, 1.0, 2, "guessed"), "no kind of ball 'guessed'"),
    ],
)
def test_bad_balls(arguments: Any, says: str) -> None:
    with pytest.raises(QueryError, match=says):
        draw_ball(new_axes(), *arguments)
