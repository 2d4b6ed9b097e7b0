"""Lines above norms between bounds, and sizes of balls in any norm."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ircert.engines.optimum.objectives import Chords, box_length, length_up
from ircert.engines.optimum.size import size_of_ball
from ircert.geometry.norm import Norm
from ircert.questions.query import Query

numbers = st.floats(-3, 3, allow_subnormal=False)


@pytest.mark.rule("E-20")
@given(
    st.lists(st.tuples(numbers, numbers, st.floats(0, 1)), min_size=1, max_size=3),
    st.sampled_from([Norm.ONE, Norm.TWO]),
)
def test_chords_lie_above_the_measure(sides: list[tuple[float, float, float]], norm: Norm) -> None:
    low = np.array([min(a, b) for a, b, _ in sides])
    high = np.array([max(a, b) for a, b, _ in sides])
    at = [
        min(max(Fraction(a) + Fraction(t) * (Fraction(b) - Fraction(a)), Fraction(a)), Fraction(b))
        for a, b, t in zip(low, high, (t for *_, t in sides), strict=True)
    ]
    chords = Chords.of(norm, low, high)
    line = sum(Fraction(s) * d for s, d in zip(chords.slopes.tolist(), at, strict=True)) + Fraction(chords.constant)
    assert line >= norm.measure(at)


@pytest.mark.rule("E-20")
def test_lengths_are_rounded_up() -> None:
    assert length_up(Norm.TWO, 2.0) > math.sqrt(2.0) * (1 - 1e-16)
    assert Fraction(length_up(Norm.TWO, 2.0)) ** 2 >= 2
    assert (length_up(Norm.ONE, -1.0), length_up(Norm.ONE, math.inf)) == (0.0, math.inf)
    assert box_length(Norm.ONE, np.array([-2.0, 0.0]), np.array([1.0, 3.0])) == 5.0


@pytest.mark.rule("E-20")
@pytest.mark.parametrize("problem", ["local", "pseudo"])
@pytest.mark.parametrize("ball", Norm)
@pytest.mark.parametrize("objective", Norm)
def test_no_two_points_are_further_apart_than_the_size(problem: str, ball: Norm, objective: Norm) -> None:
    rng, center = np.random.default_rng(0), np.array([0.25, 0.5, 1.0])
    query = Query(problem, center, 0.5, ball, None, (0.0, 1.0), objective)
    size = size_of_ball(query)
    ways = rng.normal(size=(2000, 3)) * (rng.random((2000, 3)) < 0.7)
    ways *= 0.5 / np.maximum(np.linalg.norm(ways, ord=ball.order, axis=1), 1e-9)[:, None]
    points = np.clip(center + ways, 0.0, 1.0)
    others = points[rng.permutation(len(points))] if problem == "local" else center
    lengths = np.linalg.norm(points - others, ord=objective.order, axis=1)
    assert lengths.max() <= size + 1e-12
    assert lengths.max() >= size / 2
