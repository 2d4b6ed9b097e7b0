"""Complexes that grow outward from the centre."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import ircert
from ircert.engines.regions.growth import Surroundings
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.questions.network import lowered
from tests.engines.boxes.making import fold


def around(graph: ircert.Graph, norm: Norm = Norm.INF, low: float = -np.inf, high: float = np.inf) -> Surroundings:
    size = graph.input_dim
    return Surroundings(lowered(graph), Place(np.zeros(size), norm, np.full(size, low), np.full(size, high)))


def test_the_first_radius_is_that_of_the_first_kink() -> None:
    assert around(fold()).first_radius() == 0.5
    assert around(ircert.load([(np.eye(2), None)])).first_radius() == math.inf


@pytest.mark.parametrize(("radius", "cells"), [(Fraction(1, 4), 1), (Fraction(1, 2), 1), (Fraction(3, 4), 2)])
def test_cells_of_a_ball(radius: Fraction, cells: int) -> None:
    assert len(around(fold()).complex(radius)) == cells


def test_radii_grow_up_to_the_reach() -> None:
    radii = [float(radius) for radius, _ in around(fold()).growing(20.0)]
    assert radii == sorted(radii)
    assert (radii[0], radii[-1]) == (0.5, 20.0)
    further = [float(radius) for radius, _ in around(fold()).growing(20.0, beyond=4.0)]
    assert further[0] > 4.0


def test_a_domain_that_is_covered_ends_it() -> None:
    inside = around(fold(), low=-1.0, high=1.0)
    assert inside.covered(Fraction(1))
    assert not inside.covered(Fraction(1, 2))
    assert not inside.everywhere
    assert around(fold(), Norm.ONE, low=-1.0, high=1.0).covered(Fraction(2))
    assert not around(fold()).covered(Fraction(10**9))
    assert max(radius for radius, _ in inside.growing(math.inf)) < 100


def test_what_is_known_ahead_is_skipped() -> None:
    radii = [float(radius) for radius, _ in around(fold()).growing(64.0, ahead=lambda radius, complex_: 30.0)]
    assert radii == [0.5, 60.0, 64.0]


def test_one_input_has_a_second_coordinate_that_nobody_sees() -> None:
    line = around(ircert.load([([[1.0], [-1.0]], [-0.5, 0.0]), ([[1.0, 1.0]], None)]))
    assert len(line.box) == 1
    low, high = line.strip[1]
    assert low is not None
    assert high is not None
    assert low < 0 < high
