"""Exact rationals as text of any length: "p/q", or "p" for an integer.

Python refuses to convert integers of more than a few thousand digits in one go, and a repaired witness can have more.
"""

from __future__ import annotations

import re
from fractions import Fraction

CHUNK = 1000
_RATIONAL = re.compile(r"([+-]?)(\d+)(?:/(\d+))?")


def to_text(value: Fraction) -> str:
    """The number as "p/q" in lowest terms, or "p"."""
    top = ("-" if value < 0 else "") + _digits(abs(value.numerator))
    return top if value.denominator == 1 else f"{top}/{_digits(value.denominator)}"


def from_text(text: str) -> Fraction:
    """The number that "p/q" or "p" means; ValueError for anything else."""
    found = _RATIONAL.fullmatch(text) if text.isascii() else None
    if found is None:
        raise ValueError(f"{text[:60]!r} is not a rational number such as 3/4")
    sign, top, bottom = found.groups()
    denominator = _integer(bottom) if bottom else 1
    if denominator == 0:
        raise ValueError(f"{text[:60]!r} divides by zero")
    return Fraction(-_integer(top) if sign == "-" else _integer(top), denominator)


def _digits(value: int) -> str:
    """Decimal digits, split in halves until Python prints them."""
    if value.bit_length() <= 3 * CHUNK:
        return str(value)
    places = value.bit_length() * 3 // 20  # about half of the digits
    upper, lower = divmod(value, 10**places)
    return _digits(upper) + _digits(lower).rjust(places, "0")


def _integer(digits: str) -> int:
    if len(digits) <= CHUNK:
        return int(digits)
    places = len(digits) // 2
    return _integer(digits[:-places]) * 10**places + _integer(digits[-places:])
