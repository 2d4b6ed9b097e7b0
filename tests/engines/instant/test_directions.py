"""Derivatives along directions, exactly, and how far they hold."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import ircert
from ircert.engines.instant.directions import Direction, Neighbourhood
from tests.engines.boxes.making import fold


def around(x: int | Fraction) -> Neighbourhood:
    """(x1 - 2 relu(x1 - 1/2), x2)."""
    build = ircert.questions.network.lowered(fold())
    return Neighbourhood(build, [Fraction(x), Fraction(0)])


def test_a_direction_with_short_numbers() -> None:
    found = Direction([2, 0], [3, -4])
    assert found.fractions(3) == [Fraction(-4, 8), 0, Fraction(3, 8)]
    assert found.floats(3).tolist() == [-0.5, 0.0, 0.375]


@pytest.mark.parametrize(
    ("x", "step", "change", "reach"),
    [
        (0, 1, 1, Fraction(1, 2)),
        (0, 2, 2, Fraction(1, 4)),
        (0, -1, -1, None),
        (1, 1, -1, None),
        (1, -1, 1, Fraction(1, 2)),
    ],
)
def test_the_change_up_to_the_kink(x: int, step: int, change: int, reach: Fraction | None) -> None:
    found = around(x).along([Fraction(step), Fraction(0)])
    assert (found.change, found.reach) == ([Fraction(change), Fraction(0)], reach)


@pytest.mark.parametrize(("step", "change"), [(1, -1), (-1, -1)])
def test_a_neuron_at_zero_turns_with_the_direction(step: int, change: int) -> None:
    there = around(Fraction(1, 2))
    assert [kinks.tolist() for kinks in there.kinks.values()] == [[0]]
    found = there.along([Fraction(step), Fraction(0)])
    assert found.change[0] == (change if step > 0 else step)
    assert found.reach is None
    assert [bool(on[0]) for on in found.on.values()] == [step > 0]


def test_what_is_claimed_along_the_way_is_the_network() -> None:
    rng = np.random.default_rng(0)
    graph = ircert.load(
        [(rng.integers(-4, 5, (6, 2)) / 2, rng.integers(-4, 5, 6) / 4), (rng.integers(-4, 5, (2, 6)) / 2, None)]
    )
    x, v = [Fraction(1, 3), Fraction(-1, 5)], [Fraction(2, 7), Fraction(1)]
    found = Neighbourhood(graph, x).along(v)
    reach = Fraction(1) if found.reach is None else found.reach
    for share in (Fraction(1, 3), Fraction(1)):
        point = [a + share * reach * b for a, b in zip(x, v, strict=True)]
        moved = [a + share * reach * d for a, d in zip(graph.exact(x), found.change, strict=True)]
        assert list(graph.exact(point)) == moved
