"""Distances from the centre: exact for segments and polygons, safe in floats for many."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from ircert.engines.regions.metric import approximate, nearest_of_polygon, nearest_of_segment, segment_distances
from ircert.geometry.norm import Norm

NORMS = tuple(Norm)


def point(*numbers: int) -> tuple[Fraction, ...]:
    return tuple(Fraction(v) for v in numbers)


@pytest.mark.parametrize(
    ("norm", "measure", "at"),
    [
        (Norm.INF, Fraction(3, 2), (Fraction(3, 2), Fraction(3, 2))),
        (Norm.ONE, 3, None),
        (Norm.TWO, Fraction(9, 2), None),
    ],
)
def test_the_nearest_point_of_a_segment(norm: Norm, measure: Fraction, at: tuple[Fraction, ...] | None) -> None:
    """x + y = 3 from (0, 3) to (3, 0)."""
    found, where = nearest_of_segment(point(0, 3), point(3, 0), norm)
    assert (found, norm.measure(where)) == (measure, measure)
    assert at is None or where == at


def test_ends_points_and_lines() -> None:
    for norm in NORMS:
        assert nearest_of_segment(point(2, 0), point(5, 0), norm)[1] == point(2, 0)
        assert nearest_of_segment(point(-1, 0), point(5, 0), norm)[0] == 0
        assert nearest_of_segment(point(1, 0), point(1, 0), norm)[0] == 1
    assert nearest_of_segment((Fraction(-2),), (Fraction(7),), Norm.INF) == (Fraction(0), (Fraction(0),))


@pytest.mark.parametrize("norm", NORMS)
def test_polygons_that_hold_the_centre_and_others(norm: Norm) -> None:
    around = [point(-1, -1), point(2, -1), point(0, 3)]
    assert nearest_of_polygon(around, norm)[0] == 0
    beside = [(x + 5, y) for x, y in around]
    assert nearest_of_polygon(beside, norm)[0] > 0
    corner = [point(0, 0), point(1, 0), point(0, 1)]
    assert nearest_of_polygon(corner, norm)[0] == 0


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e150])
def test_floats_bound_the_exact_distance(norm: Norm, scale: float) -> None:
    rng = np.random.default_rng(0)
    p, q = (scale * rng.uniform(-1, 1, (40, 2)) for _ in range(2))
    low, high = segment_distances(p, q, np.zeros(40), norm)
    for k in range(40):
        tail, head = (tuple(Fraction(v) for v in end[k].tolist()) for end in (p, q))
        exact, _ = nearest_of_segment(tail, head, norm)
        assert Fraction(float(low[k])) ** norm.power <= exact <= Fraction(float(high[k])) ** norm.power
    assert (high - low < 1e-9 * scale + 1e-290).all()


def test_fractions_beyond_floats() -> None:
    assert approximate(Fraction(10) ** 400) == np.inf
    assert approximate(-(Fraction(10) ** 400)) == -np.inf
    assert approximate(Fraction(1, 4)) == 0.25
