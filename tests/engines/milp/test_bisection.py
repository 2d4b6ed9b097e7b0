"""Which radius comes next."""

from __future__ import annotations

import math

import pytest

from ircert.engines.milp.bisection import FINEST, FIRST, GROWTH, SMALLEST, Bisection


def asked(true: float, reach: float = math.inf, tol: float = 0.0) -> list[float]:
    """The radii for a radius that a perfect solver knows."""
    steps, found = Bisection(reach, tol=tol), []
    while (radius := steps.next()) is not None:
        found.append(radius)
        (steps.certified if radius < true else steps.failed)(radius)
    return found


@pytest.mark.rule("M-4")
def test_growing_shrinking_and_halving() -> None:
    assert asked(math.inf, 100.0) == [FIRST, FIRST * GROWTH, FIRST * GROWTH**2, FIRST * GROWTH**3, 100.0]
    assert asked(1e-3)[:5] == [FIRST * GROWTH**-k for k in range(5)]
    assert asked(math.inf, 0.5) == [0.5]
    for true in (1e-3, 0.7, 3.0, 1000.0):
        last = asked(true)[-1]
        assert abs(last - true) <= 2 * FINEST * true
        assert len(asked(true)) < 40
        assert len(asked(true, tol=1e-2)) < len(asked(true))


@pytest.mark.rule("M-4")
def test_an_end() -> None:
    assert SMALLEST * FIRST / GROWTH <= asked(0.0)[-1] <= SMALLEST * FIRST * GROWTH
    steps = Bisection(10.0, 2.0)
    steps.failed(2.0)
    assert steps.next() is None
    steps = Bisection(10.0, 2.0)
    assert steps.next() == 8.0
    steps.certified(1.0)
    assert steps.good == 2.0
