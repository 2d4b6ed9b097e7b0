"""Products and sums of floats, exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy.sparse import csr_array

from ircert.exact.dyadics import DyadicArithmetic, Dyadics, product

ARITHMETIC = DyadicArithmetic()
SMALL = Dyadics.of_floats(np.array([[0.1, 0.0], [3.0, -(2.0**-40)]]))


def values(matrix: Dyadics) -> list[list[Fraction]]:
    return [[Fraction(int(v), 1 << matrix.scale) for v in line] for line in matrix.numerators]


def test_floats_are_what_they_are() -> None:
    assert values(SMALL) == [[Fraction(0.1), 0], [3, Fraction(-1, 2**40)]]
    assert not SMALL.is_zero()
    assert Dyadics.of_floats(np.zeros((2, 2))).is_zero()


def test_products_with_floats_do_not_round() -> None:
    weight = np.array([[0.1, 0.7], [0.0, 1e-30]])
    wanted = [
        [sum(Fraction(w) * v for w, v in zip(line, column, strict=True)) for column in zip(*values(SMALL), strict=True)]
        for line in weight.tolist()
    ]
    for given in (weight, csr_array(weight)):
        assert values(ARITHMETIC.times(given, SMALL)) == wanted


def test_rows_masks_signs_stacks_and_sums() -> None:
    on = np.array([False, True])
    assert values(ARITHMETIC.masked(SMALL, on)) == [[0, 0], [3, Fraction(-1, 2**40)]]
    assert values(ARITHMETIC.signed(SMALL, on))[0] == [-Fraction(0.1), 0]
    assert values(ARITHMETIC.rows(SMALL, np.array([1, 1]))) == [values(SMALL)[1]] * 2
    assert values(ARITHMETIC.spread(SMALL, np.array([2, 0]), 3)) == [values(SMALL)[1], [0, 0], values(SMALL)[0]]
    other = Dyadics.of_floats(np.array([[0.5, 0.5]]))
    assert values(ARITHMETIC.stack([SMALL, other])) == [*values(SMALL), [Fraction(1, 2)] * 2]
    assert values(ARITHMETIC.total([SMALL, SMALL])) == [[2 * v for v in line] for line in values(SMALL)]


def test_residues_are_of_the_numerators() -> None:
    eighths = Dyadics.of_floats(np.array([[0.5, -0.125]]))
    assert eighths.scale == 3
    assert eighths.residues(7).tolist() == [[4.0, 6.0]]


def test_products_of_integers() -> None:
    a, b = (Dyadics.of_floats(np.arange(6.0).reshape(shape)).numerators for shape in ((3, 2), (2, 3)))
    assert [[int(v) for v in line] for line in product(a, b)] == (
        np.arange(6).reshape(3, 2) @ np.arange(6).reshape(2, 3)
    ).tolist()
