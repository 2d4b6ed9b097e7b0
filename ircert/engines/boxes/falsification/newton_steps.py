"""Steps of Newton's method with more unknowns than equations, or fewer: the shortest ones, in floats."""

from __future__ import annotations

import numpy as np

from ircert.bounds.rounding import pseudo_inverse
from ircert.ir.arrays import Array
from ircert.limits import checkpoint

LARGE = 5_000_000
"""Multiplications of one product of a matrix and its transpose from which on singular values take too long."""
RIDGE = 1e-13
"""What keeps dependent equations apart, in parts of the largest."""


def shortest_steps(matrices: Array, gaps: Array) -> Array:
    """The shortest x with A x about b, for a stack of matrices A and vectors b; LinAlgError where floats hold none.

    Of large matrices by normal equations, one after the other: singular values take twenty times as long.
    """
    rows, columns = matrices.shape[1:]
    if rows * columns * min(rows, columns) < LARGE:
        return np.asarray(np.einsum("bij,bj->bi", pseudo_inverse(matrices), gaps))
    found = [_normal_solution(matrix, gap) for matrix, gap in zip(matrices, gaps, strict=True)]
    return np.stack(found) if found else np.zeros((0, columns))


def _normal_solution(matrix: Array, gap: Array) -> Array:
    checkpoint()
    is_wide = matrix.shape[0] <= matrix.shape[1]
    table = matrix @ matrix.T if is_wide else matrix.T @ matrix
    table[np.diag_indices_from(table)] += RIDGE * np.abs(table).max(initial=0.0)
    checkpoint()
    if is_wide:
        return np.asarray(matrix.T @ np.linalg.solve(table, gap))
    return np.asarray(np.linalg.solve(table, matrix.T @ gap), dtype=np.float64)
