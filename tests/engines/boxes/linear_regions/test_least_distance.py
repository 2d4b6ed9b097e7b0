"""The nearest point of a polytope in floats, which exact programs start from."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.falsification.falsifier import sides
from ircert.engines.boxes.linear_regions.coincidence import Coincidence
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.engines.boxes.linear_regions.least_distance import nearest_in_floats
from ircert.geometry.norm import Norm
from ircert.limits import Undecided
from tests.engines.boxes.making import residual, setting_of
from tests.oracle.build import square

CLOSE = Fraction(1, 10**8)


def heights(maps: list[np.ndarray], s: np.ndarray) -> float:
    return max(float(((m[:, :-1] @ s + m[:, -1]) ** 2).sum()) for m in maps)


@pytest.mark.parametrize("seed", range(40))
def test_no_feasible_point_is_nearer(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size, n = int(rng.integers(1, 5)), int(rng.integers(2, 5))
    inner = rng.normal(size=size)  # a point of the polytope
    rows = rng.normal(size=(int(rng.integers(1, 12)), size + 1))
    rows[:, -1] = -rows[:, :-1] @ inner + rng.choice([0.0, 0.5], len(rows))
    maps = [rng.normal(size=(max(n, size), size + 1)) for _ in range(int(rng.integers(1, 3)))]
    found = nearest_in_floats(maps, rows)
    assert found is not None
    assert (rows[:, :-1] @ found + rows[:, -1]).min() > -1e-9
    best = heights(maps, found)
    others = [inner + step for step in rng.normal(size=(400, size)) * rng.choice([0.01, 0.3, 2.0], (400, 1))]
    for point in (p for p in others if (rows[:, :-1] @ p + rows[:, -1] >= 0).all()):
        for share in (1e-3, 0.1, 1.0):  # squares are convex: a nearer point would show on the way to it
            assert heights(maps, found + share * (point - found)) >= best * (1 - 1e-9)


def test_an_empty_polytope_has_none() -> None:
    rows = np.array([[1.0, -1.0], [-1.0, -1.0]])  # s >= 1 and s <= -1
    found = nearest_in_floats([np.array([[1.0, 0.0]])], rows)
    assert found is None or np.abs(found).max() > 1e6


@pytest.mark.parametrize("problem", ["local", "pseudo"])
def test_nearest_pairs_of_regions_in_norm_two(problem: str) -> None:
    """The exact bound and the exact pair meet."""
    met = 0
    for seed in range(12):
        if met > 20:
            break
        rng = np.random.default_rng(seed)
        setting = setting_of(residual(rng, 3, 4, scale=3.0), np.zeros(3), problem, "2")
        maps = ExactMaps(setting)
        points = sides(setting, rng.normal(size=(12, 3)) * 3)
        for first in points[:6]:
            for second in points[6:]:
                polytope = Coincidence(setting, maps, first, second)
                found = polytope.nearest()
                if found is None:
                    continue
                bound, pair = found
                assert bound <= pair.measure(Norm.TWO) <= bound * (1 + CLOSE)
                met += 1
    assert met > 5


@pytest.mark.rule("E-7")
def test_a_nearest_pair_is_not_looked_for_when_time_is_over() -> None:
    """s(x) = s(-x), on regions that do not both hold the centre."""
    setting = setting_of(ircert.load(square()), [2.0, 0.5], norm="2")
    first, second = sides(setting, np.array([[2.0, 0.5], [-2.0, -0.5]]))
    polytope = Coincidence(setting, ExactMaps(setting), first, second)
    assert polytope.nearest() is not None
    with pytest.raises(Undecided):
        polytope.nearest(goes_on=lambda: False)


def test_without_rows_the_nearest_point_is_that_of_the_map() -> None:
    """|(s - 3, 4)| is least at s = 3; the routine below must not be called without columns, which ends the process."""
    found = nearest_in_floats([np.array([[1.0, -3.0], [0.0, 4.0]])], np.zeros((0, 2)))
    assert found is not None
    assert found == pytest.approx([3.0])
