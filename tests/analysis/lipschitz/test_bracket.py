"""Lipschitz constants between two ends."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import ircert
from ircert.analysis.lipschitz.bracket import BiLipschitz, Bracket, unless_pinned
from ircert.errors import QueryError
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.result.radius import End


def exact(value: Fraction | int) -> Bracket:
    return Bracket(End.below(Fraction(value), "known"), End.above(Fraction(value), "known"))


def rough(low: float, high: float) -> Bracket:
    return Bracket(End(low, "below"), End(high, "above"))


def answer(upper: Bracket, lower: Bracket) -> BiLipschitz:
    build = ircert.Builder(1)
    ball = Ball(np.zeros(1), 1.0, Norm.INF, np.full(1, -np.inf), np.full(1, np.inf))
    return BiLipschitz(upper, lower, ball, Norm.INF, build.graph(build.input))


def test_brackets_are_in_order_and_know_when_they_are_exact() -> None:
    with pytest.raises(ValueError, match="lies above"):
        rough(2.0, 1.0)
    assert exact(Fraction(1, 3)).exact == Fraction(1, 3)
    assert rough(1.0, 1.0).exact is None
    assert (str(exact(2)), str(rough(1.0, 1.5))) == ("2", "[1, 1.5]")


def test_the_constant_is_the_larger_of_both_ways() -> None:
    assert answer(exact(3), exact(Fraction(1, 2))).constant.exact == 3
    assert answer(exact(3), exact(Fraction(1, 7))).constant.exact == 7
    wide = answer(rough(2.0, 3.0), rough(0.25, 0.5)).constant
    assert (wide.low, wide.high) == (2.0, 4.0)
    assert wide.high.evidence == "1/L': below"


def test_a_third_is_rounded_to_the_safe_side() -> None:
    constant = answer(exact(1), rough(3.0**-1, 3.0**-1)).constant
    assert Fraction(constant.low) <= 1 / Fraction(3.0**-1) <= Fraction(constant.high)


def test_no_least_stretch_no_constant() -> None:
    constant = answer(exact(1), rough(0.0, 0.0)).constant
    assert constant.low == constant.high == math.inf
    assert "L* = inf" in answer(exact(1), rough(0.0, 0.0)).summary()


def test_pinned_inputs_have_no_constant() -> None:
    unless_pinned(answer(exact(1), exact(1)).ball)
    with pytest.raises(QueryError, match="no interior"):
        unless_pinned(Ball(np.zeros(1), 1.0, Norm.INF, np.zeros(1), np.zeros(1)))
