"""Where determinants of smooth networks are 0."""

from __future__ import annotations

import numpy as np
import pytest

from ircert.analysis.solids.zero_surface import _triangles, zero_surface
from ircert.questions.query import Query
from tests.analysis.solids.networks import bent


def test_two_planes() -> None:
    found = zero_surface(bent(), Query("local", [0.0, 0.0, 0.0], 2.0).ball)
    np.testing.assert_allclose(np.abs(found[:, :, 0]), np.arccosh(np.sqrt(2)), atol=2e-3)
    area = np.linalg.norm(np.cross(found[:, 1] - found[:, 0], found[:, 2] - found[:, 0]), axis=1).sum() / 2
    assert area == pytest.approx(2 * 16.0, rel=1e-2)
    assert not len(zero_surface(bent(), Query("local", [3.0, 0.0, 0.0], 1.0).ball))


def test_a_plane_through_one_tetrahedron() -> None:
    corners = np.array([[[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]]])
    for plane in np.random.default_rng(0).standard_normal((50, 4)):
        heights = corners @ plane[:3] + plane[3]
        for triangle in _triangles(corners, heights) if np.ptp(np.sign(heights)) == 2 else ():
            np.testing.assert_allclose(triangle @ plane[:3] + plane[3], 0, atol=1e-12)
