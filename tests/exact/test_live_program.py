"""Programs kept alive in HiGHS: answers in floats that change with sides and objectives."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from ircert.exact.live_program import LiveProgram
from ircert.limits import OutOfTime, until

ROWS = np.array([-np.inf]), np.array([12.0])
COLUMNS = np.zeros(2), np.full(2, 5.0)


def triangle(**options: object) -> LiveProgram:
    """2x + 3y <= 12, 0 <= x, y <= 5."""
    return LiveProgram(csr_array([[2.0, 3.0]]), ROWS, COLUMNS, **options)  # type: ignore[arg-type]


def test_optima_points_and_multipliers() -> None:
    live = triangle()
    assert live.maximise(np.array([1.0, 1.0])) == "optimal"
    assert live.point == pytest.approx([5.0, 2.0 / 3])
    assert live.multipliers == pytest.approx([1.0 / 3])
    assert live.maximise(np.array([-1.0, 0.0])) == "optimal"
    assert live.point[0] == 0.0


def test_other_sides() -> None:
    live = triangle()
    live.set_rows((np.array([-np.inf]), np.array([3.0])))
    live.set_columns((np.zeros(2), np.ones(2)))
    assert live.maximise(np.array([1.0, 1.0])) == "optimal"
    assert live.point.sum() == pytest.approx(4.0 / 3)


def test_added_rows() -> None:
    live = triangle()
    live.add_rows((np.array([-np.inf]), np.array([1.0])), np.array([0]), np.array([0, 1]), np.ones(2))
    assert live.maximise(np.array([1.0, 2.0])) == "optimal"
    assert live.point == pytest.approx([0.0, 1.0])


def test_a_ray_shows_that_there_is_no_point() -> None:
    live = triangle(presolve="off")
    live.set_rows((np.array([30.0]), np.array([40.0])))
    assert live.maximise(np.zeros(2)) == "infeasible"
    ray = live.ray()
    assert ray is not None
    assert np.abs(ray).tolist() == [1.0]


def test_small_numbers_are_left_out_where_asked() -> None:
    live = LiveProgram(csr_array([[1e-13, 1.0]]), ROWS, COLUMNS, smallest=1e-12)
    assert live.solver.getNumNz() == 1


def test_limits_of_time_and_of_iterations() -> None:
    with until(lambda: True), pytest.raises(OutOfTime):
        triangle(watched=True, presolve="off").maximise(np.ones(2))
    short = triangle(simplex_iteration_limit=0, presolve="off")
    assert short.maximise(np.ones(2)) == "failed"
    assert short.maximise(np.ones(2), goes_on=lambda: False) == "stopped"
