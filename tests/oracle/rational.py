"""Exact numbers and the little linear algebra that the oracle needs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from operator import mul
from typing import Any, TypeAlias

import numpy as np

try:
    import gmpy2
except ImportError:
    gmpy2 = None

Number: TypeAlias = Any
Vector: TypeAlias = tuple[Number, ...]
Matrix: TypeAlias = tuple[Vector, ...]
Rows: TypeAlias = Sequence[tuple[Vector, Number]]  # conditions a·x <= b or a·x = b

Rational: Any = Fraction if gmpy2 is None else gmpy2.mpq
ZERO, ONE = Rational(0), Rational(1)
_gcd: Any = math.gcd if gmpy2 is None else gmpy2.gcd
_lcm: Any = math.lcm if gmpy2 is None else gmpy2.lcm


def number(given: Any) -> Number:
    """The exact value of an int, a float or a fraction."""
    return Rational(Fraction(given.item() if isinstance(given, np.generic) else given))


def vector(given: Iterable[Any]) -> Vector:
    """The exact values of a list or an array."""
    return tuple(number(x) for x in given)


def fraction(q: Number) -> Fraction:
    """A number as the standard library writes it."""
    return Fraction(int(q.numerator), int(q.denominator))


def whole(values: Sequence[Number]) -> Vector:
    """The shortest positive integer multiple of a vector: integers multiply without common divisors to look for."""
    common = _lcm(*(x.denominator for x in values))
    return shortened([x.numerator * (common // x.denominator) for x in values])


def shortened(values: Sequence[Number]) -> Vector:
    """A vector of integers without their common divisor."""
    divisor = _gcd(*values)
    return tuple(x // divisor for x in values) if divisor > 1 else tuple(values)


def dot(a: Sequence[Number], b: Sequence[Number]) -> Number:
    """The inner product."""
    return sum(map(mul, a, b), ZERO)


def apply(matrix: Matrix, x: Sequence[Number]) -> Vector:
    """matrix @ x."""
    return tuple(dot(row, x) for row in matrix)


def product(a: Matrix, b: Matrix) -> Matrix:
    """a @ b."""
    columns = transpose(b)
    return tuple(tuple(dot(row, column) for column in columns) for row in a)


def transpose(a: Matrix) -> Matrix:
    """The transpose of a matrix that has a row."""
    return tuple(zip(*a, strict=True))


def identity(n: int) -> Matrix:
    """The identity matrix."""
    return tuple(tuple(ONE if i == j else ZERO for j in range(n)) for i in range(n))


def add(a: Vector, b: Vector, factor: Number = ONE) -> Vector:
    """a + factor * b."""
    return tuple(p + factor * q for p, q in zip(a, b, strict=True))


def reduced(rows: Iterable[Sequence[Number]], columns: int) -> tuple[list[list[Number]], list[int]]:
    """The nonzero rows of the reduced echelon form, pivots among the first columns only, and the pivots' columns."""
    work, pivots = [list(row) for row in rows], list[int]()
    for j in range(columns):
        k = len(pivots)
        found = next((i for i in range(k, len(work)) if work[i][j] != 0), None)
        if found is None:
            continue
        work[k], work[found] = work[found], work[k]
        scale = work[k][j]
        work[k] = [x / scale for x in work[k]]
        for i, row in enumerate(work):
            if i != k and row[j] != 0:
                factor = row[j]
                work[i] = [x - factor * y for x, y in zip(row, work[k], strict=True)]
        pivots.append(j)
    return work, pivots


def rank(rows: Sequence[Sequence[Number]]) -> int:
    """The rank of a matrix."""
    return len(reduced(rows, len(rows[0]))[1]) if rows else 0


def inverse(a: Sequence[Sequence[Number]]) -> Matrix:
    """The inverse of a regular matrix."""
    n = len(a)
    work, pivots = reduced([[*row, *unit] for row, unit in zip(a, identity(n), strict=True)], n)
    if len(pivots) < n:
        raise ZeroDivisionError("the matrix is singular")
    return tuple(tuple(row[n:]) for row in work)


def solutions(a: Sequence[Vector], b: Sequence[Number], n: int) -> tuple[Vector, Matrix] | None:
    """{v in R^n: a v = b} as a point and the n rows of a basis matrix, None if it is empty."""
    work, pivots = reduced([[*row, right] for row, right in zip(a, b, strict=True)], n)
    if any(row[n] != 0 for row in work[len(pivots) :]):
        return None
    free = [j for j in range(n) if j not in pivots]
    point, basis = [ZERO] * n, [[ZERO] * len(free) for _ in range(n)]
    for k, j in enumerate(free):
        basis[j][k] = ONE
    for row, j in zip(work, pivots, strict=False):
        point[j] = row[n]
        basis[j] = [-row[i] for i in free]
    return tuple(point), tuple(tuple(row) for row in basis)


def square_root(q: Number, up: bool, bits: int = 64) -> Fraction:
    """A rational bound of the square root, exact where the root is rational and else good to 2^-bits."""
    p, d = int(q.numerator), int(q.denominator)
    if math.isqrt(p) ** 2 == p and math.isqrt(d) ** 2 == d:
        return Fraction(math.isqrt(p), math.isqrt(d))
    shift = bits + max(0, d.bit_length() - p.bit_length())
    return Fraction(math.isqrt((p * d) << (2 * shift)) + up, d << shift)
