"""The fold set of three inputs."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.analysis.solids.polyhedron import centroid
from ircert.data.networks import bundled
from ircert.errors import QueryError
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array
from tests.analysis.solids.networks import ABS, bent, network, slopes


@pytest.mark.rule("G-9")
@pytest.mark.parametrize("seed", range(4))
def test_determinants_have_opposite_signs_at_facets(seed: int) -> None:
    graph = network(seed)
    found = ircert.fold_set(graph, ([0.0, 0, 0], 2.0))
    assert len(found) > 3
    for facet, (one, two) in zip(found.facets, found.determinants, strict=True):
        assert one * two < 0
        middle, spread = centroid(facet), facet - facet[0]
        normal = np.cross(spread[1:-1], spread[2:]).sum(axis=0)
        size = np.linalg.norm(normal)
        if size < 1e-6:  # too small to step off it in floats
            continue
        sides = [np.linalg.det(slopes(graph, middle + sign * 1e-6 * normal / size, 1e-8)) for sign in (1, -1)]
        assert sides[0] * sides[1] < 0


@pytest.mark.parametrize("seed", range(4))
def test_every_way_between_orientations_crosses_a_facet(seed: int) -> None:
    graph, rng = network(seed), np.random.default_rng(seed)
    found = ircert.fold_set(graph, ([0.0, 0, 0], 2.0))
    assert not found.singular
    crossed = 0
    for _ in range(100):
        ends = rng.uniform(-2, 2, (2, 3))
        signs = [np.sign(np.linalg.det(slopes(graph, end))) for end in ends]
        times = _crossed(ends[0], ends[1], found.triangles)
        assert (signs[0] != signs[1]) == (times % 2 == 1)
        crossed += times
    assert crossed


def _crossed(start: Array, end: Array, triangles: Array) -> int:
    """How many triangles a segment crosses; one that is flat or parallel to it counts as none."""
    first = triangles[:, 0]
    sides = np.stack([np.broadcast_to(start - end, first.shape), triangles[:, 1] - first, triangles[:, 2] - first], 2)
    clear = np.linalg.det(sides) != 0
    share, u, v = np.linalg.solve(sides[clear], (start - first[clear])[:, :, None])[:, :, 0].T
    return int(((share >= 0) & (share <= 1) & (u >= 0) & (v >= 0) & (u + v <= 1)).sum())


def test_the_nearest_facet_is_where_certify_ends() -> None:
    graph = bundled("lorenz-3-16-16-3")
    found = ircert.fold_set(graph, ([0, 0, 0], 1.3))
    assert min(np.abs(facet).max(axis=1).min() for facet in found.facets) == pytest.approx(1.2190275761934137)
    assert repr(found) == "<fold set of 17 facets among 371 regions, 0 of them singular>"


def test_balls_of_norm_1_and_domains() -> None:
    whole = ircert.fold_set(ABS, ([0.5, 0.5, 0.5], 2.0))
    assert len(whole) == 12
    assert sum(np.ptp(facet, axis=0).min() == 0 for facet in whole.facets) == 12
    diamond = ircert.fold_set(ABS, ([0.5, 0.5, 0.5], 2.0, 1))
    corners = np.concatenate(diamond.facets)
    assert np.abs(corners - 0.5).sum(axis=1).max() == pytest.approx(2.0)
    one = ircert.fold_set(ABS, domain=([-1, 1, 1], [1, 2, 2]))
    assert len(one) == 1
    assert not one.facets[0][:, 0].any()
    np.testing.assert_allclose(sorted(one.determinants[0]), [-1, 1])


def test_singular_regions() -> None:
    flat = ircert.parse("ircert.ir/1\nx = input(length=3)\ny = relu(x)\nreturn y\n")
    found = ircert.fold_set(flat, ([0.0, 0, 0], 1.0))
    assert (len(found), len(found.singular)) == (0, 7)
    assert found.triangles.shape == (0, 3, 3)


def test_what_is_refused() -> None:
    with pytest.raises(QueryError, match="one or two inputs"):
        ircert.fold_set(bent(), ([0, 0, 0], 1.0))
    with pytest.raises(QueryError, match="as many outputs as inputs"):
        ircert.fold_set(ABS.select([0]), ([0, 0, 0], 1.0))
    with pytest.raises(QueryError, match="no inside"):
        ircert.fold_set(ABS, domain=([0, 0, 0], [1, 1, 0]), ball=([0.5, 0.5, 0.0], 1.0))
    corner = Ball(np.zeros(3), 1.0, Norm.ONE, np.array([0.9, 0.9, -1.0]), np.ones(3))
    with pytest.raises(QueryError, match="no inside in common"):
        ircert.fold_set(ABS, corner)
