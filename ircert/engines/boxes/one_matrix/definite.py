"""Positive definiteness of many symmetric float matrices at once, for sure.

Elimination in floats with positive pivots is exact for a matrix that differs from the given one by at most
γ (|L| D |L^T|), γ a little more than (n + 1) u, and with positive pivots an entry of |L| D |L^T| is at most the root of
the product of its two diagonal entries: so the difference has a spectral norm of at most γ times the trace. What passes
after that much is taken off the diagonal is positive definite (Rump, Verification of positive definiteness). The same
holds for Cholesky's R^T R in place of L D L^T, which is faster for large matrices, one by one.
"""

from __future__ import annotations

import numpy as np

from ircert.bounds.rounding import UNIT
from ircert.ir.arrays import Array, Mask
from ircert.limits import checkpoint

LEAST = 1e-290
"""Pivots below this may have lost digits to underflow."""
MANY = 32
"""Matrices with more rows are looked at one by one."""


def positive_definite(matrices: Array, less: Array) -> Mask:
    """Which symmetric matrices (boxes, n, n) stay positive definite when `less` is taken off their diagonal.

    Only the upper triangles are read. What is not finite is not positive definite.
    """
    n = matrices.shape[1]
    with np.errstate(all="ignore"):
        trace = np.abs(np.einsum("bii->bi", matrices)).sum(axis=1)
        off = (less + 8.0 * (n + 4) * UNIT * (trace + less) + LEAST) * (1 + 8 * UNIT)
        if n > MANY:
            return np.array([_has_root(matrix, float(o)) for matrix, o in zip(matrices, off, strict=True)], dtype=bool)
        return _have_pivots(matrices, off)


def _have_pivots(matrices: Array, off: Array) -> Mask:
    """Which matrices have pivots that are surely positive, with something taken off their diagonals."""
    n = matrices.shape[1]
    diagonal = np.arange(n)
    table = np.array(matrices.transpose(1, 2, 0), order="C")  # all boxes of an entry side by side, which is fast
    table[diagonal, diagonal] -= off
    good = np.isfinite(table).all(axis=(0, 1)) & np.isfinite(off)
    for k in range(n):
        pivot = table[k, k]
        good &= pivot > LEAST
        divisor = np.where(good, pivot, 1.0)
        for i in range(k + 1, n):
            table[i, i:] -= table[k, i] / divisor * table[k, i:]
    return np.asarray(good)


def _has_root(matrix: Array, off: float) -> bool:
    """The same for one matrix: whether Cholesky's elimination goes through."""
    checkpoint()
    table = np.array(matrix.T)  # of which numpy reads the lower triangle
    table[np.diag_indices(len(table))] -= off
    if not np.isfinite(table).all():
        return False
    try:
        root = np.linalg.cholesky(table)
    except np.linalg.LinAlgError:
        return False
    return bool((np.diagonal(root) ** 2 > LEAST).all())
