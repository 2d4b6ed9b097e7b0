"""Positive definiteness of many symmetric float matrices at once, for sure.

Elimination in floats with positive pivots is exact for a matrix that differs from the given one by at most
γ (|L| D |L^T|), γ a little more than (n + 1) u, and with positive pivots an entry of |L| D |L^T| is at most the root of
the product of its two diagonal entries: so the difference has a spectral norm of at most γ times the trace. What passes
after that much is taken off the diagonal is positive definite (Rump, Verification of positive definiteness).
"""

from __future__ import annotations

import numpy as np

from ircert.bounds.rounding import UNIT
from ircert.ir.arrays import Array, Mask

LEAST = 1e-290
"""Pivots below this may have lost digits to underflow."""


def positive_definite(matrices: Array, less: Array) -> Mask:
    """Which symmetric matrices (boxes, n, n) stay positive definite when `less` is taken off their diagonal.

    Only the upper triangles are read. What is not finite is not positive definite.
    """
    n = matrices.shape[1]
    diagonal = np.arange(n)
    table = np.array(matrices.transpose(1, 2, 0), order="C")  # all boxes of an entry side by side, which is fast
    with np.errstate(all="ignore"):
        trace = np.abs(table[diagonal, diagonal]).sum(axis=0)
        off = (less + 8.0 * (n + 4) * UNIT * (trace + less) + LEAST) * (1 + 8 * UNIT)
        table[diagonal, diagonal] -= off
        good = np.isfinite(table).all(axis=(0, 1)) & np.isfinite(off)
        for k in range(n):
            pivot = table[k, k]
            good &= pivot > LEAST
            divisor = np.where(good, pivot, 1.0)
            for i in range(k + 1, n):
                table[i, i:] -= table[k, i] / divisor * table[k, i:]
    return np.asarray(good)
