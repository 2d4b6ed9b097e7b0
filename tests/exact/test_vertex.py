"""Bases in integers: their points and weights, and the steps from one to the next."""

from __future__ import annotations

from fractions import Fraction

from ircert.exact.vertex import Constraints, Vertex
from tests.exact.tables import TRIANGLE, row, rows_of

CONSTRAINTS = Constraints(TRIANGLE)


def at(vertex: Vertex) -> list[Fraction]:
    return [Fraction(int(v), int(vertex.point.below)) for v in vertex.point.numbers]


def test_the_point_and_the_weights_of_a_basis() -> None:
    """y = 0 and 2x + 3y = 12, for max x + y: (6, 0), with weights 1/2 and 1/2."""
    vertex = Vertex(CONSTRAINTS, [1, 2], row(1, 1))
    assert vertex.regular
    assert at(vertex) == [6, 0]
    assert [Fraction(int(v), int(vertex.weights.below)) for v in vertex.weights.numbers] == [Fraction(1, 2)] * 2
    assert (vertex.violated, vertex.wrong) == ([], [])


def test_a_basis_that_is_not_best_says_which_weights_are_wrong() -> None:
    vertex = Vertex(CONSTRAINTS, [0, 1], row(1, 1))
    assert at(vertex) == [0, 0]
    assert vertex.wrong == [0, 1]
    better = vertex.improved()
    assert better is not None
    assert at(better) == [6, 0]
    assert better.wrong == []


def test_a_violated_row_comes_in() -> None:
    """x = 8, y = 0 violates 2x + 3y <= 12."""
    constraints = Constraints(rows_of([[-1, 0], [0, -1], [2, 3], [1, 0]], [0, 0, 12, 8]))
    vertex = Vertex(constraints, [1, 3], row(1, 1))
    assert vertex.violated == [2]
    repaired = vertex.repaired()
    assert repaired is not None
    assert at(repaired) == [6, 0]
    assert repaired.violated == []


def test_rows_that_contradict_each_other_leave_no_basis() -> None:
    constraints = Constraints(rows_of([[-1, 0], [0, -1], [1, 1]], [0, 0, -1]))
    vertex = Vertex(constraints, [0, 1], row(-1, -1))
    assert vertex.violated == [2]
    assert vertex.repaired() is None
    assert vertex.contradicts(row(1, 1), row(-1)[0])
    assert not vertex.contradicts(row(1, 1), row(0)[0])


def test_a_basis_is_completed_by_pins() -> None:
    assert CONSTRAINTS.completed([2], [1]) == [2, 4]
    assert CONSTRAINTS.completed([0, 1, 2], []) == [0, 1]
    pinned = Vertex(CONSTRAINTS, [2, 4], row(1, 0))
    assert at(pinned) == [6, 0]
    assert pinned.wrong == [1], "a pin is no constraint"
