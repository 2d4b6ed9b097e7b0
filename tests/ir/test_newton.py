"""Roots in boxes: those that are known are found, and no others."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb, arb_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from ircert.ir.newton import holds_root, near_root

THIRD = Fraction(1, 3)


def square(values: list[arb]) -> tuple[list[arb], arb_mat]:
    """x^2 - 2."""
    (x,) = values
    return [x * x - 2], arb_mat(1, 1, [2 * x])


def circle(values: list[arb]) -> tuple[list[arb], arb_mat]:
    """x^2 + y^2 = 1 and x = 2 y."""
    x, y = values
    return [x * x + y * y - 1, x - 2 * y], arb_mat(2, 2, [2 * x, 2 * y, arb(1), arb(-2)])


def test_a_box_around_a_root() -> None:
    root = near_root(square, [Fraction(1)], 256)
    assert root is not None
    assert abs(root[0] ** 2 - 2) < Fraction(1, 2**120)
    for radius in (Fraction(1, 10), Fraction(1, 2**60)):
        assert holds_root(square, root, [radius], 128)
    assert not holds_root(square, root, [Fraction(3)], 128)  # two roots
    assert not holds_root(square, [root[0] + THIRD], [Fraction(1, 10)], 128)


def test_several_unknowns() -> None:
    start = [Fraction(9, 10), Fraction(4, 10)]
    root = near_root(circle, start, 128)
    assert root is not None
    assert float(root[1]) == pytest.approx(5**-0.5)
    assert holds_root(circle, root, [Fraction(1, 2**20)] * 2, 128)
    assert holds_root(circle, start, [Fraction(1, 10)] * 2, 64)
    assert not holds_root(circle, [-v for v in start], [Fraction(1, 100)] * 2, 64)


def test_double_roots_and_slopes_of_zero_show_nothing() -> None:
    def touching(values: list[arb]) -> tuple[list[arb], arb_mat]:
        return [values[0] * values[0]], arb_mat(1, 1, [2 * values[0]])

    assert not holds_root(touching, [Fraction(0)], [Fraction(1, 100)], 128)
    assert near_root(touching, [Fraction(0)], 128) is None
    assert near_root(lambda z: ([z[0] * 0 + 1], arb_mat(1, 1, [arb(0)])), [Fraction(0)], 128) is None


@settings(max_examples=30)
@given(st.fractions(-3, 3, max_denominator=1000), st.fractions(Fraction(1, 1000), 2, max_denominator=1000))
def test_no_box_without_a_root_passes(middle: Fraction, radius: Fraction) -> None:
    """x^2 - 2 on rational boxes."""
    low, high = middle - radius, middle + radius
    right = (low < 0 or low * low < 2) and high > 0 and high * high > 2
    left = (high > 0 or high * high < 2) and low < 0 and low * low > 2
    if holds_root(square, [middle], [radius], 64):
        assert right != left
