"""Square systems of integers: solutions that satisfy them, and ranks."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from ircert.exact.elimination import Square, full_rank, independent, meeting, must_fit
from ircert.exact.rows import Solution
from ircert.limits import Undecided
from tests.exact.tables import row, rows_of


def fractions(found: Solution) -> list[Fraction]:
    return [Fraction(int(v), int(found.below)) for v in found.numbers]


def test_a_system_by_hand() -> None:
    """2x + y = 5, x - 3y = -1: x = 2, y = 1; y G = (4, -5) has y = (1, 2)."""
    square = Square(rows_of([[2, 1], [1, -3]], [5, -1]))
    assert square.regular
    assert fractions(square.solve(row(5, -1))) == [2, 1]
    assert fractions(square.solve_left(row(4, -5))) == [1, 2]


@pytest.mark.parametrize("seed", range(10))
def test_light_and_heavy_rows_together(seed: int) -> None:
    """Rows with one and two numbers are substituted, the others lifted."""
    rng = np.random.default_rng(seed)
    n = 6
    table = rng.integers(-9, 10, (n, n)) * (rng.uniform(size=(n, n)) < 0.5) + np.diag(rng.integers(1, 5, n))
    table[0] = np.eye(n)[2] * 4
    table[1] = np.eye(n)[1] * 3 + np.eye(n)[4] * 2
    rows = rows_of(table.astype(int).tolist(), [0] * n)
    square, right = Square(rows), row(*rng.integers(-99, 100, n).tolist())
    if not square.regular:
        assert abs(np.linalg.det(table)) < 1e-6
        return
    x, y = fractions(square.solve(right)), fractions(square.solve_left(right))
    dense = rows.dense()
    assert list(dense.dot(np.array(x, dtype=object))) == list(right)
    assert list(dense.T.dot(np.array(y, dtype=object))) == list(right)


def test_a_matrix_without_an_inverse() -> None:
    assert not Square(rows_of([[1, 2, 1], [2, 4, 2], [0, 1, 1]], [0, 0, 0])).regular


def test_independent_rows_in_their_order() -> None:
    assert independent(rows_of([[1, 2], [2, 4], [0, 1], [5, 5]], [0] * 4)) == [0, 2]


def test_full_rank_is_of_the_columns() -> None:
    assert full_rank(np.array([row(1, 0), row(0, 1), row(1, 1)], dtype=object))
    assert not full_rank(np.array([row(1, 2), row(2, 4)], dtype=object))
    assert not full_rank(np.array([row(1, 2)], dtype=object))


def test_a_point_nearby_where_rows_meet() -> None:
    """x + y = 1 near (0.75, 0.5): one coordinate moves, the other stays."""
    found = meeting(rows_of([[1, 1]], [1]), np.array([0.75, 0.5]))
    assert found is not None
    x, y = fractions(found)
    assert x + y == 1
    assert x == Fraction(3, 4) or y == Fraction(1, 2)


def test_what_would_take_too_long_is_undecided() -> None:
    must_fit(0.001)
    with pytest.raises(Undecided):
        must_fit(1e6)
