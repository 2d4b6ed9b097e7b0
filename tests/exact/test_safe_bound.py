"""Bounds from rough weights: never below the optimum, whatever the weights."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from ircert.exact.safe_bound import Box, bound, contradiction
from tests.exact.tables import TRIANGLE, row, rows_of

BOX = Box.of(TRIANGLE, Fraction(10))
NOTHING = np.zeros(3, dtype=np.int64)


def test_boxes_come_from_rows_with_one_number() -> None:
    assert BOX.lower == [0, 0]
    assert BOX.upper == [10, 10]
    assert Box.of(TRIANGLE).upper == [None, None]
    tight = Box.of(rows_of([[2, 0], [4, 0], [0, -3], [0, 5]], [5, 4, 6, 1], [False, False, False, True]))
    assert (tight.lower, tight.upper) == ([None, Fraction(1, 5)], [1, Fraction(1, 5)])


def test_the_most_of_a_form_on_a_box() -> None:
    assert BOX.most(row(2, -3)) == 20
    assert Box.of(TRIANGLE).most(row(-1, -1)) == 0
    assert Box.of(TRIANGLE).most(row(1, 0)) is None


@pytest.mark.parametrize("weight", [0.5, 0.25, 0.51, 0.0, 3.0])
def test_any_weights_bound_the_optimum(weight: float) -> None:
    """max x + y is 6; the weight 1/2 of the third row proves it."""
    most = bound(TRIANGLE, BOX, row(1, 1), np.array([0.0, 0.0, weight]), NOTHING, 0)
    assert most is not None
    assert most >= 6
    if weight == 0.5:
        assert most == 6


def test_without_a_box_and_with_bad_weights_nothing_is_known() -> None:
    assert bound(TRIANGLE, Box.of(TRIANGLE), row(1, 1), np.zeros(3), NOTHING, 0) is None


@pytest.mark.parametrize(("limit", "empty"), [(-1, True), (0, False), (1, False)])
def test_a_contradiction_is_shown_by_weights_of_either_sign(limit: int, empty: bool) -> None:
    """x + y <= limit where x, y >= 0."""
    rows = rows_of([[-1, 0], [0, -1], [1, 1]], [0, 0, limit])
    for sign in (1.0, -1.0):
        assert contradiction(rows, Box.of(rows, Fraction(5)), sign * np.array([0.0, 0.0, 1.0]), NOTHING) is empty
