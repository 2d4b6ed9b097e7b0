"""Linear programs decided exactly: optima, thresholds, and programs without a point."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from ircert.exact.linear_program import Program, maximise
from tests.exact.tables import TRIANGLE, row, rows_of


def test_the_optimum_is_an_exact_vertex() -> None:
    found = Program(TRIANGLE).maximise(row(1, 1))
    assert found is not None
    assert (found.value, found.point) == (Fraction(6), [Fraction(6), Fraction(0)])
    found = Program(TRIANGLE).maximise(row(1, 2))
    assert found is not None
    assert (found.value, found.point) == (Fraction(8), [Fraction(0), Fraction(4)])


def test_a_basis_of_other_limits_is_confirmed_without_floats(monkeypatch: pytest.MonkeyPatch) -> None:
    first = Program(TRIANGLE).maximise(row(1, 2))
    assert first is not None
    wider = Program(replace(TRIANGLE, limits=TRIANGLE.limits * 3))
    monkeypatch.setattr(Program, "_floats", None)
    found = wider.maximise(row(1, 2), start=first.basis)
    assert found is not None
    assert (found.value, found.point, found.basis) == (3 * first.value, [3 * v for v in first.point], first.basis)


def test_weights_say_how_the_value_grows_with_limits() -> None:
    best = Program(TRIANGLE).maximise(row(1, 2))
    assert best is not None
    assert best.basis is not None
    assert best.weights is not None
    for at, weight in zip(best.basis, best.weights, strict=True):
        more = TRIANGLE.limits.copy()
        more[at] = more[at] + 1
        grown = Program(replace(TRIANGLE, limits=more)).maximise(row(1, 2))
        assert grown is not None
        assert float(grown.value - best.value) == pytest.approx(weight)


@pytest.mark.parametrize("start", [*product(range(7), repeat=2), (), (0,), (0, 1, 2)])
def test_no_basis_misleads(start: tuple[int, ...]) -> None:
    found = Program(TRIANGLE).maximise(row(1, 2), start=list(start))
    assert found is not None
    assert (found.value, found.point) == (Fraction(8), [Fraction(0), Fraction(4)])


@pytest.mark.parametrize("shift", [0, 60, 900, 2000])
def test_numbers_that_floats_do_not_hold(shift: int) -> None:
    """x <= 1/3 + 2^-shift: the last digit counts."""
    found = Program(rows_of([[3 << shift], [-1]], [(1 << shift) + 3, 0])).maximise(row(1))
    assert found is not None
    assert found.value == Fraction((1 << shift) + 3, 3 << shift)


def test_above_a_threshold_or_not() -> None:
    program = Program(TRIANGLE)
    point = program.above(row(1, 0), 5)
    assert point is not None
    assert 5 < point[0] <= 6
    assert program.above(row(1, 0), 6) is None
    assert not program.empty


def test_a_program_without_a_point() -> None:
    program = Program(rows_of([[1, 1], [-1, 0], [0, -1]], [-1, 0, 0]))
    assert program.maximise(row(1, 0)) is None
    assert program.empty
    assert program.above(row(1, 0), -99) is None


def test_rows_without_numbers_are_true_or_leave_nothing() -> None:
    assert not Program(rows_of([[0], [1]], [0, 1])).empty
    assert Program(rows_of([[0], [1]], [-1, 1])).empty
    assert Program(rows_of([[0], [1]], [1, 1], [True, False])).empty


def test_equations_and_added_rows() -> None:
    program = Program(rows_of([[1, 1], [-1, 0], [0, -1]], [10, 0, 0], [True, False, False]))
    first = program.maximise(row(1, 0))
    assert first is not None
    assert first.point == [10, 0]
    program.add(rows_of([[3, -1]], [2]))
    second = program.maximise(row(1, 0))
    assert second is not None
    assert second.point == [3, 7]


def test_bounds_hold_without_being_tight() -> None:
    most = Program(TRIANGLE).bound(row(1, 1), Fraction(100))
    assert most is not None
    assert 6 <= most < Fraction(6) + Fraction(1, 1000)


@pytest.mark.parametrize("seed", range(12))
def test_against_all_vertices(seed: int) -> None:
    """Two variables: the optimum is the best crossing of two rows that satisfies all of them."""
    rng = np.random.default_rng(seed)
    table = [[1, 0], [-1, 0], [0, 1], [0, -1], *rng.integers(-9, 10, (4, 2)).tolist()]
    limits = [20, 20, 20, 20, *rng.integers(-5, 30, 4).tolist()]
    cost = rng.integers(-9, 10, 2).tolist()
    best: Fraction | None = None
    for i, j in zip(*np.triu_indices(len(table), 1), strict=True):
        (a, b), (c, d) = table[i], table[j]
        if det := a * d - b * c:
            x = Fraction(limits[i] * d - b * limits[j], det), Fraction(a * limits[j] - limits[i] * c, det)
            if all(p * x[0] + q * x[1] <= h for (p, q), h in zip(table, limits, strict=True)):
                value = cost[0] * x[0] + cost[1] * x[1]
                best = value if best is None else max(best, value)
    found = maximise(row(*cost), np.array([row(*line) for line in table], dtype=object), row(*limits))
    assert (None if found is None else found.value) == best
