from __future__ import annotations

import math
import random

import pytest

from ircert.ir import long_integers
from ircert.ir.long_integers import common_multiple, read, shown


@pytest.mark.parametrize("alone", [True, False])
def test_digits_of_any_number(alone: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if alone:
        monkeypatch.setattr(long_integers, "fmpz", None)
    dice = random.Random(0)
    for length in (1, 10, 3_999, 4_000, 4_001, 20_011):
        digits = "7" + "".join(dice.choice("0000123456789") for _ in range(length - 1))
        value = read(digits)
        assert shown(value) == digits
        assert shown(-value) == "-" + digits
        assert value % 10**9 == int(digits[-9:])
        assert read("000" + digits) == value
        assert common_multiple(value, 6) == value * 6 // math.gcd(value, 6)
