"""Exact linear algebra on small matrices: kernels, and ranks that are full for sure."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

Vector = list[Fraction]

PRIME = 2**31 - 1
"""Products of two residues fit into 64 bits."""


def has_full_rank(columns: list[Vector]) -> bool:
    """Whether the columns are independent modulo a prime, and so for sure; False means that they may not be."""
    work = np.array([[_residue(v) for v in column] for column in columns], dtype=np.int64)
    if work.shape[0] > work.shape[1]:
        return False
    for i in range(len(work)):
        pivots = np.flatnonzero(work[i])
        if not len(pivots):
            return False
        j = pivots[0]
        scaled = work[i] * pow(int(work[i, j]), -1, PRIME) % PRIME
        below = work[i + 1 :]
        work[i + 1 :] = (below - below[:, j : j + 1] * scaled % PRIME) % PRIME
    return True


def _residue(value: Fraction) -> int:
    if value.denominator % PRIME == 0:
        raise ValueError("weights are integers over powers of two")
    return value.numerator * pow(value.denominator, -1, PRIME) % PRIME


def kernel(columns: list[Vector]) -> list[Vector]:
    """A basis of the vectors v with sum v_j columns_j = 0, by elimination in rationals."""
    size = len(columns)
    rows = [[column[i] for column in columns] for i in range(len(columns[0]))]
    pivots: list[int] = []
    for j in range(size):
        found = next((i for i in range(len(pivots), len(rows)) if rows[i][j] != 0), None)
        if found is None:
            continue
        at = len(pivots)
        rows[at], rows[found] = rows[found], rows[at]
        rows[at] = [v / rows[at][j] for v in rows[at]]
        for i, row in enumerate(rows):
            if i != at and row[j] != 0:
                rows[i] = [v - row[j] * p for v, p in zip(row, rows[at], strict=True)]
        pivots.append(j)
    basis = []
    for j in (j for j in range(size) if j not in pivots):
        vector = [Fraction(int(k == j)) for k in range(size)]
        for at, pivot in enumerate(pivots):
            vector[pivot] = -rows[at][j]
        basis.append(vector)
    return basis
