"""Affine forms on boxes, many at once: numbers that depend on a point x = m + h t of a box, |t_j| <= 1, as

    c + g·t,   off by at most e.

An array of forms is (…, n + 2, boxes): c, then the n entries of g, then e. Sums and products are forms again; a
product is off by what the factors are off by, by (g·t)(g'·t), which is of second order in the box, and by rounding.
"""

from __future__ import annotations

import numpy as np

from ircert.bounds.rounding import UNIT, slack
from ircert.ir.arrays import Array


def reach(forms: Array) -> Array:
    """A bound on |g·t|, but for rounding."""
    return np.asarray(np.abs(forms[..., 1:-1, :]).sum(axis=-2))


def sizes(forms: Array) -> Array:
    """A bound on |c| + |g·t| + e, but for rounding."""
    return np.asarray(np.abs(forms[..., 0, :]) + reach(forms) + forms[..., -1, :])


def product(left: Array, right: Array) -> Array:
    """Entry by entry; axes before the last two are broadcast."""
    a, b = left[..., 0, :], right[..., 0, :]
    along, across = reach(left) + left[..., -1, :], reach(right) + right[..., -1, :]
    result = left * b[..., None, :] + right * a[..., None, :]
    result[..., 0, :] = a * b
    off = np.abs(a) * right[..., -1, :] + np.abs(b) * left[..., -1, :] + along * across
    size = (np.abs(a) + along) * (np.abs(b) + across)
    result[..., -1, :] = off * (1 + 32 * UNIT) + slack(6 + result.shape[-2], size)
    return result


def total(parts: list[Array]) -> Array:
    """Their sum."""
    result = parts[0].copy()
    for part in parts[1:]:
        result += part
    absolute = np.sum([sizes(part) for part in parts], axis=0)
    result[..., -1, :] += slack(len(parts) + result.shape[-2] + 2, absolute)
    return result


def ranges(forms: Array) -> tuple[Array, Array]:
    """Bounds on the numbers at all points of the box."""
    middle = forms[..., 0, :]
    wide = (reach(forms) + forms[..., -1, :]) * (1 + 16 * (forms.shape[-2] + 2) * UNIT)
    wide = wide + slack(1, np.abs(middle))
    return middle - wide, middle + wide


def determinant(matrix: Array) -> Array:
    """The determinants of square matrices of forms (n, n, n + 2, boxes), by minors of the first rows."""
    size = len(matrix)
    minors: dict[int, Array] = {1 << j: matrix[0, j] for j in range(size)}
    for row in matrix[1:]:
        terms: dict[int, list[Array]] = {}
        for chosen, minor in minors.items():
            for j in range(size):
                if not chosen >> j & 1:
                    sign = -1.0 if bin(chosen >> (j + 1)).count("1") % 2 else 1.0
                    entry = product(row[j], minor)
                    entry[:-1] *= sign
                    terms.setdefault(chosen | 1 << j, []).append(entry)
        minors = {key: total(parts) for key, parts in terms.items()}
    return minors[(1 << size) - 1]
