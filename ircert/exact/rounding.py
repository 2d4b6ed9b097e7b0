"""From exact numbers to floats: rounded down, rounded up, and square roots."""

from __future__ import annotations

import math
from fractions import Fraction

LARGEST = Fraction(math.nextafter(math.inf, 0.0))


def rounded_down(exact: Fraction) -> float:
    """The largest float that is at most the number (at least zero)."""
    if exact > LARGEST:
        return float(LARGEST)
    near = float(exact)
    return near if Fraction(near) <= exact else math.nextafter(near, -math.inf)


def rounded_up(exact: Fraction) -> float:
    """The smallest float that is at least the number (at least zero)."""
    if exact > LARGEST:
        return math.inf
    near = float(exact)
    return near if Fraction(near) >= exact else math.nextafter(near, math.inf)


def exact_root(square: Fraction) -> Fraction | None:
    """The square root, where it is rational."""
    top, bottom = math.isqrt(square.numerator), math.isqrt(square.denominator)
    return Fraction(top, bottom) if top * top == square.numerator and bottom * bottom == square.denominator else None


def root_down(square: Fraction) -> float:
    """A float that is at most the square root, and within two units in the last place of it."""
    return rounded_down(near_root(square, up=0))


def root_up(square: Fraction) -> float:
    """A float that is at least the square root, and within two units in the last place of it."""
    return rounded_up(near_root(square, up=1))


def near_root(square: Fraction, up: int) -> Fraction:
    """The square root where it is rational; else floor(2^k root) / 2^k, or one step more, to 64 bits at least."""
    exact = exact_root(square)
    if exact is not None:
        return exact
    shift = max(0, 64 + (square.denominator.bit_length() - square.numerator.bit_length()) // 2 + 1)
    return Fraction(math.isqrt((square.numerator << 2 * shift) // square.denominator) + up, 1 << shift)
