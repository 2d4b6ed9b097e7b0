"""What floats say of exact programs: a basis, in any scale."""

from __future__ import annotations

import pytest

from ircert.exact.float_program import FloatProgram
from ircert.exact.vertex import Constraints, Vertex
from tests.exact.tables import TRIANGLE, row, rows_of


@pytest.mark.parametrize("shift", [0, 200, 3000])
def test_the_basis_of_the_optimum_in_any_scale(shift: int) -> None:
    rows = rows_of([[-1, 0], [0, -1], [2 << shift, 3 << shift]], [0, 0, 12 << shift])
    guess = FloatProgram(rows).maximise(row(1, 1))
    assert guess.status == "optimal"
    vertex = Vertex(Constraints(rows), sorted(guess.rows), row(1, 1))
    assert (vertex.violated, vertex.wrong) == ([], [])


def test_values_far_beyond_floats_are_compared() -> None:
    guess = FloatProgram(TRIANGLE).maximise(row(1 << 2000, 1 << 2000))
    assert guess.exceeds(1 << 2000)
    assert not guess.exceeds(1 << 2010)


def test_bounds_that_exclude_each_other() -> None:
    guess = FloatProgram(rows_of([[2], [-1]], [1, -1])).maximise(row(1))
    assert guess.status == "infeasible"


def test_rows_that_exclude_each_other() -> None:
    guess = FloatProgram(rows_of([[1, 1], [-1, -1], [1, 0], [-1, 0]], [1, -2, 5, 5])).maximise(row(1, 0))
    assert guess.status == "infeasible"
    assert guess.against is not None or guess.weights is not None


def test_added_rows_count() -> None:
    program = FloatProgram(TRIANGLE)
    assert program.maximise(row(1, 0)).point[0] == pytest.approx(6.0)
    program.add(rows_of([[1, 1]], [1]))
    assert program.maximise(row(1, 0)).point[0] == pytest.approx(1.0)
