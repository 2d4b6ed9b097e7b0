"""Which part of the input space a picture shows."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ircert.errors import QueryError
from ircert.plotting import plot_result
from ircert.plotting.window import frame, window_of
from tests.plotting.support import FOLD, answer, drawn

pytestmark = pytest.mark.usefixtures("geometry")


def test_the_window_can_be_given_and_the_domain_ends_it() -> None:
    result = answer(FOLD, [0.5, 0.5], 0.25, None, domain=(0, [1, math.inf]))
    ax = plot_result(result, window=2.0)
    np.testing.assert_allclose(ax.get_ylim(), [-0.03 * 2.5, 2.5])
    assert ax.get_xlim()[0] < 0 < 1 < ax.get_xlim()[1] < 1.2
    assert np.vstack([p.vertices for p in drawn(ax, "cells")[0].get_paths()]).min() >= 0
    ax = plot_result(answer(FOLD, [0.5, 0.5], 0.25, None), window=([-1, -2], [3, 4]))
    np.testing.assert_allclose([*ax.get_xlim(), *ax.get_ylim()], [-1, 3, -2, 4])


@pytest.mark.parametrize(
    ("window", "says"),
    [
        (0, "positive number"),
        (-1.0, "positive number"),
        (math.inf, "positive number"),
        ("wide", "positive number"),
        (([0, 0], [0, 1]), "low < high"),
        ((0, 1, 2), "two corners"),
        (([5, 5], [6, 6]), "outside the domain"),
    ],
)
def test_bad_windows(window: Any, says: str) -> None:
    with pytest.raises(QueryError, match=says):
        plot_result(answer(FOLD, [0.5, 0.5], 0.25, None, domain=(0, 1)), window=window)


def shown(center: list[float], radius: float, window: Any = None, domain: Any = None) -> Any:
    """The window of one result."""
    asked = SimpleNamespace(
        center=np.array(center), domain=domain, radius=SimpleNamespace(certified=radius, refuted=None)
    )
    return window_of([asked], window)


def test_it_is_somewhat_wider_than_the_balls() -> None:
    low, high = shown([1.0, 2.0], 4.0).box
    assert (high - low).tolist() == pytest.approx([10.0, 10.0])
    assert ((low + high) / 2).tolist() == pytest.approx([1.0, 2.0])


def test_radii_far_away_do_not_widen_it() -> None:
    low, high = shown([0.0, 0.0], 1e6).box
    assert (high - low).tolist() == pytest.approx([2.0, 2.0])


def test_an_infinite_radius_shows_the_whole_domain() -> None:
    low, high = shown([0.5, 0.5], math.inf, domain=([0, -1], [4, 1])).box
    assert (low.tolist(), high.tolist()) == ([0, -1], [4, 1])
    low, high = shown([0.5, 0.5], math.inf, domain=(0, math.inf)).box
    assert (low.tolist(), high.tolist()) == ([0, 0], pytest.approx([1.5, 1.5]))


def test_axes_have_a_finest_and_a_largest_number() -> None:
    with pytest.raises(QueryError, match="finer than the numbers of its axes"):
        shown([1e9, 0.0], 1.0, window=1e-9)
    with pytest.raises(QueryError, match="cannot reach beyond"):
        shown([0.0, 0.0], 1.0, window=1e301)


def test_the_frame_has_a_rim_where_the_domain_ends() -> None:
    domain = (np.array([-1.0, -np.inf]), np.array([1.0, np.inf]))
    ball = shown([0.0, 0.0], 1.0, window=4.0, domain=domain)
    low, high = frame(ball, domain)
    assert low[0] < -1.0 < 1.0 < high[0]
    assert (low[1], high[1]) == pytest.approx((-4.0, 4.0))
    assert frame(ball, None)[0].tolist() == ball.box[0].tolist()
