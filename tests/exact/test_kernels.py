from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpz
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from ircert.exact.dyadics import DyadicArithmetic, Dyadics
from ircert.exact.kernels import null_vector, seem_spanned, spans
from ircert.exact.residues import PRIMES, residues
from ircert.ir.arrays import Array
from tests.exact import fractions
from tests.exact.matrices import columns_of, matrices


def values(matrix: Dyadics) -> list[list[Fraction]]:
    return [[Fraction(int(v), 1 << matrix.scale) for v in row] for row in matrix.numerators]


def rationals(matrix: Array) -> list[list[Fraction]]:
    return [[Fraction(v) for v in row] for row in matrix.tolist()]


@pytest.mark.rule("IA-3")
@given(matrices(4, 5))
def test_null_vectors(matrix: Array) -> None:
    columns = columns_of(matrix)
    basis = fractions.kernel(columns)
    found = null_vector(Dyadics.of_floats(matrix))
    assert (found is not None) == (len(basis) == 1)
    if found is not None:
        assert any(v % 2 for v in found)
        assert not any(fractions.combined(columns, [Fraction(v) for v in found]))
        ratio = next(Fraction(a) / b for a, b in zip(found, basis[0], strict=True) if b)
        assert [Fraction(v) for v in found] == [ratio * b for b in basis[0]]


def test_a_null_vector_is_as_short_as_the_exponents_allow() -> None:
    """Powers of two in rows and columns cost nothing."""
    matrix = np.array([[3.0, 5.0, 7.0], [1.0, 4.0, 9.0]])
    plain = null_vector(Dyadics.of_floats(matrix))
    rows = null_vector(Dyadics.of_floats(matrix * [[2.0**-900], [2.0**700]]))
    assert plain == rows
    columns = null_vector(Dyadics.of_floats(matrix * [2.0**-300, 1.0, 2.0**300]))
    assert plain is not None
    assert columns == [plain[0] << 600, plain[1] << 300, plain[2]]


def test_a_prime_that_misleads() -> None:
    """Dependent modulo the first prime alone: no vector; dependent for sure, but twice so modulo that prime: found."""
    prime = float(PRIMES[0])
    assert null_vector(Dyadics.of_floats(np.array([[prime, 0.0], [0.0, 1.0]]))) is None
    assert null_vector(Dyadics.of_floats(np.array([[prime, 0.0, prime], [0.0, 1.0, 1.0]]))) in ([1, 1, -1], [-1, -1, 1])


@pytest.mark.rule("IA-3")
@given(matrices(3, 4), matrices(3, 4), st.booleans(), st.data())
def test_spans(first: Array, second: Array, made: bool, data: st.DataObject) -> None:
    if made:
        small = st.integers(-3, 3).map(float)
        factors = data.draw(st.lists(st.lists(small, min_size=len(first), max_size=len(first)), min_size=1, max_size=3))
        first = np.round(np.clip(first, -16, 16) * 4)
        second = np.array(factors) @ first
    width = min(first.shape[1], second.shape[1])
    first, second = first[:, :width], second[:, :width]
    both = columns_of(np.concatenate([first, second]))
    expected = fractions.rank(both) == fractions.rank(columns_of(first))
    assert spans(Dyadics.of_floats(first), Dyadics.of_floats(second)) == expected
    assert seem_spanned(residues(first, PRIMES[0]), residues(second, PRIMES[0])) == expected


@pytest.mark.rule("IA-3")
def test_what_a_prime_alone_says_is_no_span() -> None:
    """The rows agree modulo the prime, and not otherwise."""
    first, second = np.array([[1.0, 1.0]]), np.array([[1.0, 1.0 + PRIMES[0]]])
    assert seem_spanned(residues(first, PRIMES[0]), residues(second, PRIMES[0]))
    assert not spans(Dyadics.of_floats(first), Dyadics.of_floats(second))


@given(matrices(), matrices(), st.booleans())
def test_the_arithmetic_of_dyadic_numbers(a: Array, b: Array, sparse: bool) -> None:
    exact, inner = DyadicArithmetic(), min(a.shape[1], b.shape[0])
    a, b = a[:, :inner], b[:inner]
    product = values(exact.times(csr_array(a) if sparse else a, exact.of_floats(b)))
    by_column = [fractions.combined(columns_of(a), column) for column in rationals(b.T)]
    assert product == [list(row) for row in zip(*by_column, strict=True)]
    whole = exact.of_floats(b)
    on = np.arange(len(b)) % 2 == 0
    assert values(exact.masked(whole, on)) == rationals(b * on[:, None])
    assert values(exact.signed(whole, on)) == rationals(np.where(on[:, None], b, -b))
    assert values(exact.rows(whole, np.array([0, 0]))) == rationals(b[[0, 0]])
    assert values(exact.spread(whole, np.arange(1, len(b) + 1), len(b) + 2)) == rationals(np.pad(b, ((1, 1), (0, 0))))
    assert values(exact.stack([whole, exact.of_floats(b / 4)])) == rationals(np.concatenate([b, b / 4]))
    sums = [[x + y for x, y in zip(*rows, strict=True)] for rows in zip(rationals(b), rationals(b / 4), strict=True)]
    assert values(exact.total([whole, exact.of_floats(b / 4)])) == sums


def test_zeros_are_zeros() -> None:
    assert Dyadics.of_floats(np.zeros((2, 2))).is_zero()
    assert not Dyadics.of_floats(np.array([[0.0, 2.0**-1074]])).is_zero()
    assert Dyadics.of_floats(np.array([[0.75]])).numerators[0, 0] == fmpz(3)


@pytest.mark.parametrize("size", [3, 40])
def test_many_columns(size: int) -> None:
    matrix = np.random.default_rng(size).normal(size=(size, size + 1))
    found = null_vector(Dyadics.of_floats(matrix))
    assert found is not None
    assert not any(fractions.combined(columns_of(matrix), [Fraction(v) for v in found]))
