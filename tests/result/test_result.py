from __future__ import annotations

import math
import sys
from fractions import Fraction
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ircert.exact.rounding import root_down, root_up, rounded_down, rounded_up
from ircert.geometry.norm import Norm
from ircert.ir.fractions_text import from_text, to_text
from ircert.result.witness import report
from tests.result.support import fold, made

positive = st.fractions(min_value=0, max_value=10**6)


@pytest.mark.rule("R-1")
@given(positive)
def test_ends_are_rounded_to_the_safe_side(exact: Fraction) -> None:
    assert Fraction(rounded_down(exact)) <= exact <= Fraction(rounded_up(exact))
    assert rounded_up(exact) <= math.nextafter(rounded_down(exact), math.inf)
    assert Fraction(root_down(exact)) ** 2 <= exact <= Fraction(root_up(exact)) ** 2
    assert root_up(exact) - root_down(exact) <= 1e-15 * root_up(exact)


def test_numbers_beyond_the_floats() -> None:
    assert rounded_down(Fraction(10) ** 400) == sys.float_info.max
    assert rounded_up(Fraction(10) ** 400) == math.inf
    assert rounded_down(Fraction(1, 10**400)) == 0.0
    assert rounded_up(Fraction(1, 10**400)) > 0.0


@given(st.integers(), st.integers(min_value=1), st.sampled_from([0, 5000, 20000]))
def test_rationals_of_any_length_are_text(top: int, bottom: int, bits: int) -> None:
    value = Fraction((top << bits) + 1, bottom * 3**bits)
    assert from_text(to_text(value)) == value


@pytest.mark.parametrize("text", ["", "1/0", "1.5", "1/-2", "x", " 1", "1/2/3", "١"])
def test_what_is_no_rational(text: str) -> None:
    with pytest.raises(ValueError, match=r"rational|zero"):
        from_text(text)


@pytest.mark.rule("R-5")
def test_a_witness_says_how_far_apart_it_is() -> None:
    third = Fraction(1, 3)
    witness = report(fold(), None, Norm.TWO, [third], [-third])
    assert (witness.exact.x, witness.exact.y) == ([third], [-third])
    assert witness.x.tolist() == [float(third)]
    assert 2 / 3 <= witness.separation <= 2 / 3 + 1e-15
    assert witness.output_gap == 0.0
    steep = report(fold(), fold(), Norm.INF, [Fraction(1)], [Fraction(4)])
    assert (steep.separation, steep.output_gap) == (3.0, 3.0)


def test_plots_are_drawn_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    plotting = ModuleType("ircert.plotting")
    plotting.plot_result = lambda result, ax=None, **options: (result.norm, ax, options)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ircert.plotting", plotting)
    assert made().plot(ax=1, color="red") == ("inf", 1, {"color": "red"})
