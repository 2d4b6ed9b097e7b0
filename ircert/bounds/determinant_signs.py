"""Signs of determinants of any size, by elimination in floats with a bound on what it got wrong.

Elimination with row exchanges ends with P A + D = L U exactly, |D| <= k u |L||U| entry by entry (Higham, Theorem 9.3, k
a little more than the size; sums in any order). The sign of det(L U) is that of the diagonal of U and of P. It is that
of det(A') for every A' within E of A, if no matrix on the way from A' to A + P^T D has a kernel: with any X, all of
them are within |X|(E + P^T |D|) of X A after multiplication by X, and |I - X A| plus that has a norm below 1.
"""

from __future__ import annotations

import numpy as np

from ircert.bounds.contraction import BELOW_ONE, residual
from ircert.bounds.rounding import TINY, slack
from ircert.ir.arrays import Array
from ircert.limits import checkpoint


def determinant_signs(matrices: Array, error: Array) -> Array:
    """1 or -1 for each of a stack of square matrices where it is the sign for all within `error`, for sure; else 0."""
    found = np.zeros(len(matrices))
    for k, matrix in enumerate(matrices):
        checkpoint()
        found[k] = _sign(matrix, error)
    return found


def _sign(matrix: Array, error: Array) -> float:
    from scipy.linalg.lapack import dgetrf

    if not (np.isfinite(matrix).all() and np.isfinite(error).all()):
        return 0.0
    with np.errstate(all="ignore"):  # what is no number proves nothing
        table, exchanged, _ = dgetrf(matrix)
        diagonal = np.diagonal(table)
        if not np.isfinite(table).all() or not diagonal.all():
            return 0.0
        wrong = (error + _backward(table, exchanged)) * (1 + 1e-12)
        bound = residual(_inverse(matrix), matrix, wrong).bound
        if not min(bound.sum(axis=0).max(), bound.sum(axis=1).max()) < BELOW_ONE:
            return 0.0
    swaps = int((exchanged != np.arange(len(exchanged))).sum())
    return float(np.prod(np.sign(diagonal))) * (-1.0) ** swaps


def _inverse(matrix: Array) -> Array:
    """X, about; nothing but 0 where floats hold none."""
    try:
        return np.asarray(np.linalg.inv(matrix), dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.zeros_like(matrix)


def _backward(table: Array, exchanged: Array) -> Array:
    """P^T |D|: what elimination may get wrong, and quotients that are too small for floats."""
    size = len(table)
    lower, upper = np.abs(np.tril(table, -1)) + np.eye(size), np.abs(np.triu(table))
    wrong = slack(size + 4, lower @ upper) + 4.0 * size * TINY * (1.0 + upper.max())
    order = np.arange(size)
    for i, j in enumerate(exchanged.tolist()):
        order[[i, j]] = order[[j, i]]
    found = np.empty_like(wrong)
    found[order] = wrong
    return found
