"""Edges between cells, and where the determinant changes its sign."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import ircert
from ircert.engines.regions.complex import Complex
from ircert.engines.regions.facets import determinants, edge_ends, facets, winding_vertices
from ircert.engines.regions.growth import Surroundings
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.questions.network import lowered
from tests.engines.boxes.making import fold
from tests.oracle.build import square


def complex_of(graph: ircert.Graph, center: list[float], radius: int = 1) -> Complex:
    return Surroundings(lowered(graph), Place.everywhere(np.array(center), Norm.INF)).complex(Fraction(radius))


def test_one_fold_has_two_cells_and_one_facet() -> None:
    found = complex_of(fold(), [0.0, 0.0])
    assert len(found) == 2
    shared = facets(found)
    assert shared.ends.shape == (1, 2)
    assert sorted(shared.sides[0].tolist()) == [0, 1]
    assert sorted(found.points[shared.ends[0]][:, 0].tolist()) == [0.5, 0.5]
    assert len(edge_ends(found)[0]) == 8, "two quadrilaterals"


def test_determinants_of_both_sides() -> None:
    values, signs = determinants(complex_of(fold(), [0.0, 0.0]), [0, 1])
    assert sorted(values.tolist()) == [-1.0, 1.0]
    assert sorted(signs.tolist()) == [-1, 1]


def test_signs_that_floats_cannot_tell_are_exact() -> None:
    """det [[1, 1], [1, 1 + 2^-52]] scaled so that products round."""
    third = 1.0 / 3
    graph = ircert.load([(np.array([[third, third], [third, np.nextafter(third, 1.0)]]), np.zeros(2))])
    assert determinants(complex_of(graph, [0.0, 0.0]), [0, 1])[1].tolist() == [1]
    flat = ircert.load([(np.array([[third, third], [third, third]]), np.zeros(2))])
    assert determinants(complex_of(flat, [0.0, 0.0]), [0, 1])[1].tolist() == [0]


def test_the_square_winds_twice_around_its_centre() -> None:
    found = complex_of(ircert.load(square()), [0.25, 0.125])
    (vertex,) = winding_vertices(found)
    assert found.points[vertex].tolist() == [-0.25, -0.125], "0, seen from the centre"
    assert len(winding_vertices(complex_of(fold(), [0.0, 0.0]))) == 0
