"""Matrices of floats that linear algebra is tried on."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from ircert.ir.arrays import Array
from tests.exact.fractions import Vector
from tests.ir.test_dyadic import MIXED

SMALL = st.integers(-2, 2).map(lambda k: k / 4)


@st.composite
def matrices(draw: st.DrawFn, rows: int = 4, columns: int = 4) -> Array:
    """Small numbers, which are often dependent, or all kinds of floats; at times a row or a column is repeated."""
    m, n = draw(st.integers(1, rows)), draw(st.integers(1, columns))
    kind = draw(st.sampled_from([SMALL, MIXED]))
    found = np.array(draw(st.lists(kind, min_size=m * n, max_size=m * n))).reshape(m, n)
    if draw(st.booleans()):
        found[:, draw(st.integers(0, n - 1))] = found[:, draw(st.integers(0, n - 1))] / 2
    return found + 0.0


def columns_of(matrix: Array) -> list[Vector]:
    """The columns in rationals."""
    return [[Fraction(v) for v in column] for column in matrix.T.tolist()]
