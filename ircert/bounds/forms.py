"""Affine forms on boxes, many at once: numbers that depend on a point x = m + d of a box, |d| <= half, as

    c + g·d,   off by at most e.

An array of forms is (…, n + 2, boxes): c, then the n entries of g, then e. Sums and products are forms again; a
product is off by what the factors are off by, by (g·d)(g'·d), which is of second order in the box, and by rounding.
"""

from __future__ import annotations

import numpy as np

from ircert.bounds.rounding import UNIT, slack
from ircert.ir.arrays import Array

UNDERFLOW = 1e-300
"""More than what is lost where numbers are too small for floats, for boxes of size 1."""


def reach(forms: Array, half: Array) -> Array:
    """A bound on |g·d|, but for rounding."""
    return np.asarray((np.abs(forms[..., 1:-1, :]) * half).sum(axis=-2))


def sizes(forms: Array, half: Array) -> Array:
    """A bound on |c| + |g·d| + e, but for rounding."""
    return np.asarray(np.abs(forms[..., 0, :]) + reach(forms, half) + forms[..., -1, :])


def product(left: Array, right: Array, half: Array) -> Array:
    """Entry by entry; axes before the last two are broadcast."""
    a, b = left[..., 0, :], right[..., 0, :]
    along, across = reach(left, half) + left[..., -1, :], reach(right, half) + right[..., -1, :]
    result = left * b[..., None, :] + right * a[..., None, :]
    result[..., 0, :] = a * b
    off = np.abs(a) * right[..., -1, :] + np.abs(b) * left[..., -1, :] + along * across
    size = (np.abs(a) + along) * (np.abs(b) + across)
    result[..., -1, :] = off * (1 + 32 * UNIT) + slack(8 + len(half), size) + UNDERFLOW * (1.0 + half.sum(axis=0))
    return result


def total(parts: list[Array], half: Array) -> Array:
    """Their sum."""
    result = parts[0]
    for part in parts[1:]:
        result = result + part
    absolute = np.sum([sizes(part, half) for part in parts], axis=0)
    result = result.copy()
    result[..., -1, :] += slack(len(parts) + len(half) + 4, absolute)
    return result


def ranges(forms: Array, half: Array) -> tuple[Array, Array]:
    """Bounds on the numbers at all points of the box."""
    middle = forms[..., 0, :]
    wide = (reach(forms, half) + forms[..., -1, :]) * (1 + 16 * (len(half) + 4) * UNIT)
    wide = wide + 4 * UNIT * np.abs(middle) + UNDERFLOW
    return middle - wide, middle + wide


def determinant(matrix: Array, half: Array) -> Array:
    """The determinants of square matrices of forms (n, n, n + 2, boxes), by minors of the first rows."""
    size = len(matrix)
    minors: dict[int, Array] = {1 << j: matrix[0, j] for j in range(size)}
    for row in matrix[1:]:
        terms: dict[int, list[Array]] = {}
        for chosen, minor in minors.items():
            for j in range(size):
                if not chosen >> j & 1:
                    sign = -1.0 if bin(chosen >> (j + 1)).count("1") % 2 else 1.0
                    entry = product(row[j], minor, half)
                    entry[:-1] *= sign
                    terms.setdefault(chosen | 1 << j, []).append(entry)
        minors = {key: total(parts, half) for key, parts in terms.items()}
    return minors[(1 << size) - 1]
