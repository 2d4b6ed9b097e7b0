from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import fmpz
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from ircert.exact import lifting
from ircert.exact.residues import BLOCK, PRIMES, Residues, echelon, has_full_rank, product, rank, reduced, residues
from ircert.ir.arrays import Array
from ircert.limits import Deadline, OutOfTime, until
from tests.exact import fractions
from tests.exact.matrices import columns_of, matrices
from tests.ir.test_dyadic import MIXED


def test_the_primes_are_primes_and_small_enough() -> None:
    assert all(fmpz(p).is_prime() for p in (*PRIMES, *lifting.PRIMES))
    assert all(BLOCK * (p - 1) ** 2 < 2**53 for p in PRIMES)
    assert all(p < 2**64 for p in lifting.PRIMES)


@given(st.lists(MIXED, min_size=1, max_size=5), st.sampled_from(PRIMES))
def test_floats_have_residues(values: list[float], prime: int) -> None:
    for value, residue in zip(values, residues(np.array(values), prime).tolist(), strict=True):
        exact = Fraction(value)
        assert 0 <= residue < prime
        assert (int(residue) * exact.denominator - exact.numerator) % prime == 0


@given(st.lists(st.integers(0, 2**53), min_size=1, max_size=20), st.sampled_from(PRIMES))
def test_reduction(values: list[int], prime: int) -> None:
    assert reduced(np.array(values, dtype=np.float64), prime).tolist() == [v % prime for v in values]


@pytest.mark.parametrize("inner", [1, BLOCK, BLOCK + 1, 3 * BLOCK])
def test_products_of_the_largest_residues_do_not_round(inner: int) -> None:
    prime = PRIMES[0]
    ones = np.full((2, inner), prime - 1.0)
    assert (product(ones, ones.T, prime) == inner % prime).all()
    assert (product(csr_array(ones), ones.T, prime) == inner % prime).all()


@given(matrices(), matrices(), st.booleans())
def test_products_are_those_of_the_floats(a: Array, b: Array, sparse: bool) -> None:
    ring, inner = Residues(), min(a.shape[1], b.shape[0])
    a, b = a[:, :inner], b[:inner]
    given_weight: Any = csr_array(a) if sparse else a
    found = ring.times(given_weight, ring.of_floats(b))
    for i, row in enumerate(a.tolist()):
        for j, column in enumerate(b.T.tolist()):
            exact = sum((Fraction(x) * Fraction(y) for x, y in zip(row, column, strict=True)), Fraction(0))
            assert (int(found[i, j]) * exact.denominator - exact.numerator) % ring.prime == 0


@given(matrices())
def test_echelon_forms(matrix: Array) -> None:
    prime = PRIMES[0]
    there = residues(matrix, prime)
    found = echelon(there, prime)
    assert found.rank == rank(there, prime) == fractions.rank(columns_of(matrix))
    assert sorted([*found.pivots, *found.free]) == list(range(matrix.shape[1]))
    made = product(there[:, found.pivots], found.coefficients, prime)
    assert np.array_equal(made, there[:, found.free])


@pytest.mark.rule("IA-3")
@given(matrices())
def test_full_rank_modulo_a_prime_is_full_rank(matrix: Array) -> None:
    assert has_full_rank(matrix) == (fractions.rank(columns_of(matrix)) == matrix.shape[1])


def test_a_rank_that_one_prime_hides() -> None:
    prime = PRIMES[0]
    assert rank(residues(np.array([[float(prime)]]), prime), prime) == 0
    assert has_full_rank(np.array([[float(prime)]]))
    assert not has_full_rank(np.zeros((2, 1)))


def test_the_deadline_is_asked() -> None:
    for action in (lambda: echelon(np.eye(2), PRIMES[0]), lambda: product(np.eye(2), np.eye(2), PRIMES[0])):
        with until(lambda: True), pytest.raises(OutOfTime):
            action()


def test_an_elimination_that_takes_longer_than_is_left_is_not_begun() -> None:
    with until(Deadline(1e-3)):
        assert rank(np.eye(3), PRIMES[0]) == 3
        with pytest.raises(OutOfTime):
            rank(np.zeros((300, 300)), PRIMES[0])
        with pytest.raises(OutOfTime):
            echelon(np.zeros((300, 300)), PRIMES[0])
