"""Square systems of integers, solved exactly: light rows by substitution, the rest by p-adic lifting (python-flint).

Ranks are taken modulo a prime. A rank over the integers is at least as large: rows that are independent modulo the
prime are independent, which is all that is claimed; rows that are not may be all the same.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
from flint import fmpz_mat, nmod_mat

from ircert.exact.rows import Rows, Solution
from ircert.ir.arrays import Array, Indices
from ircert.ir.dyadic import integers
from ircert.ir.rational import Integers, integer_array, integer_type
from ircert.limits import Undecided, checkpoint, left

PRIME = 2**61 - 1
LIGHT = 2
"""Nonzeros of a row that is used to substitute one variable."""
LONGEST = 1.5
"""Seconds that one call may take which cannot be interrupted."""
STEP = 2e-8
"""Seconds for each word of each number, cubed in the size of a system: about twice what it takes."""


def predicted(size: int, bits: int) -> float:
    """Seconds that a system of that size with numbers of so many bits takes."""
    return STEP * size**3 * (1 + bits / 64) ** 2


def predicted_rank(rows: int, columns: int) -> float:
    """Seconds that a rank modulo a prime takes, and reading the numbers."""
    return 1e-6 * rows * columns + 1e-9 * rows * columns * min(rows, columns)


def must_fit(seconds: float) -> None:
    """Undecided where what cannot be interrupted would take too long."""
    checkpoint()
    if seconds > min(LONGEST, left()):
        raise Undecided


def flint_table(table: Integers) -> fmpz_mat:
    """The same table in python-flint."""
    return fmpz_mat(*table.shape, [int(v) for v in table.ravel()])


def largest_bits(table: Integers) -> int:
    """The length of the longest number."""
    return max((v.bit_length() for v in table.ravel()), default=0)


def independent(rows: Rows) -> list[int]:
    """Rows that are independent for sure, each taken that is independent of those before it modulo a prime."""
    must_fit(predicted_rank(len(rows), rows.width))
    reduced, rank = nmod_mat(flint_table(rows.dense().T), PRIME).rref()
    found = reduced.tolist()[:rank]
    return [next(j for j, v in enumerate(row) if int(v)) for row in found]


def full_rank(table: Integers) -> bool:
    """Whether the columns are independent, for sure; False says nothing."""
    must_fit(predicted_rank(*table.shape))
    return bool(nmod_mat(flint_table(table), PRIME).rank() == table.shape[1])


class Square:
    """A square matrix G given by rows: solves G x = b and y G = c. Undecided where that would take too long.

    Rows with at most two numbers have a pivot each: D x_J + F x_K = b, D diagonal. What is left is the complement
    S = Q - P D^-1 F of the other rows [P Q] in the other columns K.
    """

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self._pick()
        self._read_light()
        core = rows.take(self._core).dense()
        self._left = core[:, self._pivots]  # P
        self._complement = core[:, self._others] * self._factor
        for column, at in self._bent:
            self._complement[:, column] = self._complement[:, column] - self._left[:, at].dot(self._slopes[at])

    def _pick(self) -> None:
        """Light rows and their pivots: no pivot stands in another light row."""
        rows = self.rows
        short = np.flatnonzero(rows.lengths <= LIGHT)
        places = [rows.columns[rows.starts[i] : rows.starts[i + 1]].tolist() for i in short]
        seen = np.bincount(np.concatenate([*places, []]).astype(np.int64), minlength=rows.width)
        light: dict[int, int] = {}
        kept: set[int] = set()
        for i, columns in sorted(zip(short.tolist(), places, strict=True), key=lambda item: len(item[1])):
            columns = sorted(columns, key=seen.__getitem__)
            if not columns or columns[0] in kept or any(j in light for j in columns):
                continue
            light[columns[0]] = i
            kept.update(columns[1:])
        self._pivots = np.array(list(light), dtype=np.int64)
        self._light = np.array(list(light.values()), dtype=np.int64)
        self._others = np.delete(np.arange(rows.width), self._pivots)
        self._core = np.delete(np.arange(len(rows)), self._light)

    def _read_light(self) -> None:
        """D, F (one number in a row: at column `_partner` of K), and F D^-1 times a common factor."""
        kind, rows, count = integer_type(), self.rows, len(self._light)
        self._diagonal, self._beside = (np.full(count, kind(v), dtype=object) for v in (1, 0))
        self._partner = np.zeros(count, dtype=np.int64)
        for r, (i, pivot) in enumerate(zip(self._light, self._pivots, strict=True)):
            for place in range(rows.starts[i], rows.starts[i + 1]):
                if rows.columns[place] == pivot:
                    self._diagonal[r] = rows.numbers[place]
                else:
                    self._partner[r] = np.searchsorted(self._others, rows.columns[place])
                    self._beside[r] = rows.numbers[place]
        bent = np.flatnonzero(self._beside != 0)
        self._common = kind(math.lcm(*(int(v) for v in self._diagonal)))
        self._factor = kind(math.lcm(*(int(v) for v in self._diagonal[bent])))
        self._slopes = np.full(count, kind(0), dtype=object)
        self._slopes[bent] = self._beside[bent] * (self._factor // self._diagonal[bent])
        self._bent = [(j, bent[self._partner[bent] == j]) for j in np.unique(self._partner[bent])]

    @cached_property
    def regular(self) -> bool:
        """Whether it has an inverse, for sure."""
        size = len(self._core)
        must_fit(predicted_rank(size, size))
        return not size or nmod_mat(self._stripped[0], PRIME).rank() == size

    @property
    def seconds(self) -> float:
        """What solving a system takes, about."""
        return predicted(len(self._core), self._stripped[3]) if len(self._core) else 0.0

    @cached_property
    def _stripped(self) -> tuple[fmpz_mat, Indices, Indices, int]:
        """S without the powers of two that its columns, then its rows have in common; these, and its bits."""
        table = self._complement
        columns = _twos(table.T)
        table = table >> columns.astype(object)[None, :]
        rows = _twos(table)
        table = table >> rows.astype(object)[:, None]
        return flint_table(table), rows, columns, largest_bits(table)

    def _solved(self, right: Integers, *, transposed: bool = False) -> Solution:
        """S v = right, or v S = right."""
        if not len(right):
            return Solution(right, integer_type()(1))
        matrix, rows, columns, bits = self._stripped
        if transposed:
            matrix, rows, columns = matrix.transpose(), columns, rows
        size = len(right)
        must_fit(predicted(size, max(bits, largest_bits(right) // size)))
        top, wide = int(rows.max()), int(columns.max())
        right = right << (top - rows).astype(object)
        found, below = matrix.solve(flint_table(right[:, None])).numer_denom()
        numbers = integer_array([int(v) for v in found.entries()]) << (wide - columns).astype(object)
        return Solution.of(numbers, integer_type()(int(below)) << (top + wide))

    def solve(self, right: Integers) -> Solution:
        """x with G x = right."""
        light, core = right[self._light], right[self._core]
        shares = self._common // self._diagonal
        rest = (core * self._common - self._left.dot(light * shares)) * self._factor
        found = self._solved(rest)
        below = found.below * self._common
        result = np.full(self.rows.width, integer_type()(0), dtype=object)
        result[self._others] = found.numbers * self._common
        result[self._pivots] = (light * below - self._times_beside(found.numbers)) * shares
        return Solution.of(result, below * self._common)

    def _times_beside(self, numbers: Integers) -> Integers | int:
        return self._beside * numbers[self._partner] if len(numbers) else 0

    def solve_left(self, right: Integers) -> Solution:
        """y with y G = right."""
        pivots, others = right[self._pivots], right[self._others]
        shares = self._common // self._diagonal
        rest = others * self._factor
        for column, at in self._bent:
            rest[column] = rest[column] - self._slopes[at].dot(pivots[at])
        found = self._solved(rest, transposed=True)
        result = np.full(len(self.rows), integer_type()(0), dtype=object)
        result[self._core] = found.numbers * self._common
        result[self._light] = (pivots * found.below - self._left.T.dot(found.numbers)) * shares
        return Solution.of(result, found.below * self._common)


def _twos(table: Integers) -> Indices:
    """The power of two that all numbers of a row have in common; 0 for a row of zeros."""
    if not table.shape[1]:
        return np.zeros(len(table), dtype=np.int64)
    together = np.bitwise_or.reduce(table, axis=1)
    return np.array([(v & -v).bit_length() - 1 if v else 0 for v in together], dtype=np.int64)


def meeting(rows: Rows, point: Array) -> Solution | None:
    """A point where as many rows as can be hold with equality: some coordinates change, the others stay as they are."""
    rows = rows.take(independent(rows))
    table = rows.dense()
    changed = _changing(rows, table)
    square = Square(Rows.of(table[:, changed], rows.limits))
    if not square.regular:
        return None
    numbers, shift = integers(point)
    result = integer_array(numbers)
    stay = np.setdiff1d(np.arange(rows.width), changed)
    found = square.solve((rows.limits << shift) - table[:, stay].dot(result[stay]))
    result = result * found.below
    result[changed] = found.numbers
    return Solution(result, found.below << shift)


def _changing(rows: Rows, table: Integers) -> Indices:
    """As many columns as rows, far from dependent in floats; else any that are independent."""
    from scipy.linalg import qr

    floats = rows.floats()[0]
    if np.isfinite(floats).all():
        order = np.sort(qr(floats, mode="r", pivoting=True)[1][: len(rows)])
        if full_rank(table[:, order]):
            return order
    return np.array(independent(Rows.of(table.T, np.full(rows.width, integer_type()(0), dtype=object))), dtype=np.int64)
