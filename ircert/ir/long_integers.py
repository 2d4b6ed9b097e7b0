"""Long integers: as decimal digits of any number, and their least common multiples.

By python-flint where it is installed, else by Python alone, which is slower for thousands of digits and says the same.
"""

from __future__ import annotations

import math

try:
    from flint import fmpz
except ImportError:  # optional here: all but interval arithmetic does without
    fmpz = None

AT_ONCE = 4000
"""Digits that Python converts in one go."""


def read(digits: str) -> int:
    """The integer that has these decimal digits."""
    if len(digits) <= AT_ONCE:
        return int(digits)
    if fmpz is not None:
        return int(fmpz(digits))
    half = len(digits) // 2
    return read(digits[:-half]) * 10**half + read(digits[-half:])


def shown(value: int) -> str:
    """The decimal digits of an integer, with a sign if it is negative."""
    if value.bit_length() <= 3 * AT_ONCE:
        return str(value)
    if fmpz is not None:
        return str(fmpz(value))
    half = value.bit_length() * 3 // 20
    top, rest = divmod(abs(value), 10**half)
    return "-" * (value < 0) + shown(top) + shown(rest).zfill(half)


def common_multiple(a: int, b: int) -> int:
    """The least common multiple."""
    return math.lcm(a, b) if fmpz is None else int(fmpz(a).lcm(fmpz(b)))
