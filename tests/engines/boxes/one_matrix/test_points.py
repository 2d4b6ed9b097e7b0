"""Points of different linear regions of a ball: inside, and close to where neurons are 0 together."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.one_matrix.points import Points
from ircert.geometry.norm import Norm
from tests.engines.boxes.making import residual, setting_of


@pytest.mark.parametrize("norm", tuple(Norm))
def test_points_lie_in_the_ball_and_the_domain_and_in_different_regions(norm: Norm) -> None:
    low, high = np.array([-0.3, -np.inf, -np.inf]), np.array([np.inf, 0.2, np.inf])
    setting = setting_of(residual(np.random.default_rng(0), 3, 8), np.full(3, 0.1), norm=norm, low=low, high=high)
    points = Points(setting)
    sampled = points.sampled(0.7)
    for found in (sampled, points.crossings(sampled, 0.7), points.around(sampled[:4], 0.7)):
        assert (points.radii(found) < 0.7).all()
        assert ((found >= low) & (found <= high)).all()
        patterns = points.patterns(found)
        assert len(set(patterns)) == len(patterns) > 1


def test_thin_regions_are_found_where_neurons_are_zero_together() -> None:
    """Between three planes that nearly meet in a point there is a triangle with sides of 1e-6."""
    weight, bias = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [-0.25, -0.25, -0.5 - 1e-6]
    build = ircert.Builder(2)
    kinks = build.relu(build.affine(build.input, weight, bias))
    graph = build.graph(
        build.affine(build.concat(build.input, kinks), [[1.0, 0.0, 0.1, 0.2, 0.3], [0.0, 1.0, 0.3, 0.1, 0.2]])
    )
    points = Points(setting_of(graph, np.zeros(2)))
    sampled = points.sampled(1.0)
    thin = np.packbits([True, True, False]).tobytes()  # beyond two planes, and before the third
    assert thin not in points.patterns(sampled)
    assert thin in points.patterns(points.crossings(sampled, 1.0))


def test_where_one_region_is_met_nothing_crosses() -> None:
    points = Points(setting_of(residual(np.random.default_rng(0), 3, 8), np.zeros(3)))
    assert len(points.crossings(points.sampled(1e-6), 1e-6)) == 0
