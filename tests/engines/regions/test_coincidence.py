"""Polytopes of pairs: their corners, largest values and nearest points, by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from ircert.engines.regions.coincidence import Polytope, difference, length_forms
from ircert.geometry.norm import Norm

SQUARE = [[1, 0, 1], [-1, 0, 1], [0, 1, 1], [0, -1, 1]]
"""|u|, |v| <= 1."""


def polytope(equations: list[list[int]], inequalities: list[list[int]] = SQUARE) -> Polytope:
    return Polytope(2, equations, inequalities, Fraction(10))


def points(found: Polytope) -> set[tuple[Fraction | int, ...]]:
    assert found.corners is not None
    return {tuple(found.at(corner)) for corner in found.corners}


def test_corners_of_a_square_a_segment_a_point_and_nothing() -> None:
    assert points(polytope([])) == {(a, b) for a in (1, -1) for b in (1, -1)}
    assert points(polytope([[1, -2, 0]])) == {(1, Fraction(1, 2)), (-1, Fraction(-1, 2))}
    assert points(polytope([[1, 0, -1], [0, 1, 0]])) == {(1, 0)}
    assert points(polytope([[1, 1, -2]])) == {(1, 1)}
    assert points(polytope([[1, 1, -3]])) == set()
    assert polytope([[0, 0, 1]]).corners == [], "no solution at all"


def test_corners_between_their_neighbours_are_none() -> None:
    """u + v <= 2 touches the square at (1, 1)."""
    assert len(points(polytope([], [*SQUARE, [-1, -1, 2]]))) == 4
    assert len(points(polytope([], [*SQUARE, [-1, -1, 1]]))) == 5


def test_the_largest_value_and_where() -> None:
    one, minus = Fraction(1), Fraction(-1)
    assert polytope([]).maximise([3, 1, 5]) == (Fraction(9), [one, one])
    assert polytope([[1, 1, 0]]).maximise([1, 0, 0]) == (one, [one, minus])
    assert polytope([[1, 1, -3]]).maximise([1, 0, 0]) is None


@pytest.mark.parametrize(("norm", "distance"), [(Norm.INF, Fraction(3, 5)), (Norm.ONE, Fraction(3, 4))])
def test_the_nearest_point_of_a_line(norm: Norm, distance: Fraction) -> None:
    """u + 4 v = 3: (3/5, 3/5) in norm inf, (0, 3/4) in norm 1."""
    found = polytope([[1, 4, -3]]).nearest(length_forms(norm, [0, 1], 2))
    assert found is not None
    assert found[0] == distance
    assert norm.measure(found[1]) == distance


def test_more_dimensions_are_programs() -> None:
    cube = [[*([0] * k), s, *([0] * (2 - k)), 1] for k in range(3) for s in (1, -1)]
    found = Polytope(3, [], cube, Fraction(10))
    assert found.corners is None
    best = found.maximise([1, 2, 3, 4])
    assert best is not None
    assert best[0] == 10


def test_differences_of_maps() -> None:
    assert difference([[1, 2, 3]], [[10, 20, 30]]) == [[1, 2, -10, -20, -27]]
