"""Numbers that people give, as the floats they are."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert.errors import IrcertError, QueryError
from ircert.ir.floats import NotAFloat, exact_float, exact_floats
from ircert.questions.query import Query
from tests.questions.test_query import BIG, NUMBERS, ROUNDED

NOT_REAL = [
    1 + 0j,
    np.complex128(2),
    True,
    np.bool_(True),
    "0.5",
    b"1",
    None,
    math.nan,
    Decimal("nan"),
    [0.5],
    object(),
    np.ma.masked,
]


@pytest.mark.rule("Q-1")
@pytest.mark.parametrize(
    "given",
    [*ROUNDED, *NOT_REAL],
    ids=lambda v: f"{type(v).__name__}-{str(v)[:9]}" if not isinstance(v, int) else "int",
)
def test_what_is_no_float_is_refused(given: Any) -> None:
    with pytest.raises(NotAFloat):
        exact_float(given)
    with pytest.raises(NotAFloat):
        exact_floats([0.5, given])


@pytest.mark.rule("Q-1")
@pytest.mark.parametrize("given", NUMBERS)
def test_numbers_that_floats_hold(given: Any) -> None:
    assert Fraction(exact_float(given)) == Fraction(*np.longdouble(given).as_integer_ratio())
    assert math.copysign(1.0, exact_float(given)) == 1.0
    assert exact_floats([given, 0.25]).tolist() == [exact_float(given), 0.25]


@pytest.mark.rule("Q-1")
@given(st.fractions() | st.integers() | st.decimals(allow_nan=False, allow_infinity=False) | st.floats(allow_nan=False))
def test_a_number_is_itself_or_refused(given: Any) -> None:
    try:
        number = exact_float(given)
    except NotAFloat:
        assert Fraction(float(given)) != Fraction(given)
    else:
        assert math.isinf(number) or Fraction(number) == Fraction(given)


@pytest.mark.rule("Q-1")
def test_masked_entries_are_no_numbers() -> None:
    masked = np.ma.masked_array([0.0, 1.0], mask=[False, True])
    with pytest.raises(QueryError, match="masked"):
        Query("local", center=masked, radius=1.0)
    with pytest.raises(IrcertError, match="masked"):
        ircert.load([(masked.reshape(1, 2), None)])
    assert exact_floats(np.ma.masked_array([0.0, 1.0], mask=False)).tolist() == [0.0, 1.0]


@pytest.mark.rule("Q-1")
def test_arrays_are_taken_as_they_are() -> None:
    assert exact_floats(np.array([1, 2], dtype=np.uint8)).tolist() == [1.0, 2.0]
    assert exact_floats(np.array([[0.1]], dtype=np.float32)).tolist() == [[float(np.float32(0.1))]]
    given = np.array([1.0, -0.0])
    taken = exact_floats(given)
    taken[0] = 7.0
    assert given[0] == 1.0
    assert not np.signbit(taken[1])
    for wrong in (
        np.array([BIG]),
        np.array([1j]),
        np.array(["1"]),
        np.array([True]),
        np.array([np.nan]),
        [[1.0], [2.0, 3.0]],
    ):
        with pytest.raises(NotAFloat):
            exact_floats(wrong)
