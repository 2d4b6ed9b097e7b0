"""Linear algebra in `fractions.Fraction`, slow and plain: what the fast one is compared with."""

from __future__ import annotations

from fractions import Fraction

Vector = list[Fraction]


def kernel(columns: list[Vector]) -> list[Vector]:
    """A basis of the vectors v with sum v_j columns_j = 0, by elimination."""
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


def rank(columns: list[Vector]) -> int:
    """The number of independent columns."""
    return len(columns) - len(kernel(columns))


def combined(columns: list[Vector], v: Vector) -> Vector:
    """sum v_j columns_j."""
    return [
        sum((a * column[i] for a, column in zip(v, columns, strict=True)), Fraction(0)) for i in range(len(columns[0]))
    ]
