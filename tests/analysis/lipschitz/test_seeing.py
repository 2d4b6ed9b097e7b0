"""Regions that shrink most, among those that points show."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.analysis.lipschitz.seeing import regions_seen
from ircert.engines.boxes.one_matrix.points import Points
from ircert.limits import Deadline, OutOfTime, until
from tests.engines.boxes.making import setting_of


def in_a_corner(room: float) -> ircert.Graph:
    """The identity of three inputs, but for half of what their sum has above 3 - room."""
    build = ircert.Builder(3)
    kink = build.relu(build.affine(build.input, [[1.0, 1.0, 1.0]], [room - 3.0]))
    return build.graph(build.add(build.input, build.affine(kink, np.full((3, 1), -0.25))))


@pytest.mark.rule("L-6")
def test_a_region_in_a_corner_is_found() -> None:
    points = Points(setting_of(in_a_corner(0.25), np.zeros(3)))
    seen = regions_seen(points, 1.0)
    assert seen.sizes[0] == pytest.approx(0.25)
    assert seen.sizes[-1] == pytest.approx(1.0)
    assert (np.diff(seen.sizes) >= 0).all()
    assert (np.abs(seen.points) <= 1).all()
    found = ircert.bilipschitz(in_a_corner(0.25), ([0.0] * 3, 1.0), 2)
    assert found.lower.high == pytest.approx(0.25, rel=1e-9)
    assert 0.2 < found.lower.low <= found.lower.high


@pytest.mark.rule("L-6")
def test_points_on_the_border_of_a_domain_are_moved_off_its_kinks() -> None:
    build = ircert.Builder(2)
    graph = build.graph(build.relu(build.input))
    setting = setting_of(graph, [0.0, 0.5], low=[0.0, 0.0], high=[2.0, 2.0])
    seen = regions_seen(Points(setting), 0.25)
    assert np.array_equal(seen.jacobians, np.broadcast_to(np.eye(2), seen.jacobians.shape))
    assert (seen.points > 0).all()


@pytest.mark.rule("L-6")
def test_time_ends_it() -> None:
    with pytest.raises(OutOfTime), until(Deadline(0.0)):
        regions_seen(Points(setting_of(in_a_corner(0.25), np.zeros(3))), 1.0)
