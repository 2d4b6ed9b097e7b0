"""Regions to which a complex is restricted: exact polygons."""

from __future__ import annotations

from fractions import Fraction

import pytest

from ircert.engines.regions.outline import Outline, meeting, outline, polygon, round_outlines, side
from ircert.geometry.norm import Norm

FREE = [(None, None), (None, None)]


def corners(found: Outline) -> set[tuple[Fraction | int, Fraction | int]]:
    return {(Fraction(int(u), int(w)), Fraction(int(v), int(w))) for u, v, w in found.corners}


def test_squares_and_diamonds() -> None:
    two = Fraction(2)
    assert corners(outline(two, Norm.INF, FREE)) == {(a * 2, b * 2) for a in (1, -1) for b in (1, -1)}
    assert corners(outline(two, Norm.TWO, FREE)) == corners(outline(two, Norm.INF, FREE))
    assert corners(outline(two, Norm.ONE, FREE)) == {(2, 0), (-2, 0), (0, 2), (0, -2)}


def test_a_box_cuts_corners_off() -> None:
    box = [(None, Fraction(1)), (Fraction(0), None)]
    assert corners(outline(Fraction(2), Norm.INF, box)) == {(1, 0), (1, 2), (-2, 2), (-2, 0)}
    assert corners(outline(Fraction(2), Norm.ONE, box)) == {(1, 0), (1, 1), (0, 2), (-2, 0)}
    assert outline(Fraction(2), Norm.INF, [(Fraction(2), None), (None, None)]).corners == (), "no area"


def test_lines_are_positive_inside_and_corners_lie_on_them() -> None:
    found = outline(Fraction(3, 7), Norm.ONE, [(None, Fraction(1, 5)), (None, None)])
    for i, corner in enumerate(found.corners):
        assert side(found.lines[i], corner) == side(found.lines[i - 1], corner) == 0
        assert all(side(line, corner) >= 0 for line in found.lines)
    assert all(side(line, (0, 0, 1)) > 0 for line in found.lines)


def test_where_lines_meet() -> None:
    assert meeting((1, 0, -3), (0, 1, 2)) == (3, -2, 1)
    assert meeting((0, 1, 2), (1, 0, -3)) == (3, -2, 1)


@pytest.mark.parametrize("sides", [8, 24])
def test_polygons_inside_and_around_a_disc(sides: int) -> None:
    inner, outer = round_outlines(Fraction(2), FREE, sides)
    squares = [[u * u + v * v for u, v in corners(found)] for found in (inner, outer)]
    assert max(squares[0]) <= 4, "inside"
    for a, b, c in outer.lines:
        assert int(c) ** 2 == 4 * (int(a) ** 2 + int(b) ** 2), "every side touches the disc"
    assert min(squares[0]) > 4 * Fraction(9, 10) or sides == 8


def test_a_polygon_of_any_lines() -> None:
    """u >= 0, v >= 0, u + v <= 1."""
    found = polygon([(1, 0, 0), (0, 1, 0), (-1, -1, 1)], FREE)
    assert corners(found) == {(0, 0), (1, 0), (0, 1)}
