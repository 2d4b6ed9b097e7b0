"""Planes through networks of three inputs."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.analysis.solids.slices import Plane, SliceRegions, SliceSamples, sliced
from ircert.questions.query import Query
from tests.analysis.solids.networks import ABS, bent, network, slopes

BALL = Query("local", [0.0, 0.0, 0.0], 2.0).ball


@pytest.mark.parametrize("axis", range(3))
def test_cells_have_the_jacobians_of_the_whole_network(axis: int) -> None:
    graph, plane = network(2), Plane(BALL, axis, 0.3)
    cells = sliced(graph, plane)
    assert isinstance(cells, SliceRegions)
    for ids, matrix, sign in list(zip(cells.polygons, cells.matrices, cells.signs, strict=True))[::3]:
        x = plane.lifted(cells.points[ids].mean(axis=0)[None])[0]
        assert x[axis] == 0.3
        np.testing.assert_allclose(matrix, slopes(graph, x, 1e-9), atol=1e-5)
        assert sign == np.sign(np.linalg.det(matrix))


def test_folds_of_a_slice_are_those_of_the_solid() -> None:
    graph = network(1)
    found = sliced(graph, Plane(BALL, 2, 0.3))
    facets = ircert.fold_set(graph, BALL).facets
    crossing = sum(np.ptp(np.sign(facet[:, 2] - 0.3)) == 2 for facet in facets)
    assert len(found.segments) == crossing > 0


def test_signs_in_doubt_are_exact() -> None:
    found = sliced(ABS.select([0, 1, 1]), Plane(BALL, 2, 0.5))
    assert len(found) == 4
    assert not found.signs.any()
    assert sliced(ABS.select([0, 1]), Plane(BALL, 2, 0.5)).determinants is None


def test_smooth_networks_are_sampled() -> None:
    found = sliced(bent(), Plane(BALL, 2, 0.5))
    assert isinstance(found, SliceSamples)
    inside = np.abs(np.repeat(found.lines[0], found.along)) < np.arccosh(np.sqrt(2))
    np.testing.assert_array_equal(found.signs < 0, inside)
    assert sliced(bent().select([0]), Plane(BALL, 0, 0.5)).determinants is None
