"""Principal minors: what is said of them holds for exact determinants of all matrices within the errors."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ircert.bounds.principal_minors import Enclosed, are_positive, signs, taken
from tests.engines.boxes.making import determinant

EIGHTHS = st.integers(-16, 16).map(lambda v: v / 8)


@st.composite
def matrices(draw: st.DrawFn) -> Any:
    n = draw(st.integers(0, 4))
    found = np.array(draw(st.lists(EIGHTHS, min_size=n * n, max_size=n * n)), dtype=float).reshape(n, n)
    return found + draw(st.sampled_from([0.0, 1.0, 4.0])) * np.eye(n)


def certain(matrix: Any, error: float = 0.0) -> Enclosed:
    return Enclosed(matrix[None], np.full((1, *matrix.shape), error))


def exact(matrix: Any) -> list[list[Fraction]]:
    return [[Fraction(v) for v in row] for row in matrix.tolist()]


def subsets(n: int) -> Iterator[tuple[int, ...]]:
    return chain.from_iterable(combinations(range(n), k) for k in range(n + 1))


def minor(matrix: Any, rows: tuple[int, ...]) -> Fraction:
    return determinant([[row[j] for j in rows] for row in (exact(matrix)[i] for i in rows)])


def sign(value: Fraction) -> int:
    return (value > 0) - (value < 0)


@given(matrices())
def test_signs_are_those_of_exact_minors(matrix: Any) -> None:
    table = signs(certain(matrix))
    assert table.shape == (2,) * len(matrix)
    for rows in subsets(len(matrix)):
        found = int(table[tuple(int(i in rows) for i in range(len(matrix)))])
        assert found in (0, sign(minor(matrix, rows)))


@given(matrices())
def test_positive_means_all_of_them(matrix: Any) -> None:
    least = min(minor(matrix, rows) for rows in subsets(len(matrix)))
    assert not (are_positive(certain(matrix)) and least <= 0)
    assert are_positive(certain(matrix)) or least < Fraction(1, 10**6), "eighths leave nothing between"


@given(matrices(), st.integers(0, 4))
def test_rows_that_are_taken(matrix: Any, rows: int) -> None:
    """Minors of what is left are quotients of minors of the whole."""
    rows = min(rows, len(matrix))
    left = taken(certain(matrix), rows)
    if left is None:
        return
    first = minor(matrix, tuple(range(rows)))
    assert first != 0
    for k in range(len(matrix) - rows):
        quotient = minor(matrix, (*range(rows), rows + k)) / first
        assert abs(Fraction(left.values[0, k, k]) - quotient) <= Fraction(left.errors[0, k, k])


@settings(deadline=None)
@given(matrices(), st.sampled_from([2.0**-40, 2.0**-6, 0.25]), st.randoms(use_true_random=False))
def test_errors_hold_for_all_matrices_within(matrix: Any, error: float, random: Any) -> None:
    table, positive = signs(certain(matrix, error)), are_positive(certain(matrix, error))
    other = matrix + error * np.array([[random.choice([-1, 0, 1]) for _ in row] for row in matrix]).reshape(
        matrix.shape
    )
    for rows in subsets(len(matrix)):
        side = sign(minor(other, rows))
        assert int(table[tuple(int(i in rows) for i in range(len(matrix)))]) in (0, side)
        assert not positive or side > 0


def test_a_diagonal_that_dominates_needs_no_branches() -> None:
    size = 64
    matrix = 2.0 * np.eye(size) + np.full((size, size), 1.0 / size)
    assert are_positive(certain(matrix))
    assert not are_positive(certain(matrix - 4.0 * np.diag(np.arange(size) == 5).astype(float)))


def test_too_many_branches_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    half = rng.normal(size=(10, 10))
    matrix = half - half.T + 0.5 * np.eye(10)  # x·N x > 0: all principal minors are positive
    assert are_positive(certain(matrix))
    monkeypatch.setattr("ircert.bounds.principal_minors.MOST", 500)
    assert not are_positive(certain(matrix))


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
def test_numbers_at_the_ends_of_the_floats(scale: float) -> None:
    """Where products leave the range of floats, nothing wrong is said."""
    matrix = scale * np.array([[1.0, 2.0, 0.5], [3.0, 1.0, 0.25], [-1.0, 0.5, 1.0]])
    assert not are_positive(certain(matrix))
    assert int(signs(certain(matrix))[1, 1, 0]) <= 0


def test_a_quotient_that_underflows_beside_a_pivot_that_may_be_small() -> None:
    """p in [2^7, 2^61], a - c r / p: the quotient r / p is 0 in floats, and c r / p is larger than a at the least p."""
    p, c, r, a = 2.0**60, 2.0**1000, 2.0**-1020, 2.0**-30
    values, errors = np.array([[[p, r], [c, a]]]), np.array([[[p - 2.0**7, 0.0], [0.0, 0.0]]])
    assert Fraction(a) < Fraction(c) * Fraction(r) / 2**7
    assert not are_positive(Enclosed(values, errors))
    assert not (signs(Enclosed(values, errors))[1, 1] > 0)
