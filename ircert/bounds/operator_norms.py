"""Upper bounds on operator norms of float matrices, valid in real arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ircert.bounds.rounding import TINY, UNIT, slack
from ircert.exact.rounding import near_root, rounded_up
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array

SQUARINGS = 10


class Unbounded(ArithmeticError):
    """A number left the range of floats: no bound."""


def norm_bound(matrix: Array, norm: Norm) -> Fraction:
    """A number that the operator norm of the matrix does not exceed."""
    return _spectral(matrix) if norm == "2" else _sums(matrix, axis=1 if norm == "inf" else 0)


def norm_estimate(matrix: Array, norm: Norm) -> Fraction:
    """The operator norm up to rounding errors."""
    if not np.isfinite(matrix).all():  # LAPACK would raise an error of its own
        raise Unbounded
    with np.errstate(all="ignore"):
        value = float(np.linalg.norm(matrix, norm.order))
    if not math.isfinite(value):
        raise Unbounded
    return Fraction(value)


def rough_product(a: Array, b: Array) -> tuple[Array, Fraction]:
    """a @ b in floats, as if rounding changed nothing."""
    with np.errstate(all="ignore"):
        return a @ b, Fraction(0)


def any_norm_bound(matrix: Array) -> Fraction:
    """A number that none of the three norms exceeds; |A|_2 <= max(|A|_1, |A|_inf)."""
    return max(_sums(matrix, axis=0), _sums(matrix, axis=1))


def product(a: Array, b: Array) -> tuple[Array, Fraction]:
    """a @ b in floats, and a bound on the norm of what rounding changed."""
    with np.errstate(all="ignore"):
        return a @ b, any_norm_bound(slack(a.shape[1], np.abs(a) @ np.abs(b)))


def _sums(matrix: Array, axis: int) -> Fraction:
    """The largest absolute row (1) or column (0) sum, with room for the rounding of the sum."""
    with np.errstate(all="ignore"):
        largest = float(np.abs(matrix).sum(axis=axis).max(initial=0.0))
    if not math.isfinite(largest):
        raise Unbounded
    return _short(Fraction(largest) * (1 + Fraction(4 * (matrix.shape[axis] + 2)) * Fraction(UNIT)))


def _short(bound: Fraction) -> Fraction:
    """The bound rounded up to a float, so that its digits do not pile up."""
    return Fraction(rounded_up(bound))


def _spectral(matrix: Array) -> Fraction:
    """|A|_2^(2k) = |(A^T A)^k|_2 <= |(A^T A)^k|_inf for k = 2^j, by repeated squaring with the errors carried along."""
    small = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
    if not small.any():
        return Fraction(0)
    scale = _power_above(_sums(small, axis=1))
    power, error = _scaled(small, Fraction(0), scale)
    square, rounding = product(power, power.T)
    side = _sums(power.T, axis=1) + _sums(power, axis=1)
    total, error = Fraction(1), _short(rounding + error * side + error * error)
    for _ in range(SQUARINGS):
        factor = _power_above(_sums(square, axis=1))
        square, error = _scaled(square, error, factor)
        size = _sums(square, axis=1)
        square, rounding = product(square, square)
        error = _short(rounding + 2 * size * error + error * error)
        total = (total * factor) ** 2
    bound = (_sums(square, axis=1) + error) * total
    for _ in range(SQUARINGS + 1):
        bound = near_root(bound, up=1)
    return min(_short(bound * scale), any_norm_bound(matrix))


def _scaled(matrix: Array, error: Fraction, scale: Fraction) -> tuple[Array, Fraction]:
    """The matrix over a power of two: exact, but for what underflows."""
    shift = scale.numerator.bit_length() - scale.denominator.bit_length()
    return np.ldexp(matrix, -shift), error / scale + Fraction(TINY) * max(matrix.shape)


def _power_above(bound: Fraction) -> Fraction:
    if bound == 0:
        return Fraction(1)
    return Fraction(2) ** (bound.numerator.bit_length() - bound.denominator.bit_length() + 1)
