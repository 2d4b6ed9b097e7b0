"""Matrices of integers over one power of two: what products and sums of floats are, exactly."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpz, fmpz_mat

from ircert.ir.arrays import Array, Indices, Mask, Matrix
from ircert.ir.dyadic import integers
from ircert.ir.rational import Integers
from ircert.limits import checkpoint

BLOCK = 1 << 22
"""Products of numbers between two looks at the clock."""


@dataclass(frozen=True, eq=False)
class Dyadics:
    """The matrix numerators / 2^scale; the numerators are python-flint's integers."""

    numerators: Integers
    scale: int

    @staticmethod
    def of_floats(values: Array) -> Dyadics:
        """A matrix of floats, exactly."""
        numbers, scale = integers(values.ravel())
        return Dyadics(as_integers(map(fmpz, numbers), values.shape), scale)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.numerators.shape[0], self.numerators.shape[1]

    def rows(self, indices: Indices | Mask) -> Dyadics:
        """Some rows."""
        return Dyadics(self.numerators[indices], self.scale)

    def columns(self, indices: Indices | Mask) -> Dyadics:
        """Some columns."""
        return Dyadics(self.numerators[:, indices], self.scale)

    def scaled_to(self, scale: int) -> Integers:
        """The numerators over a larger power of two."""
        return self.numerators * fmpz(1 << (scale - self.scale))

    def residues(self, prime: int) -> Array:
        """The numerators modulo a prime (not what they are divided by)."""
        numbers = (int(v % prime) for v in self.numerators.ravel())
        return np.fromiter(numbers, dtype=np.float64, count=self.numerators.size).reshape(self.shape)

    def is_zero(self) -> bool:
        """Whether every number is 0."""
        return not bool(_nonzero(self.numerators).any())


def as_integers(numbers: Iterable[Any], shape: tuple[int, ...]) -> Integers:
    """python-flint's integers as an array of objects."""
    return np.fromiter(numbers, dtype=object, count=int(np.prod(shape))).reshape(shape)


def as_matrix(numbers: Integers) -> fmpz_mat:
    """An array of integers as a matrix of python-flint."""
    return fmpz_mat(*numbers.shape, numbers.ravel().tolist())


def product(a: Integers, b: Integers) -> Integers:
    """a @ b for matrices of integers."""
    rows, inner = a.shape
    right = as_matrix(b)
    parts = []
    count = max(1, BLOCK // max(1, inner * b.shape[1]))
    for start in range(0, rows, count):
        checkpoint()
        part = as_matrix(a[start : start + count]) * right
        parts.append(as_integers(part.entries(), (part.nrows(), part.ncols())))
    return np.concatenate(parts) if parts else np.zeros((0, b.shape[1]), dtype=object)


def _nonzero(numbers: Integers) -> Mask:
    return np.asarray(numbers != 0, dtype=bool)


class DyadicArithmetic:
    """The arithmetic of derivatives in integers over powers of two."""

    def of_floats(self, values: Array) -> Dyadics:
        """A matrix of floats."""
        return Dyadics.of_floats(values)

    def times(self, weight: Matrix, matrix: Dyadics) -> Dyadics:
        """weight @ matrix; what meets only zeros is never made an integer."""
        used = np.flatnonzero(_nonzero(matrix.numerators).any(axis=1))
        columns = weight[:, used]
        left = Dyadics.of_floats(columns if isinstance(columns, np.ndarray) else columns.toarray())
        return Dyadics(product(left.numerators, matrix.numerators[used]), left.scale + matrix.scale)

    def masked(self, matrix: Dyadics, on: Mask) -> Dyadics:
        """The rows that are on, and zeros."""
        return Dyadics(np.where(on[:, None], matrix.numerators, fmpz(0)), matrix.scale)

    def rows(self, matrix: Dyadics, indices: Indices) -> Dyadics:
        """Some rows."""
        return matrix.rows(indices)

    def spread(self, matrix: Dyadics, indices: Indices, size: int) -> Dyadics:
        """Zeros, with the rows of the matrix at these places."""
        whole = np.full((size, matrix.shape[1]), fmpz(0), dtype=object)
        whole[indices] = matrix.numerators
        return Dyadics(whole, matrix.scale)

    def signed(self, matrix: Dyadics, plus: Mask) -> Dyadics:
        """The rows, with a minus where there is no plus."""
        return Dyadics(np.where(plus[:, None], matrix.numerators, -matrix.numerators), matrix.scale)

    def stack(self, matrices: list[Dyadics]) -> Dyadics:
        """One below the other."""
        scale = max(m.scale for m in matrices)
        return Dyadics(np.concatenate([m.scaled_to(scale) for m in matrices]), scale)

    def total(self, matrices: list[Dyadics]) -> Dyadics:
        """Their sum."""
        scale = max(m.scale for m in matrices)
        numbers = [m.scaled_to(scale) for m in matrices]
        return Dyadics(sum(numbers[1:], numbers[0]), scale)
