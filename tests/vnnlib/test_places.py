"""The places that are asked about: what was exported comes back, and the rest is rounded to both sides."""

from __future__ import annotations

from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.vnnlib.places import places
from ircert.vnnlib.queries import asked, parsed
from ircert.vnnlib.text import query_text
from tests.vnnlib.test_text import network


def places_of(text: str) -> list[dict[str, Any]]:
    return places(asked(parsed(text)))


@pytest.mark.rule("V-4")
@pytest.mark.parametrize("norm", ["1", "2"])
@pytest.mark.parametrize("problem", ["local", "pseudo", "transform"])
def test_an_exported_ball_is_asked_about_again(problem: str, norm: str) -> None:
    """Sides of the box around the ball are no domain, and nothing is rounded."""
    center = np.random.default_rng(7).normal(size=3)
    other = network(3, 1) if problem == "transform" else None
    text = query_text(network(3), ircert.Query(problem, center, 0.1, norm, other))
    free = {"low": [-inf] * 3, "high": [inf] * 3}
    wanted = {"center": center.tolist(), "radius": 0.1, "norm": norm, "domain": free, "optimum": False}
    assert places_of(text) == [wanted]
    cut = query_text(network(3), ircert.Query(problem, center, 0.1, norm, other, {"low": center - 0.03, "high": inf}))
    (found,) = places_of(cut)
    assert found["domain"] == {"low": (center - 0.03).tolist(), "high": [inf] * 3}


@pytest.mark.rule("V-4")
def test_other_numbers_are_rounded_to_both_sides() -> None:
    text = query_text(network(), ircert.Query("local", [0.0, 0.0], 1.0, "2")).replace(" -1.0)", " -0.1)")
    outer, inner = places_of(text.replace(" 1.0)", " 0.7)"))
    assert Fraction(outer["radius"]) ** 2 > Fraction(7, 10) > Fraction(inner["radius"]) ** 2
    assert all(Fraction(side) < Fraction(-1, 10) for side in outer["domain"]["low"])
    assert all(Fraction(side) > Fraction(-1, 10) for side in inner["domain"]["low"])
    # 0.7 < sqrt(0.7), so that the upper sides cut the ball as well
    assert all(Fraction(side) > Fraction(7, 10) for side in outer["domain"]["high"])
    assert all(Fraction(side) < Fraction(7, 10) for side in inner["domain"]["high"])


@pytest.mark.rule("V-4")
def test_a_separation_asks_how_far_coordinates_are_apart() -> None:
    for norm in ("inf", "1", "2"):
        query = ircert.Query("local", [0.0, 0.0], 1.0, norm)
        (place,) = places_of(query_text(network(), query, Fraction(1, 4)))
        assert (place["optimum"], place["objective_norm"]) == (True, "inf")
