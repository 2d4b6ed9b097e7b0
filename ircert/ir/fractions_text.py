"""Exact rationals as text of any length: "p/q", "p" for an integer, or a number in hexadecimal such as "0x1.8p+1".

Python refuses to convert integers of more than a few thousand digits in one go, and a repaired witness can have more.
Nothing rounds: every digit that is written counts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from ircert.ir.long_integers import read, shown

LONGEST = 2**20
"""Characters of a number that is read."""
_RATIONAL = re.compile(r"([+-]?)([0-9]+)(?:/([0-9]+))?")
_HEXADECIMAL = re.compile(r"([+-]?)0x([0-9a-f]+)(?:\.([0-9a-f]*))?(?:p([+-]?[0-9]{1,4}))?")


def to_text(value: Fraction) -> str:
    """The number as "p/q" in lowest terms, or "p"."""
    top = shown(value.numerator)
    return top if value.denominator == 1 else f"{top}/{shown(value.denominator)}"


def short(values: Iterable[Any], most: int = 6) -> str:
    """A point for people: a few digits of its first numbers, "(0.5, 1.25, …)"."""
    listed = list(values)
    shown = [f"{_float(value):.6g}" for value in listed[:most]]
    return f"({', '.join([*shown, *['…'] * (len(listed) > most)])})"


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def from_text(text: str) -> Fraction:
    """The number that the text means; ValueError for anything else."""
    return Fraction(*ratio(text))


def ratio(text: str) -> tuple[int, int]:
    """(p, q), q > 0, not in lowest terms, of the number p / q that the text means; ValueError for anything else."""
    if len(text) > LONGEST:
        raise ValueError(f"a number has {len(text)} characters; at most {LONGEST} are read")
    if found := _HEXADECIMAL.fullmatch(text):
        sign, whole, rest, exponent = (part or "" for part in found.groups())
        shift = int(exponent or "0") - 4 * len(rest)
        top, bottom = int(whole + rest, 16) << max(0, shift), 1 << max(0, -shift)
    elif found := _RATIONAL.fullmatch(text):
        sign, top, bottom = found[1], read(found[2]), read(found[3] or "1")
    else:
        raise ValueError(f"{text[:60]!r} is not a rational number such as 3/4 or 0x1.8p+1")
    if bottom == 0:
        raise ValueError(f"{text[:60]!r} divides by zero")
    return (-top if sign == "-" else top), bottom
