"""Positive definite or not, in integers (C-14)."""

from __future__ import annotations

KEPT = 96
"""Bits of a diagonal entry that are kept."""


def positive_definite(table: list[list[int]]) -> bool:
    """Whether a symmetric matrix of integers (its lower triangle) is positive definite, for sure.

    Entries are scaled by powers of two and rounded down, as are those of every remainder; each rounding is by less
    than 1, and as many units as there are rows are taken off the diagonal, which is more than it can do.
    """
    if any(row[i] <= 0 for i, row in enumerate(table)):
        return False
    scale = [(row[i].bit_length() - KEPT) // 2 for i, row in enumerate(table)]
    rows = [[shifted(v, scale[i] + scale[j]) for j, v in enumerate(row)] for i, row in enumerate(table)]
    for i, row in enumerate(rows):
        row[i] -= len(rows)
    if not all(map(_is_short, rows)):
        return False
    while rows:
        *last, pivot = rows.pop()
        if pivot <= 0 or not _is_short(last):
            return False
        for i, row in enumerate(rows):
            if last[i]:
                rows[i] = row = [v + (-last[i] * w) // pivot for v, w in zip(row, last, strict=False)]
            row[i] -= len(rows)
    return True


def _is_short(row: list[int]) -> bool:
    """Whether no number has more bits than those on the diagonal: else it is not definite, and gets ever longer."""
    return all(v.bit_length() <= KEPT + 1 for v in row)


def shifted(value: int, right: int) -> int:
    """A number times 2 to the minus `right`, rounded down."""
    return value >> right if right >= 0 else value << -right
