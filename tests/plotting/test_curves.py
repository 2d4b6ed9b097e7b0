"""Curves, marked points and names."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.plotting import add_legend, draw_curve, draw_graph, draw_name, draw_points, new_axes, new_panels
from tests.plotting.support import HAT, drawn, labels, vertices

TRIANGLE = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)]


def test_a_curve_and_a_closed_one() -> None:
    ax = new_axes(pyplot=False)
    draw_curve(draw_curve(ax, TRIANGLE, label="open"), TRIANGLE, closed=True, rim=True, label="closed")
    first, second = drawn(ax, "curve")
    np.testing.assert_array_equal(vertices(first), TRIANGLE)
    np.testing.assert_array_equal(vertices(second), [*TRIANGLE, TRIANGLE[0]])
    assert len(second.get_path_effects()) == 2
    add_legend(ax)
    assert labels(ax) == ["open", "closed"]


@pytest.mark.parametrize("marker", ["D", "+"])
def test_points_and_their_names(marker: str) -> None:
    ax = draw_points(new_axes(pyplot=False), TRIANGLE, marker=marker, label="corners")
    draw_name(ax, TRIANGLE[1], "Q₁")
    (points,) = drawn(ax, "points")
    np.testing.assert_array_equal(vertices(points), TRIANGLE)
    assert points.get_linestyle() == "None"
    assert [text.get_text() for text in ax.texts] == ["Q₁"]


def test_an_empty_curve_draws_nothing() -> None:
    ax = draw_curve(new_axes(pyplot=False), np.empty((0, 2)), closed=True)
    assert len(vertices(drawn(ax, "curve")[0])) == 0


def test_panels_share_a_figure() -> None:
    panels = new_panels(3, 2)
    assert len(panels) == 6
    assert len({id(ax.figure) for ax in panels}) == 1


def test_a_graph_in_one_colour() -> None:
    ax = draw_graph(new_axes(pyplot=False), ircert.enumerate_regions(HAT, ([0.0], 1.0)), color="#123456")
    (lines,) = drawn(ax, "graph")
    assert len(lines.get_segments()) == 2
    assert lines.get_label() == "f"
