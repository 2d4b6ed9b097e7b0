"""Nearest pairs in norm 2: exact pairs, and exact bounds below every pair."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.linear_regions.coincidence_rows import PairRows
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.engines.boxes.linear_regions.round_distance import nearest_round
from ircert.geometry.norm import Norm
from ircert.limits import Undecided
from tests.engines.boxes.making import setting_of

ON, OFF = np.array([1], dtype=np.int8), np.array([-1], dtype=np.int8)


def rows_of(a: float, b: float, offset: float) -> PairRows:
    """Across the fold a x1 + b x2 = offset: f = x - 2 n relu(n·x - offset) mirrors at it where |n| = 1."""
    build = ircert.Builder(2)
    kink = build.relu(build.affine(build.input, [[a, b]], [-offset]))
    square = a * a + b * b
    graph = build.graph(build.affine(build.concat(build.input, kink), [[square, 0.0, -2 * a], [0.0, square, -2 * b]]))
    setting = setting_of(graph, [0.0, 0.0], norm=Norm.TWO)
    maps = ExactMaps(setting)
    return PairRows(setting, maps.of(ON), maps.of(OFF), (ON, OFF), 0)


def found_in(rows: PairRows) -> tuple[Fraction, list[Fraction]]:
    found = nearest_round(rows, patient=True, goes_on=lambda: True)
    assert found is not None
    return found


@pytest.mark.rule("E-3")
@pytest.mark.parametrize(("a", "b", "offset"), [(1.0, 0.0, 0.5), (3.0, 4.0, 5.0), (1.0, 1.0, 1.0), (-2.0, 5.0, 0.75)])
def test_the_foot_of_the_perpendicular(a: float, b: float, offset: float) -> None:
    bound, z = found_in(rows_of(a, b, offset))
    exact = Fraction(offset) ** 2 / (Fraction(a) ** 2 + Fraction(b) ** 2)
    height = max(z[0] ** 2 + z[1] ** 2, z[2] ** 2 + z[3] ** 2)
    assert bound <= exact <= height
    assert math.isclose(bound, height, rel_tol=1e-9)


def test_the_pair_satisfies_every_row() -> None:
    rows = rows_of(3.0, 4.0, 5.0)
    _, z = found_in(rows)
    a, b = 3 * z[0] + 4 * z[1], 3 * z[2] + 4 * z[3]
    assert a >= 5 >= b
    assert a + b == 10, "mirror images"


def test_no_pair_at_all() -> None:
    """Behind a fold at 1/2 that the domain does not reach."""
    rows = rows_of(1.0, 0.0, 0.5)
    cut = setting_of(rows.setting.graph, [0.0, 0.0], norm=Norm.TWO, low=np.full(2, -1.0), high=np.full(2, 0.25))
    maps = ExactMaps(cut)
    assert nearest_round(PairRows(cut, maps.of(ON), maps.of(OFF), (ON, OFF), 0), True, lambda: True) is None


def test_the_end_of_time_is_undecided() -> None:
    with pytest.raises(Undecided):
        nearest_round(rows_of(1.0, 1.0, 1.0), True, lambda: False)


def test_a_far_pair_is_not_what_is_known_of_a_near_one() -> None:
    """x - u relu(w·x - b) that nearly crushes a side (1 - u·w = -0.0026): floats see y far away first, and no more
    planes where the lowest point is known to nine digits."""
    w, u = np.array([-0.59499423, -0.41432306, 0.67485745]), np.array([-0.39221213, -0.52820148, 0.81560034])
    u *= 1.0026 / (u @ w)
    build = ircert.Builder(3)
    kink = build.relu(build.affine(build.input, w[None], [-0.30678936]))
    graph = build.graph(build.add(build.input, build.affine(kink, -u[:, None])))
    setting = setting_of(graph, np.zeros(3), norm=Norm.TWO)
    maps, turns = ExactMaps(setting), iter(range(14))
    rows = PairRows(setting, maps.of(ON), maps.of(OFF), (ON, OFF), 0)
    found = nearest_round(rows, True, lambda: next(turns, None) is not None)
    assert found is not None
    assert math.isclose(found[0], 0.30678936**2 / (w @ w), rel_tol=1e-7)
    assert math.isclose(max(sum(v * v for v in found[1][k : k + 3]) for k in (0, 3)), found[0], rel_tol=1e-7)
