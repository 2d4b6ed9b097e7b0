"""Small exact programs, written with plain numbers."""

from __future__ import annotations

import numpy as np

from ircert.exact.rows import Rows
from ircert.ir.rational import Integers, integer_array


def row(*numbers: int) -> Integers:
    return integer_array(list(numbers))


def rows_of(table: list[list[int]], limits: list[int], equal: list[bool] | None = None) -> Rows:
    made = Rows.of(np.array([row(*line) for line in table], dtype=object), row(*limits))
    chosen = np.zeros(len(limits), dtype=bool) if equal is None else np.array(equal)
    return Rows(made.width, made.starts, made.columns, made.numbers, made.limits, chosen)


TRIANGLE = rows_of([[-1, 0], [0, -1], [2, 3]], [0, 0, 12])
"""x >= 0, y >= 0, 2x + 3y <= 12."""
