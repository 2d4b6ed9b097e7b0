from __future__ import annotations

from fractions import Fraction
from itertools import count

import numpy as np
import pytest
from flint import fmpz
from hypothesis import given
from hypothesis import strategies as st

from ircert.exact import lifting
from ircert.exact.dyadics import as_integers, product
from ircert.exact.lifting import solve, too_long
from ircert.ir.rational import Integers
from ircert.limits import OutOfTime, Undecided, until
from tests.exact import fractions

NUMBERS = st.one_of(st.integers(-3, 3), st.integers(-(2**65), 2**65), st.integers(-(2**200), 2**200))


def table(rows: list[list[int]]) -> Integers:
    return as_integers([fmpz(v) for row in rows for v in row], (len(rows), len(rows[0])))


def random(size: int, bits: int, columns: int | None = None) -> Integers:
    rng = np.random.default_rng(size + bits)
    count = size if columns is None else columns
    return table([[int.from_bytes(rng.bytes(bits // 8), "little") for _ in range(count)] for _ in range(size)])


@given(st.data(), st.integers(1, 5), st.integers(1, 3))
def test_solutions(data: st.DataObject, size: int, columns: int) -> None:
    rows = st.lists(NUMBERS, min_size=size, max_size=size)
    left = data.draw(st.lists(rows, min_size=size, max_size=size))
    right = data.draw(st.lists(st.lists(NUMBERS, min_size=columns, max_size=columns), min_size=size, max_size=size))
    regular = fractions.rank([[Fraction(v) for v in row] for row in left]) == size
    found = solve(table(left), table(right))
    assert (found is not None) == regular
    if found is not None:
        assert found.denominator > 0
        assert (product(table(left), found.numerators) == table(right) * found.denominator).all()


@pytest.mark.parametrize(("size", "bits"), [(1, 800), (2, 64), (20, 64), (30, 200)])
def test_large_numbers(size: int, bits: int) -> None:
    left, right = random(size, bits), random(size, bits, 2)
    found = solve(left, right)
    assert found is not None
    assert (product(left, found.numerators) == right * found.denominator).all()


def test_short_solutions_take_few_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    """… of a system whose other solutions would take too many."""
    size = 40
    left = random(size, 64)
    short = table([[k % 7 - 3, 1] for k in range(size)])
    monkeypatch.setattr(lifting, "MOST_WORK", 10 * size * size * 2 * 2)
    found = solve(left, product(left, short))
    assert found is not None
    assert (found.numerators == short * found.denominator).all()
    with pytest.raises(Undecided):
        solve(left, random(size, 64, 2))


def test_what_is_predicted_to_be_too_long() -> None:
    assert not too_long(256, 70)
    assert not too_long(512, 70)
    assert too_long(1000, 70)
    assert too_long(256, 1000)


def test_the_deadline_is_asked_for_every_digit() -> None:
    asked = count()
    with until(lambda: next(asked) < 0):
        solve(random(30, 64), random(30, 64, 1))
    assert next(asked) > 2 * 30
    with until(lambda: True), pytest.raises(OutOfTime):
        solve(random(30, 64), random(30, 64, 1))
