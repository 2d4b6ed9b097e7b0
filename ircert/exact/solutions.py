"""Small systems of linear equations in integers: ranks, and all solutions, by python-flint's reduced echelon forms."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import fmpz_mat

from ircert.limits import checkpoint

Vector = list[Fraction]


def rank(rows: Sequence[Sequence[Any]]) -> int:
    """The exact rank of a small matrix of integers."""
    return int(_table(rows, len(rows[0])).rank()) if rows else 0


@dataclass(frozen=True)
class Solutions:
    """origin + span(basis); origin is 0 in the coordinates that are free."""

    origin: Vector
    basis: list[Vector]


def solutions(rows: Iterable[Sequence[Any]], size: int) -> Solutions | None:
    """All d of that size with row · (d, 1) = 0 for all rows, of integers or Fractions; None if there are none."""
    checkpoint()
    table, below, count = _table([_cleared(row) for row in rows], size + 1).rref()
    lines = table.tolist()[:count]
    pivots = [next(j for j, v in enumerate(row) if v) for row in lines]
    if size in pivots:
        return None
    origin = [Fraction(0)] * size
    basis = {j: [Fraction(int(i == j)) for i in range(size)] for j in range(size) if j not in pivots}
    for row, pivot in zip(lines, pivots, strict=True):
        origin[pivot] = Fraction(-int(row[size]), int(below))
        for free, direction in basis.items():
            direction[pivot] = Fraction(-int(row[free]), int(below))
    return Solutions(origin, list(basis.values()))


def _cleared(numbers: Sequence[Any]) -> list[int]:
    """The row without its denominators."""
    common = math.lcm(*(int(getattr(v, "denominator", 1)) for v in numbers))
    return [int(v * common) for v in numbers]


def _table(rows: Sequence[Sequence[Any]], width: int) -> fmpz_mat:
    return fmpz_mat(len(rows), width, [int(v) for row in rows for v in row])
