"""Brackets and their ends."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction

import pytest

from ircert.result.radius import End, Radius


@pytest.mark.rule("R-1")
def test_an_end_is_a_float_with_evidence() -> None:
    end = End.above(Fraction(1, 3), "a collision")
    assert end == float(end)
    assert (end.evidence, end.exact) == ("a collision", Fraction(1, 3))
    for twin in (pickle.loads(pickle.dumps(end)), copy.deepcopy(end)):
        assert (twin, twin.evidence, twin.exact) == (end, end.evidence, end.exact)
    assert End.root_below(Fraction(9, 4), "").exact == Fraction(3, 2)
    assert End.root_above(Fraction(2), "").exact is None


@pytest.mark.parametrize("value", [-1.0, math.nan])
def test_no_radius_is_negative_or_nan(value: float) -> None:
    with pytest.raises(ValueError, match="at least 0"):
        End(value, "")


def test_a_bracket_is_in_order() -> None:
    with pytest.raises(ValueError, match="lies above"):
        Radius(End(2.0, ""), End(1.0, ""))


@pytest.mark.rule("R-2")
def test_when_a_bracket_is_closed() -> None:
    assert Radius(End(0.0, ""), End(0.0, "")).closed(1e-6)
    assert Radius(End(math.inf, "")).closed(1e-6)
    assert not Radius(End(1.0, "")).closed(1e-6)
    assert Radius(End(1.0 - 1e-7, ""), End(1.0, "")).closed(1e-6)
    assert not Radius(End(1.0 - 1e-5, ""), End(1.0, "")).closed(1e-6)
