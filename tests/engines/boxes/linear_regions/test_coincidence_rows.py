"""The rows of pairs: which points satisfy them, by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from ircert.engines.boxes.linear_regions.coincidence_rows import PairRows, Plane, beside, single
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.exact.rows import Rows, Solution
from ircert.ir.rational import integer_array
from tests.engines.boxes.making import fold, setting_of

ON, OFF = np.array([1], dtype=np.int8), np.array([-1], dtype=np.int8)


def rows_of(exponent: int = 0, problem: str = "local", **domain: np.ndarray) -> PairRows:
    """Pairs x on, y off the kink at 1/2."""
    setting = setting_of(fold(), [0.0, 0.0], problem=problem, **domain)
    maps = ExactMaps(setting)
    there = maps.at_center if problem == "pseudo" else maps.of(OFF)
    return PairRows(setting, maps.of(ON), there, (ON, OFF), exponent)


def hold(rows: Rows, *numbers: float) -> bool:
    """Whether a dyadic point satisfies all rows."""
    below = 2**20
    return bool(rows.hold(Solution(integer_array([int(v * below) for v in numbers]), integer_array([below])[0])))


@pytest.mark.parametrize("exponent", [-3, 0, 2])
def test_colliding_pairs_and_no_others(exponent: int) -> None:
    unit = 2.0**exponent
    rows = rows_of(exponent).all
    assert hold(rows, *(v / unit for v in (0.75, 1, 0.25, 1)))
    assert not hold(rows, *(v / unit for v in (0.75, 1, 0.5, 1))), "other outputs"
    assert not hold(rows, *(v / unit for v in (0.25, 1, 0.75, 1))), "other sides of the neuron"


def test_the_domain_holds_for_both_points() -> None:
    rows = rows_of(low=np.array([-1.0, -1.0]), high=np.array([2.0, 0.5])).all
    assert hold(rows, 0.75, 0.5, 0.25, 0.5)
    assert not hold(rows, 0.75, 1, 0.25, 1)


def test_pseudo_has_the_first_point_alone() -> None:
    rows = rows_of(problem="pseudo")
    assert (rows.starts, rows.width) == ((0,), 2)
    assert hold(rows.all, 1, 0)
    assert not hold(rows.all, 0.75, 0)


def test_balls() -> None:
    rows = rows_of(exponent=1)
    assert hold(rows.box(Fraction(2)), 1, -1, 0, 0.5)
    assert not hold(rows.box(Fraction(2)), 1.125, 0, 0, 0)
    assert hold(rows.cube(), 1, -1, 0.5, 0, 1)
    assert not hold(rows.cube(), 1, -1, 0.5, 0, 0.875)
    sizes = (0.5, 0.5, 0.25, 0)
    assert hold(rows.diamond(Fraction(2)), 0.5, -0.5, 0.25, 0, *sizes)
    assert not hold(rows.diamond(Fraction(1)), 0.5, -0.5, 0.25, 0, *sizes)
    assert not hold(rows.diamond(Fraction(2)), 0.5, -0.625, 0.25, 0, *sizes), "|z_j| <= a_j"
    assert hold(rows.diamond(None), 0.5, -0.5, 0.25, 0, *sizes, 1)
    assert not hold(rows.diamond(None), 0.5, -0.5, 0.25, 0, *sizes, 0.75)


def test_planes_bound_the_last_variable() -> None:
    rows = rows_of()
    above = rows.above([Plane(2, ((0, Fraction(1)), (1, Fraction(0))), Fraction(1, 2)), Plane(0, (), Fraction(0))])
    assert hold(above, 0, 0, 1, 9, 1.5)
    assert not hold(above, 0, 0, 1, 9, 1.25)
    assert not hold(above, 0, 0, -9, 0, -0.125)


def test_single_rows_and_forms_side_by_side() -> None:
    rows = single(3, [(1, -1, Fraction(1, 2))])
    assert hold(rows, 0, -0.5, 0)
    assert not hold(rows, 0, -0.75, 0)
    joined = beside(np.array([integer_array([1, 2, 3])]), np.array([integer_array([10, 20, 30])]), 2)
    assert joined.tolist() == [[1, 2, 10, 20, 33]]
