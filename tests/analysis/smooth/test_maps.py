"""Bounds on determinants of boxes hold those at points, by interval arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb

import ircert
from ircert.analysis.smooth.maps import SmoothMap, check_size
from ircert.errors import QueryError
from ircert.ir.enclosure import enclosed_determinant
from ircert.ir.ops import Curve
from ircert.ir.ops.curves import Gelu, HardSwish, Tanh
from tests.analysis.smooth.known import network


@pytest.mark.rule("FS-1")
@pytest.mark.parametrize("curve", [Tanh(), Gelu(), HardSwish()], ids=lambda op: op.kind)
def test_determinants_of_points_lie_within_those_of_boxes(curve: Curve) -> None:
    graph, rng = network(curve), np.random.default_rng(0)
    smooth = SmoothMap(graph)
    middle, half = rng.uniform(-2, 2, (40, 2)), 10.0 ** rng.uniform(-5, 0, (40, 1))
    least, most = smooth.determinant_ranges(middle - half, middle + half)
    for k in range(40):
        for point in middle[k] + half[k] * rng.uniform(-1, 1, (5, 2)):
            true = enclosed_determinant(graph, point.tolist())
            assert arb(least[k]) <= true <= arb(most[k])
    low, high = smooth.determinant_ranges(middle, middle)
    assert (high - low < 1e-11).all()
    assert np.allclose(smooth.determinants(middle), (low + high) / 2, rtol=0, atol=1e-11)


@pytest.mark.rule("FS-1")
def test_bounds_tighten_with_the_square_of_a_box() -> None:
    smooth = SmoothMap(network(Tanh()))
    middle = np.random.default_rng(1).uniform(-1, 1, (20, 2))
    slack = []
    for half in (1e-2, 1e-3):
        least, most = smooth.determinant_ranges(middle - half, middle + half)
        step = 1e-5
        tilt = sum(
            np.abs(smooth.determinants(middle + step * unit) - smooth.determinants(middle - step * unit)) / (2 * step)
            for unit in np.eye(2)
        )
        slack.append(np.median((most - least) / 2 - half * tilt))
    assert 0 < slack[1] < slack[0] / 50


@pytest.mark.parametrize("radius", [np.inf, 1.5e308])
def test_unbounded_boxes_are_refused(radius: float) -> None:
    with pytest.raises(QueryError, match="bounded"):
        check_size(np.full(2, -radius), np.full(2, radius))
    with pytest.raises(QueryError, match="no area"):
        check_size(np.zeros(2), np.array([1.0, 0.0]))


def test_large_boxes_have_answers() -> None:
    """Saturated far out; nothing is decided where bounds are too wide, and nothing is wrong."""
    graph = network(Tanh())
    assert ircert.fold_set(graph, ([0.0, 0.0], 1e30), width=1e29).holds([0.0, 0.0])
    assert ircert.preimages(graph, [1e6, 1e6], ([0.0, 0.0], 1e3)) == []
