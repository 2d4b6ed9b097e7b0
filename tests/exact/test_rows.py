"""Rows of integers: what they say of points, and what floats see of them."""

from __future__ import annotations

import numpy as np
import pytest

from ircert.exact.rows import NOTHING, Rows, Solution, joined_floats, split
from tests.exact.tables import TRIANGLE, row, rows_of


def point(*numbers: int, below: int = 1) -> Solution:
    return Solution.of(row(*numbers), row(below)[0])


@pytest.mark.parametrize(
    ("numbers", "below", "inside"),
    [
        ((0, 0), 1, True),
        ((6, 0), 1, True),
        ((7, 0), 1, False),
        ((24, 0), 4, True),
        ((25, 0), 4, False),
        ((-1, 0), 9, False),
    ],
)
def test_points_satisfy_all_rows_or_do_not(numbers: tuple[int, int], below: int, inside: bool) -> None:
    assert TRIANGLE.hold(point(*numbers, below=below)) is inside
    assert TRIANGLE.hold(point(*(-v for v in numbers), below=-below)) is inside


def test_equations_hold_exactly() -> None:
    line = rows_of([[1, 1]], [3], [True])
    assert line.hold(point(1, 2))
    assert not line.hold(point(1, 1))
    assert not line.hold(point(2, 2))


def test_zeros_are_left_out_and_come_back() -> None:
    rows = rows_of([[0, 5, 0], [0, 0, 0], [1, 0, -2]], [1, 2, 3])
    assert rows.lengths.tolist() == [1, 0, 2]
    assert rows.dense().tolist() == [[0, 5, 0], [0, 0, 0], [1, 0, -2]]
    assert rows.times(row(10, 100, 1000)).tolist() == [500, 0, -1990]
    assert rows.take([2, 0]).dense().tolist() == [[1, 0, -2], [0, 5, 0]]
    assert rows.take([2, 0]).limits.tolist() == [3, 1]


def test_joined_and_wider() -> None:
    wide = TRIANGLE.wider(3)
    both = Rows.joined([wide, rows_of([[0, 0, 7]], [1], [True])])
    assert both.dense().tolist() == [[-1, 0, 0], [0, -1, 0], [2, 3, 0], [0, 0, 7]]
    assert both.equal.tolist() == [False, False, False, True]


def test_products_of_long_numbers_go_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    table = rng.integers(-9, 10, (30, 7)).tolist()
    rows, x = rows_of(table, [0] * 30), row(*(int(v) << 100 for v in rng.integers(-9, 10, 7)))
    whole = rows.times(x)
    monkeypatch.setattr("ircert.exact.rows.AT_ONCE", 1)
    assert rows.times(x).tolist() == whole.tolist() == rows.dense().dot(x).tolist()


def test_floats_of_rows_of_any_size() -> None:
    """Each row over a power of two near its largest number, however long that is."""
    table, limits = rows_of([[3 << 2000, -1 << 2000], [0, 5], [0, 0]], [1 << 1999, 10, 4]).floats()
    assert table[0, 0] / table[0, 1] == -3.0
    assert limits[0] / table[0, 0] == pytest.approx(1 / 6)
    assert limits[1] / table[1, 1] == 2.0
    assert (np.abs(table).max(axis=1)[:2] < 1).all()
    assert (np.abs(table).max(axis=1)[:2] >= 0.5).all()
    assert (table[2].tolist(), limits[2]) == ([0.0, 0.0], 4.0)


def test_mantissas_and_exponents() -> None:
    mantissas, exponents = split(row(0, 1, -6, 5 << 3000))
    assert mantissas.tolist() == [0.0, 0.5, -0.75, 0.625]
    assert exponents.tolist() == [NOTHING, 1, 3, 3003]
    assert joined_floats(mantissas, exponents).tolist() == [0.0, 1.0, -6.0, np.inf]
