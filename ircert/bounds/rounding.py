"""Outward rounding: float linear algebra with a bound on what it got wrong.

A sum of k products computed in floats, in any order, differs from the exact sum by at most k u / (1 - k u) times the
sum of the absolute values of the products (u = 2^-53), plus k times the smallest subnormal for underflow. The absolute
sum is itself computed in floats; the factor has room for that too.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from ircert.ir.arrays import Array, Matrix

UNIT = 2.0**-53
TINY = 2.0**-1074


def magnitude(low: Array, high: Array) -> Array:
    """The largest absolute value in each interval."""
    return np.maximum(np.abs(low), np.abs(high))


def midpoint(low: Array, high: Array) -> tuple[Array, Array]:
    """(middle, spread): every number between two bounds is within `spread` of `middle`, for sure."""
    middle = low / 2 + high / 2  # low + (high - low) / 2 might overflow
    return middle, np.nextafter(np.maximum(high - middle, middle - low) * (1 + 4 * UNIT), np.inf)


def between(low: Array, high: Array) -> Array:
    """Middles of bounds, about; exactly the bound where both are equal, and finite where both are."""
    with np.errstate(over="ignore"):
        total = low + high
    return np.asarray(np.where(np.isfinite(total), total / 2, low / 2 + high / 2))


def slack(terms: int, absolute: Array) -> Array:
    """A bound on the error of sums of `terms` products whose absolute values add up to about `absolute`."""
    return 4.0 * (terms + 2) * UNIT * absolute + 4.0 * (terms + 2) * TINY


def affine_interval(weight: Matrix, bias: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """Bounds on weight @ x + bias for low <= x <= high."""
    positive, negative = parts(weight)
    absolute = abs(weight) @ magnitude(low, high) + np.abs(bias)
    error = slack(weight.shape[1], absolute)
    return positive @ low + negative @ high + bias - error, positive @ high + negative @ low + bias + error


def pseudo_inverse(matrix: Array) -> Array:
    """The pseudo-inverse of a matrix, or of each of a stack, in floats; LinAlgError where floats hold none.

    Of numbers that are not finite LAPACK's iteration may never end.
    """
    if not np.isfinite(matrix).all():
        raise np.linalg.LinAlgError("the matrix is not finite")
    return np.asarray(np.linalg.pinv(matrix), dtype=np.float64)


def left_inverse(matrix: Array) -> Array:
    """C with C A about I, as far as there is one, in floats; LinAlgError where floats hold none.

    The inverse of a square matrix takes a tenth of the time of the pseudo-inverse.
    """
    if matrix.shape[0] == matrix.shape[1]:
        with suppress(np.linalg.LinAlgError):
            found = np.asarray(np.linalg.inv(matrix), dtype=np.float64)
            if np.isfinite(found).all():
                return found
    return pseudo_inverse(matrix)


def rough_left_inverse(matrix: Array) -> Array:
    """C with C A about I for a matrix that is far from singular, in floats: by normal equations, which are quick."""
    if matrix.shape[0] == matrix.shape[1]:
        return np.asarray(np.linalg.inv(matrix), dtype=np.float64)
    return np.asarray(np.linalg.solve(matrix.T @ matrix, matrix.T), dtype=np.float64)


def parts(weight: Matrix) -> tuple[Matrix, Matrix]:
    """The positive and the negative weights of a matrix, which is their sum."""
    if isinstance(weight, np.ndarray):
        return np.maximum(weight, 0.0), np.minimum(weight, 0.0)
    return weight.maximum(0.0), weight.minimum(0.0)
