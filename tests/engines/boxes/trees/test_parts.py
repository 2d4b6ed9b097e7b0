"""Parts of a ball: bounds on neurons, halves, and boxes outside."""

from __future__ import annotations

import numpy as np
import pytest

from ircert.engines.boxes.trees.parts import center_part, misses, part_of
from ircert.geometry.norm import Norm
from tests.engines.boxes.making import fold, setting_of


@pytest.mark.parametrize("method", ["symbolic", "lp"])
def test_phases_follow_from_bounds(method: str) -> None:
    """z = x1 - 1/2: off below, on above, open between."""
    setting = setting_of(fold(), [0.0, 0.0])
    for low, high, phase in ((-1.0, 0.375, -1), (0.625, 1.0, 1), (0.375, 0.625, 0)):
        part = part_of(setting, 1.0, np.array([low, -1.0]), np.array([high, 1.0]), method)
        assert part.low[0] <= low - 0.5
        assert part.high[0] >= high - 0.5
        assert part.phases.tolist() == [phase]
        assert part.open == (phase == 0)


def test_halves_across_the_widest_side() -> None:
    setting = setting_of(fold(), [0.0, 0.0])
    (low, left), (right, high) = part_of(setting, 1.0, np.array([-1.0, 0.0]), np.array([1.0, 1.0])).split()
    assert (low.tolist(), left.tolist()) == ([-1.0, 0.0], [0.0, 1.0])
    assert (right.tolist(), high.tolist()) == ([0.0, 0.0], [1.0, 1.0])


@pytest.mark.parametrize(
    ("norm", "outside"), [(Norm.INF, [False, False, True]), (Norm.TWO, [False, True, True]), (Norm.ONE, [True] * 3)]
)
def test_boxes_without_a_point_of_the_ball(norm: Norm, outside: list[bool]) -> None:
    """Corners at (0.6, 0.6), (0.8, 0.8) and (1.1, 0) of a ball of radius 1."""
    setting = setting_of(fold(), [0.0, 0.0], norm=norm)
    corners = [np.array(c) for c in ([0.6, 0.6], [0.8, 0.8], [1.1, 0.0])]
    assert [misses(setting, 1.0, corner, np.full(2, 2.0)) for corner in corners] == outside


def test_a_box_that_touches_the_ball_does_not_miss_it() -> None:
    for norm in Norm:
        setting = setting_of(fold(), [0.0, 0.0], norm=norm)
        assert not misses(setting, 1.0, np.array([1.0, 0.0]), np.full(2, 2.0))
        assert misses(setting, 1.0, np.array([np.nextafter(1.0, 2.0), 0.0]), np.full(2, 2.0))


def test_boxes_outside_the_domain() -> None:
    setting = setting_of(fold(), [0.0, 0.0], low=np.full(2, -1.0), high=np.full(2, 0.5))
    assert misses(setting, 10.0, np.array([0.75, 0.0]), np.full(2, 2.0))


@pytest.mark.parametrize(("x", "sign"), [(0.25, -1), (0.5, 0), (0.75, 1)])
def test_the_centre_alone_has_exact_signs(x: float, sign: int) -> None:
    assert center_part(setting_of(fold(), [x, 0.0])).phases.tolist() == [sign]
