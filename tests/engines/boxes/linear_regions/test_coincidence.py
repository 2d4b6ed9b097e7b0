"""The polytope of colliding pairs of two regions, where it is known by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.linear_regions.coincidence import Coincidence, values_at
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.norm import Norm
from ircert.geometry.pair import Pair
from ircert.ir.rational import integer_array
from ircert.limits import Undecided
from tests.engines.boxes.making import fold, setting_of

NORMS = tuple(Norm)
ON, OFF = np.array([1], dtype=np.int8), np.array([-1], dtype=np.int8)
HALF = Fraction(1, 2)


def across(setting: Setting) -> Coincidence:
    """Pairs on both sides of the fold at x1 = 1/2."""
    return Coincidence(setting, ExactMaps(setting), ON, OFF)


@pytest.mark.rule("E-3")
@pytest.mark.parametrize("norm", NORMS)
def test_the_nearest_pair_across_a_fold_lies_on_it(norm: Norm) -> None:
    found = across(setting_of(fold(), [0.0, 0.0], norm=norm)).nearest()
    assert found is not None
    bound, pair = found
    assert bound <= HALF**norm.power <= pair.measure(norm)
    assert float(pair.measure(norm) - bound) < 1e-9


@pytest.mark.rule("E-3")
@pytest.mark.parametrize("norm", NORMS)
def test_violations_begin_behind_the_fold(norm: Norm) -> None:
    setting = setting_of(fold(), [0.0, 0.0], norm=norm)
    polytope = across(setting)
    assert polytope.violation(HALF) is None, "only x = y is there"
    pair = polytope.violation(HALF + Fraction(1, 2**20))
    assert pair is not None
    assert pair.measure(norm) <= (HALF + Fraction(1, 2**20)) ** norm.power
    assert polytope.violates(pair)
    x, y = (setting.graph.exact(list(point)) for point in (pair.x, pair.y))
    assert list(x) == list(y)


def test_one_region_with_itself() -> None:
    """The identity has no violation, but its nearest pair is the centre twice."""
    setting = setting_of(fold(), [0.0, 0.0])
    alone = Coincidence(setting, ExactMaps(setting), OFF, OFF)
    assert alone.violation(Fraction(100)) is None
    assert alone.nearest() == (Fraction(0), Pair((Fraction(0), Fraction(0)), (Fraction(0), Fraction(0))))


def test_a_domain_that_ends_before_the_fold_leaves_no_pair() -> None:
    setting = setting_of(fold(), [0.0, 0.0], low=np.array([-1.0, -1.0]), high=np.array([0.25, 1.0]))
    assert across(setting).nearest() is None
    assert across(setting).violation(Fraction(10)) is None


def test_pseudo_looks_for_other_preimages_of_the_centre() -> None:
    """f(0) = f(1, 0): the only other one."""
    setting = setting_of(fold(), [0.0, 0.0], problem="pseudo")
    polytope = across(setting)
    assert polytope.nearest() == (Fraction(1), Pair((Fraction(1), Fraction(0)), (Fraction(0), Fraction(0))))
    assert polytope.violation(Fraction(99, 100)) is None
    assert polytope.violation(Fraction(1)) is not None


def test_where_the_map_is_flat_one_region_collides_with_itself() -> None:
    build = ircert.Builder(2)
    setting = setting_of(build.graph(build.affine(build.relu(build.input), [[1.0, -1.0]])), [1.0, 1.0])
    both = np.array([1, 1], dtype=np.int8)
    polytope = Coincidence(setting, ExactMaps(setting), both, both)
    pair = polytope.violation(HALF)
    assert pair is not None
    assert pair.x[0] - pair.x[1] == pair.y[0] - pair.y[1]
    assert pair.x != pair.y


def test_no_time_is_undecided() -> None:
    with pytest.raises(Undecided):
        across(setting_of(fold(), [0.0, 0.0])).nearest(goes_on=lambda: False)


@pytest.mark.parametrize("scale", [2.0**-60, 1.0, 2.0**60])
def test_the_unit_changes_nothing(scale: float) -> None:
    setting = setting_of(fold(), [0.0, 0.0])
    found = Coincidence(setting, ExactMaps(setting), ON, OFF, scale).nearest()
    assert found is not None
    assert found[0] == HALF


def test_forms_at_a_point_up_to_a_factor() -> None:
    forms = np.array([integer_array([2, 3, -5]), integer_array([0, 1, 0])], dtype=object)
    found = values_at(forms, (Fraction(1, 2), Fraction(1, 3)))
    assert [Fraction(int(v), 6) for v in found] == [Fraction(-3), Fraction(1, 3)]
