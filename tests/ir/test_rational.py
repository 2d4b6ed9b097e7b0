"""Vectors of rationals over one denominator."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from ircert.ir.rational import Rationals, common_denominator, integer_array, over_common_denominator


def test_floats_and_fractions_come_back() -> None:
    values = np.array([0.1, -3.0, 2.0**-1074, 0.0])
    assert Rationals.of_floats(values).fractions() == [Fraction(v) for v in values.tolist()]
    thirds = [Fraction(1, 3), Fraction(-5, 6), Fraction(2)]
    found = Rationals.of_fractions(thirds)
    assert (int(found.denominator), [int(v) for v in found.numerators]) == (6, [2, -5, 12])
    assert found.fractions() == thirds


def test_parts_keep_the_denominator() -> None:
    part = Rationals.of_fractions([Fraction(1, 3), Fraction(1, 2)])[1:]
    assert (len(part), part.fractions()) == (1, [Fraction(1, 2)])
    assert [int(v) for v in part.scaled_to(12)] == [6]


def test_several_vectors_over_one_denominator() -> None:
    parts, below = over_common_denominator(
        Rationals.of_fractions([Fraction(1, 4)]), Rationals.of_fractions([Fraction(1, 6)])
    )
    assert ([[int(v) for v in part] for part in parts], int(below)) == ([[3], [2]], 12)


def test_common_denominators_that_grow_too_long_are_refused() -> None:
    assert common_denominator([]) == 1
    assert common_denominator([4, 6, 10]) == 60
    with pytest.raises(ValueError, match="more than 20 bits"):
        common_denominator([2**11 - 1, 2**13 - 1], longest=20)


def test_integers_of_any_length() -> None:
    assert [int(v) for v in integer_array([1 << 200, -3])] == [1 << 200, -3]
