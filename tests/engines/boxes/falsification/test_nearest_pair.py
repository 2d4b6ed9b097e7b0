"""Pairs that move along the collisions of a map whose collisions are known."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.falsification.collision_equations import CollisionEquations
from ircert.engines.boxes.falsification.nearest_pair import NearestPair
from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.ir.ops.curves import Silu


def program(norm: Norm, unit: float = 1.0) -> NearestPair:
    """(silu(x) + silu(-x), y), which is even in x, around (1, 1): pairs are (x, y) and (-x, y)."""
    build = ircert.Builder(2)
    even = build.affine(build.node(Silu(), build.affine(build.input, [[1.0, 0.0], [-1.0, 0.0]])), [[1.0, 1.0]])
    graph = build.graph(build.concat(even, build.affine(build.input, [[0.0, 1.0]])))
    place = Place(np.ones(2), norm, np.full(2, -9.0), np.full(2, 9.0))
    return NearestPair(CollisionEquations(Setting(graph, "local", 2, place), None, False), unit)


PAIR = np.array([1.0, 0.5, -3.0, 0.5])
"""(2, 1.5) and (-2, 1.5), relative to the centre."""


@pytest.mark.parametrize("norm", list(Norm))
def test_as_near_as_the_distance_of_its_points_allows(norm: Norm) -> None:
    found = program(norm).nearest(PAIR, 0.5)
    points = np.array([1.0, 1.0]) + found.reshape(2, 2)
    assert sorted(points[:, 0]) == pytest.approx([-0.25, 0.25], abs=1e-6)
    assert points[0, 1] == pytest.approx(points[1, 1], abs=1e-6)
    if norm != "inf":
        assert points[0, 1] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("norm", list(Norm))
def test_as_far_apart_as_a_ball_allows(norm: Norm) -> None:
    found = program(norm, 2.0).farthest_apart(0.5 * PAIR, 2.0)
    points = np.array([1.0, 1.0]) + found.reshape(2, 2)
    assert abs(points[0, 0] - points[1, 0]) == pytest.approx(2.0, abs=1e-5)  # 1 and -1
