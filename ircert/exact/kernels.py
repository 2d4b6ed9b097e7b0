"""Kernels and spans of matrices of integers: a prime says what to expect, integers prove it."""

from __future__ import annotations

import numpy as np
from flint import fmpz

from ircert.exact.dyadics import Dyadics, product
from ircert.exact.lifting import solve
from ircert.exact.residues import PRIMES, Echelon, echelon, rank
from ircert.ir.arrays import Array, Indices
from ircert.ir.rational import Integers
from ircert.limits import checkpoint


def null_vector(matrix: Dyadics) -> list[int] | None:
    """Integers v != 0 without a common factor of two and matrix v = 0, if its columns but one are independent.

    None if the kernel is no line. Undecided where the numbers would become too long.
    """
    table, exponents = _without_twos(matrix.numerators)
    for prime in PRIMES:
        found = echelon(_modulo(table, prime), prime)
        if found.rank == table.shape[1]:
            return None
        if found.rank == table.shape[1] - 1:
            short = _on_the_line(table, found, prime)
            if short is not None:
                return _scaled(short, exponents)
    return None


def _on_the_line(table: Integers, found: Echelon, prime: int) -> list[fmpz] | None:
    """The vector that is 1, up to a factor, in the only free column; None if the prime was misleading."""
    (free,) = found.free.tolist()
    vector = [fmpz(0)] * table.shape[1]
    vector[free] = fmpz(1)
    if found.rank:
        rows = _independent_rows(table[:, found.pivots], prime)
        solution = solve(table[np.ix_(rows, found.pivots)], -table[rows][:, [free]])
        if solution is None:
            return None
        vector[free] = solution.denominator
        for j, value in zip(found.pivots.tolist(), solution.numerators[:, 0], strict=True):
            vector[j] = value
    column = np.array([vector], dtype=object).T
    return None if any(product(table, column).ravel()) else vector


def _independent_rows(table: Integers, prime: int) -> Indices:
    return echelon(_modulo(table, prime).T, prime).pivots


def _modulo(table: Integers, prime: int) -> Array:
    checkpoint()
    numbers = (int(v % prime) for v in table.ravel())
    return np.fromiter(numbers, dtype=np.float64, count=table.size).reshape(table.shape)


def _without_twos(table: Integers) -> tuple[Integers, list[int]]:
    """The table with powers of two taken out of each row and then each column, and the exponents of the columns.

    The kernel does not mind the rows; numbers get as short as the exponents of the floats allow.
    """
    rows = np.array([row // fmpz(1 << _twos(row)) for row in table], dtype=object).reshape(table.shape)
    exponents = [_twos(column) for column in rows.T]
    columns = [column // fmpz(1 << k) for column, k in zip(rows.T, exponents, strict=True)]
    return np.array(columns, dtype=object).reshape(table.T.shape).T, exponents


def _twos(numbers: Integers) -> int:
    """How often 2 divides all of them; 0 if they are all 0."""
    together = 0
    for v in numbers:
        together |= int(v)
    return (together & -together).bit_length() - 1 if together else 0


def _scaled(vector: list[fmpz], exponents: list[int]) -> list[int]:
    """The vector v with v_j 2^exponents_j proportional to the given one."""
    top = max(exponents)
    numbers = [int(v) << (top - k) for v, k in zip(vector, exponents, strict=True)]
    together = 0
    for number in numbers:
        together |= number
    twos = (together & -together).bit_length() - 1
    return [number >> twos for number in numbers]


def seem_spanned(first: Array, second: Array) -> bool:
    """Whether modulo a prime every row of the second matrix of residues is a combination of rows of the first."""
    prime = PRIMES[0]
    return rank(np.concatenate([first, second]), prime) == rank(first, prime)


def spans(first: Dyadics, second: Dyadics) -> bool:
    """Whether every row of the second matrix is a combination of rows of the first: proved by the combinations.

    So the second one vanishes on the kernel of the first. False says nothing; Undecided where numbers get too long.
    """
    prime = PRIMES[0]
    found = echelon(first.residues(prime), prime)
    if found.rank == first.shape[1] or second.is_zero():
        return True
    if not seem_spanned(found.table, second.residues(prime)):
        return False
    rows = _independent_rows(first.numerators[:, found.pivots], prime)
    chosen = first.rows(rows)
    solution = solve(chosen.columns(found.pivots).numerators.T, second.columns(found.pivots).numerators.T)
    if solution is None:
        return False
    made = product(solution.numerators.T, chosen.numerators)
    return bool((made == second.numerators * solution.denominator).all())
