"""Faces of cubes of slopes without a kernel, with the signs of differences."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from hypothesis import given
from hypothesis import strategies as st

from ircert.bounds.kernel_cones import KernelCones
from ircert.bounds.principal_minors import Enclosed


def cones(matrix: Any, more: Any) -> KernelCones:
    values, rows = np.asarray(matrix, dtype=float), np.asarray(more, dtype=float).reshape(-1, len(matrix))
    return KernelCones(Enclosed(values[None], 0 * values[None]), Enclosed(rows[None], 0 * rows[None]))


def _table(values: Any, rows: Any, eighths: Any) -> fmpq_mat:
    """I - δ (I - N) and G, with δ in eighths."""
    size, given = len(values), np.concatenate([values, rows])
    table = [[Fraction(v) for v in row] for row in given.tolist()]
    for i in range(size):
        share = Fraction(int(eighths[i]), 8)
        unit = [Fraction(i == j) for j in range(size)]
        table[i] = [u - share * (u - v) for u, v in zip(unit, table[i], strict=True)]
    return fmpq_mat(len(table), size, [fmpq(v.numerator, v.denominator) for row in table for v in row])


ALL = np.ones(2, dtype=bool)
NONE = np.zeros(2, dtype=bool)


@pytest.mark.rule("E-21")
def test_outputs_that_are_more_and_signs_exclude() -> None:
    """1 - 4 δ1 δ2 = 0 has kernels p with two positive entries, and others with two negative ones."""
    matrix = [[1.0, -2.0], [-2.0, 1.0]]
    assert not cones(matrix, np.zeros((0, 2))).exclude(NONE, ALL, np.zeros(2))
    assert not cones(matrix, [1.0, -1.0]).exclude(NONE, ALL, np.zeros(2))
    assert cones(matrix, [1.0, 1.0]).exclude(NONE, ALL, np.zeros(2))
    assert cones(matrix, np.zeros((0, 2))).exclude(NONE, ALL, np.array([1.0, -1.0]))
    assert not cones(matrix, np.zeros((0, 2))).exclude(NONE, ALL, np.array([1.0, 1.0]))
    assert not cones(matrix, np.zeros((0, 2))).exclude(NONE, ALL, np.array([1.0, 0.0]))


@pytest.mark.rule("E-21")
def test_points_of_the_face_are_asked_about_too() -> None:
    """With p_2 > 0 excluded, p_2 = 0 is left, where δ_1 = 1 has the kernel (1, 0)."""
    matrix = [[0.0, 0.0], [0.0, 1.0]]
    taken, free = np.array([True, False]), np.array([False, True])
    assert not cones(matrix, [0.0, 1.0]).exclude(taken, free, np.array([0.0, 1.0]))
    assert cones(matrix, [1.0, 1.0]).exclude(taken, free, np.array([0.0, 1.0]))


@pytest.mark.rule("E-21")
def test_changes_too_small_for_floats_count() -> None:
    """With y_1 = 1 the exact y_2 is -2^-1372, which is 0 in floats, and takes 2^-372 from 2^-400: (1, -2^700) is in
    the cone."""
    matrix = [[2.0**-400, 2.0**-1072], [2.0**1000, 2.0**300]]
    taken, signs = np.array([False, True]), np.array([1.0, 0.0])
    p = [Fraction(1), -(Fraction(2) ** 700)]
    below = [sum(Fraction(v) * b for v, b in zip(row, p, strict=True)) for row in matrix]
    assert below[0] < 0
    assert below[1] == 0
    with np.errstate(over="ignore"):
        assert not cones(matrix, np.zeros((0, 2)))._proves(np.array([1.0, 0.0]), taken, taken, signs)


@pytest.mark.rule("E-21")
@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(0, 2))
def test_what_is_excluded_has_no_kernel(seed: int, size: int, more: int) -> None:
    """At no point of a grid in the face, in rationals; with signs, none with these signs."""
    rng = np.random.default_rng(seed)
    values = rng.integers(-8, 9, (size, size)) / 8 + np.eye(size)
    rows = rng.integers(-8, 9, (more, size)) / 8
    kind = rng.integers(0, 4, size)
    taken, free = kind == 0, kind >= 2
    signs = np.where(free, rng.integers(-1, 2, size), 0).astype(float)
    if not free.any() or not cones(values, rows).exclude(taken, free, signs):
        return
    steps = [range(0, 9, 2) if f else ((8,) if t else (0,)) for f, t in zip(free, taken, strict=True)]
    for eighths in product(*steps):
        table = _table(values, rows, eighths)
        if int(table.rank()) == size:
            continue
        assert signs.any()
        assert int(table.rank()) == size - 1, "one kernel has all signs that its direction has"
        p = _kernel(table, size)
        differences = [
            a - sum(Fraction(v) * b for v, b in zip(row, p, strict=True))
            for a, row in zip(p, values.tolist(), strict=True)
        ]
        for side in (1, -1):
            assert any(side * sign * d < 0 for sign, d in zip(signs.tolist(), differences, strict=True))


def _kernel(table: fmpq_mat, size: int) -> list[Fraction]:
    """The direction of the kernel of a matrix with one."""
    reduced, rank = table.rref()
    pivots = [next(j for j in range(size) if reduced[i, j] != 0) for i in range(rank)]
    (free,) = set(range(size)) - set(pivots)
    found = [Fraction(0)] * size
    found[free] = Fraction(1)
    for i, j in enumerate(pivots):
        value = reduced[i, free]
        found[j] = -Fraction(int(value.p), int(value.q))
    return found
