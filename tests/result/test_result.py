from __future__ import annotations

import copy
import math
import pickle
import sys
from fractions import Fraction
from types import ModuleType

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ircert.exact.rounding import root_down, root_up, rounded_down, rounded_up
from ircert.geometry.norm import Norm
from ircert.ir.fractions_text import from_text, to_text
from ircert.result.radius import End, Radius
from ircert.result.result import Optimum
from ircert.result.witness import report
from tests.result.support import SCHEMA, fold, made, read

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


@pytest.mark.rule("R-7")
def test_json_keeps_the_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    found = read(made().to_json())
    assert found["radius"]["exact"] == {"certified": None, "refuted": "3/10"}
    assert found["witness"]["exact"] == {"x": ["1/3"], "y": ["-1/3"]}
    assert found["asked"] == {"radius": None, "max_radius": 1e6, "tol": 1e-6}


@pytest.mark.rule("R-7")
def test_json_has_no_infinity_and_no_nan() -> None:
    stats = {"nan": math.nan, 3: np.float32(1.5), "list": (np.int64(2), Fraction(1, 3)), "array": np.array([np.inf])}
    result = made(
        radius=Radius(End(math.inf, "always")),
        witness=None,
        domain=(np.array([-np.inf]), np.array([1.0])),
        optimum=Optimum(0.0, math.inf, "exact"),
        stats=stats,
    )
    found = read(result.to_json())
    assert found["radius"]["certified"] == "inf"
    assert found["radius"]["refuted"] is None
    assert found["domain"] == {"low": ["-inf"], "high": [1.0]}
    assert found["stats"] == {"nan": None, "3": 1.5, "list": [2, "1/3"], "array": ["inf"]}


def test_the_summary_says_what_was_found() -> None:
    text = made(stats={"seconds": {"cells": 0.5}}).summary()
    for part in ("certified: the network is injective", "0.3", "below", "above", "exact", "x = (", "cells 0.500"):
        assert part in text
    fixed = made(asked_radius=1.0, max_radius=None, verdict="refuted")
    assert "not injective on the closed ball of radius 1.0" in fixed.summary()
    lost = made(radius=Radius(End(0.0, "nothing")), witness=None, verdict="unresolved", reason="too many inputs")
    assert "too many inputs" in lost.summary()
    assert "refuted    none" in lost.summary()
    assert "on any ball" in made(radius=Radius(End(0.0, ""), End(0.0, "flat"))).summary()
    assert "every ball" in made(radius=Radius(End(math.inf, "affine")), witness=None).summary()


def test_long_points_are_shortened() -> None:
    assert "…" in made(center=np.zeros(100)).summary()


def test_plots_are_drawn_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    plotting = ModuleType("ircert.plotting")
    plotting.plot_result = lambda result, ax=None, **options: (result.norm, ax, options)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ircert.plotting", plotting)
    assert made().plot(ax=1, color="red") == ("inf", 1, {"color": "red"})
