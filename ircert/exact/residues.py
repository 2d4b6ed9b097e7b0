"""Matrices modulo a prime, as floats that hold integers: products without rounding, and ranks that are ranks for sure.

Floats are integers over powers of two, and 2 has an inverse modulo an odd prime, so each of them has a residue. Columns
that are independent modulo the prime are independent; columns that are dependent may be so modulo this prime only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from flint import nmod_mat

from ircert.ir.arrays import Array, Indices, Mask, Matrix, nonzeros
from ircert.ir.dyadic import LOWEST_EXPONENT, decompose
from ircert.limits import OutOfTime, checkpoint, left

PRIMES = (2097143, 2097133, 2097131)
"""Below 2^21: 2048 products of two residues add up to less than 2^53."""
BLOCK = 2048
ENTRY, STEP = 2e-7, 1e-10
"""About the seconds that an elimination takes: for each number, and for each product."""


@cache
def _powers(prime: int) -> Indices:
    """2^e modulo the prime, for every exponent e of a float."""
    powers = [pow(2, LOWEST_EXPONENT, prime)]
    while len(powers) < 1024 - LOWEST_EXPONENT:
        powers.append(2 * powers[-1] % prime)
    return np.array(powers)


def residues(values: Array, prime: int) -> Array:
    """Floats modulo a prime."""
    mantissa, exponent = decompose(values)
    found = mantissa % prime * _powers(prime)[exponent - LOWEST_EXPONENT] % prime
    return found.astype(np.float64)


def reduced(sums: Array, prime: int) -> Array:
    """Integers from 0 to 2^53, as floats, modulo the prime."""
    rest = sums - prime * np.floor(sums * (1.0 / prime))
    rest[rest < 0] += prime  # the quotient may be one too large, or too small
    rest[rest >= prime] -= prime
    return rest


def product(a: Matrix, b: Array, prime: int) -> Array:
    """a @ b modulo the prime."""
    total = np.zeros((a.shape[0], b.shape[1]))
    for start in range(0, a.shape[1], BLOCK):
        checkpoint()
        total += reduced(a[:, start : start + BLOCK] @ b[start : start + BLOCK], prime)
    return reduced(total, prime)


@dataclass(frozen=True)
class Echelon:
    """A reduced echelon form: the unit vectors stand in the columns `pivots`; the others are `free`."""

    table: Array
    pivots: Indices
    free: Indices

    @property
    def rank(self) -> int:
        """The rank modulo the prime, which the rank over the rationals is at least."""
        return len(self.pivots)

    @property
    def coefficients(self) -> Array:
        """How each free column is made of the pivots': columns[:, free] = columns[:, pivots] @ coefficients."""
        return self.table[:, self.free]


def _begin(rows: int, columns: int) -> None:
    """Raise OutOfTime where an elimination, which cannot be interrupted, would take longer than is left."""
    checkpoint()
    if left() < rows * columns * (ENTRY + STEP * min(rows, columns)):
        raise OutOfTime


def echelon(matrix: Array, prime: int) -> Echelon:
    """The reduced echelon form modulo the prime; the leftmost independent columns are its pivots."""
    rows, columns = matrix.shape
    _begin(rows, columns)
    if not matrix.any():
        return Echelon(np.zeros((0, columns)), np.zeros(0, dtype=np.int64), np.arange(columns))
    flat, rank = nmod_mat(rows, columns, matrix.astype(np.int64).ravel().tolist(), prime).rref()
    count = rank * columns
    table = np.fromiter(map(int, flat.entries()[:count]), dtype=np.float64, count=count).reshape(rank, columns)
    pivots: Indices = (table != 0).argmax(axis=1)
    return Echelon(table, pivots, np.setdiff1d(np.arange(columns), pivots))


def rank(matrix: Array, prime: int) -> int:
    """The rank modulo the prime, which the rank over the rationals is at least."""
    rows, columns = matrix.shape
    _begin(rows, columns)
    return int(nmod_mat(rows, columns, matrix.astype(np.int64).ravel().tolist(), prime).rank())


def has_full_rank(values: Array) -> bool:
    """Whether the columns of a float matrix are independent modulo a prime, and so for sure; False says nothing."""
    if values.shape[0] < values.shape[1]:
        return False
    return any(rank(residues(values, prime), prime) == values.shape[1] for prime in PRIMES)


class Floats:
    """The arithmetic of floats, which proves nothing."""

    def of_floats(self, values: Array) -> Array:
        """The same."""
        return values

    def times(self, weight: Matrix, matrix: Array) -> Array:
        """weight @ matrix."""
        return np.asarray(weight @ matrix)

    def masked(self, matrix: Array, on: Mask) -> Array:
        """The rows that are on, and zeros."""
        return matrix * on[:, None]

    def rows(self, matrix: Array, indices: Indices) -> Array:
        """Some rows."""
        return matrix[indices]

    def spread(self, matrix: Array, indices: Indices, size: int) -> Array:
        """Zeros, with the rows of the matrix at these places."""
        whole = np.zeros((size, matrix.shape[1]))
        whole[indices] = matrix
        return whole

    def signed(self, matrix: Array, plus: Mask) -> Array:
        """The rows, with a minus where there is no plus."""
        return np.where(plus[:, None], matrix, -matrix)

    def stack(self, matrices: list[Array]) -> Array:
        """One below the other."""
        return np.concatenate(matrices)

    def total(self, matrices: list[Array]) -> Array:
        """Their sum."""
        return np.sum(matrices, axis=0)


class Residues(Floats):
    """The arithmetic of derivatives modulo a prime: matrices, a row for each neuron."""

    def __init__(self, prime: int = PRIMES[0]) -> None:
        self.prime = prime

    def of_floats(self, values: Array) -> Array:
        """A matrix of floats."""
        return residues(values, self.prime)

    def times(self, weight: Matrix, matrix: Array) -> Array:
        """weight @ matrix."""
        if isinstance(weight, np.ndarray):
            used = matrix.any(axis=1)
            return product(residues(weight[:, used], self.prime), matrix[used], self.prime)
        sparse = nonzeros(weight).copy()
        sparse.data = residues(sparse.data, self.prime)
        return product(sparse, matrix, self.prime)

    def signed(self, matrix: Array, plus: Mask) -> Array:
        """The rows, with a minus where there is no plus."""
        return np.where(plus[:, None], matrix, reduced(self.prime - matrix, self.prime))

    def total(self, matrices: list[Array]) -> Array:
        """Their sum."""
        return reduced(np.sum(matrices, axis=0), self.prime)
