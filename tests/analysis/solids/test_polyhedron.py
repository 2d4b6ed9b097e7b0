"""Polyhedra that planes cut."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from ircert.analysis.solids.polyhedron import SIDE, box, centroid, diamond, inside, triangles

CUBE = box(-np.ones(3), np.ones(3))


@pytest.mark.parametrize("seed", range(6))
def test_parts_fill_the_whole(seed: int) -> None:
    rng = np.random.default_rng(seed)
    parts = [CUBE]
    for label in range(12):
        plane = rng.standard_normal(4) * [1, 1, 1, 0.3]
        parts = [side for part in parts for side in part.split(plane, label) if side is not None]
    assert len(parts) > 20
    volumes = [ConvexHull(part.vertices).volume for part in parts]
    assert sum(volumes) == pytest.approx(8.0)
    for part in parts:
        corners, edges, faces = len(part.vertices), len(list(part.edges())), len(part.faces)
        assert corners - edges + faces == 2
        area = sum(
            np.linalg.norm(np.cross(t[1] - t[0], t[2] - t[0])) / 2
            for k in range(faces)
            for t in triangles(part.polygon(k))
        )
        assert area == pytest.approx(ConvexHull(part.vertices).area)


def test_planes_that_touch_cut_nothing() -> None:
    assert CUBE.split(np.array([1.0, 0, 0, -1])) == (CUBE, None)
    assert CUBE.split(np.array([1.0, 0, 0, 1])) == (None, CUBE)
    assert CUBE.split(np.array([1.0, 1, 1, -3])) == (CUBE, None)


def test_a_cut_through_corners_and_its_label() -> None:
    below, above = CUBE.split(np.array([1.0, -1, 0, 0]), 7)
    assert below is not None
    assert above is not None
    assert below.labels.count(7) == above.labels.count(7) == 1
    assert below.labels.count(SIDE) == 4
    assert len(below.vertices) == 6


def test_the_ball_of_norm_1() -> None:
    found = inside(CUBE, diamond(np.zeros(3), 1.0))
    assert found is not None
    assert sorted(map(tuple, np.round(found.vertices, 12) + 0.0)) == sorted(map(tuple, [*np.eye(3), *-np.eye(3) + 0.0]))
    assert inside(CUBE, np.array([[1.0, 0, 0, 5.0]])) is None


def test_vertices_along_an_edge_do_not_move_the_middle() -> None:
    square = np.array([[0.0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0]])
    more = np.insert(square, 1, [0.5, 0, 0], axis=0)
    np.testing.assert_allclose(centroid(square), [1, 1, 0])
    np.testing.assert_allclose(centroid(more), [1, 1, 0])
    np.testing.assert_allclose(centroid(np.ones((3, 3))), 1)
