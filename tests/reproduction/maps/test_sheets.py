"""Preimages of many values, crossings and distances."""

from __future__ import annotations

import numpy as np

import ircert
from ircert.data.networks import bundled
from ircert.reproduction.maps.planar import crossings, distance_to_loop, distance_to_segments, square_distance
from ircert.reproduction.maps.preimage_structure import structure_of
from ircert.reproduction.maps.sheets import preimages_of
from ircert.reproduction.maps.sides import grouped, named_pieces, pieces

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
NETWORK = bundled("brusselator-3-24-24-2").fix({2: 2.2})


def test_preimages_are_those_found_exactly() -> None:
    box = ([-8.0, -8.0], [8.0, 8.0])
    values = NETWORK(np.random.default_rng(0).uniform(-2, 3, size=(6, 2)))
    found = preimages_of(ircert.enumerate_regions(NETWORK, domain=box), values)
    for value, points in zip(values, found, strict=True):
        exact = sorted(p.point.tolist() for p in ircert.preimages(NETWORK, value, domain=box))
        np.testing.assert_allclose(points, exact, rtol=1e-6, atol=1e-7)


def test_crossings_of_a_square() -> None:
    segments = np.array([[[0.25, -1.0], [0.25, 3.0]], [[5.0, 0.0], [6.0, 1.0]], [[0.5, 0.5], [2.0, 0.5]]])
    met = crossings(SQUARE, segments)
    assert len(met) == 3
    assert met.edges.tolist() == [0, 1, 2]  # in the order of the square
    assert met.segments.tolist() == [0, 2, 0]
    np.testing.assert_allclose(met.along, [0.25, 0.5, 0.75])
    np.testing.assert_allclose(met.across, [0.25, 1 / 3, 0.5])


def test_parallel_segments_do_not_cross() -> None:
    assert len(crossings(SQUARE, np.array([[[0.2, 0.0], [0.8, 0.0]]]))) == 0


def test_distances() -> None:
    segments = np.array([[[0.0, 1.0], [4.0, 1.0]], [[3.0, 3.0], [3.0, 3.0]]])
    np.testing.assert_allclose(
        distance_to_segments(np.array([[2.0, 0.0], [5.0, 1.0], [3.0, 3.5]]), segments), [1, 1, 0.5]
    )


def test_distances_from_a_closed_polygon() -> None:
    np.testing.assert_allclose(distance_to_loop(np.array([[0.5, 0.25], [-1.0, 0.5]]), SQUARE), [0.25, 1.0])
    assert len(distance_to_loop(np.empty((0, 2)), SQUARE)) == 0


def test_the_nearest_point_in_the_square_norm() -> None:
    rng = np.random.default_rng(3)
    for segments in rng.normal(size=(20, 1, 2, 2)):
        shares = np.linspace(0, 1, 4001)[:, None]
        along = segments[0, 0] + shares * (segments[0, 1] - segments[0, 0])
        dense = np.abs(along - [0.1, -0.2]).max(axis=1).min()
        found = square_distance(segments, np.array([0.1, -0.2]))
        assert found <= dense + 1e-12
        assert found >= dense - 2e-3


def test_parts_of_the_circle() -> None:
    structure = structure_of(NETWORK, [1.0, 2.2], samples=1, points=20)
    assert [arc.name for arc in structure.arcs] == ["A", "B1", "C", "B2"]
    assert [birth.name for birth in structure.births] == list("QRST")
    for birth in structure.births:
        np.testing.assert_allclose(NETWORK(birth.double), birth.point, atol=1e-9)
        fewer, more = sorted(birth.sides(structure), key=lambda s: len(s.preimages))
        assert (len(fewer.preimages), len(more.preimages)) == (1, 3)
    a, b = structure.arcs[:2]
    assert a.counts == [3]
    assert b.counts == [1]
    assert sorted(a.samples[0].extra_signs) == [-1, 1]
    assert (a.samples[0].extra[:, 0] < 0).all()


def test_sides_of_the_fold_set() -> None:
    named = named_pieces(structure_of(NETWORK, [1.0, 2.2], samples=1, points=2))
    assert set(named) == {"I", "II", "III", "IV", "V"}
    assert grouped(named) == ["I, III, V", "II", "IV"]


def test_pieces_of_the_plane() -> None:
    # (|x| + |x - 2|, y) turns over at 0 and is flat up to 2: three strips
    folded = ircert.load(
        [
            (
                np.array([[1.0, 0.0], [-1.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]),
                [0, 0, -2, 2, 0, 0],
            ),
            (np.array([[1.0, 1.0, 1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0, -1.0]]), [0, 0]),
        ]
    )
    regions = ircert.enumerate_regions(folded, domain=([-4, -4], [4, 4]))
    found = pieces(regions)
    assert len(regions) == 6
    assert len(set(found.tolist())) == 3
    for piece in range(3):
        assert len(set(regions.signs[found == piece].tolist())) == 1


def test_a_circle_without_births_is_one_arc() -> None:
    structure = structure_of(bundled("brusselator-3-24-24-2").fix({2: 2.1}), [1.0, 2.1], samples=1, points=10)
    assert structure.births == []
    assert [arc.name for arc in structure.arcs] == ["B"]
