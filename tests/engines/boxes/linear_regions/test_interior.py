"""Patterns without an interior: planes through one point."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.engines.boxes.linear_regions.interior import FlatSides
from tests.engines.boxes.making import setting_of
from tests.engines.boxes.search.test_prover import prover_of
from tests.generated.networks import asked

LINES = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -2.0], [3.0, 1.0]])


def sides_of(offsets: Any) -> FlatSides:
    """Five lines of the plane at an offset from (1/2, 1/4), as a first layer."""
    layers = [(LINES, np.asarray(offsets) - LINES @ [0.5, 0.25]), (np.ones((2, 5)), np.zeros(2))]
    return FlatSides(ExactMaps(setting_of(ircert.load(layers), [0.0, 0.0])))


def with_interior(flat: FlatSides, radius: float) -> int:
    none = np.zeros(5, dtype=np.int8)
    patterns = (np.array(signs, dtype=np.int8) for signs in product((1, -1), repeat=5))
    return sum(not flat.have_none(phases, none, radius) for phases in patterns)


@pytest.mark.rule("E-2")
def test_sectors_around_a_point() -> None:
    """Five lines through a point make ten sectors; moved a little, however little, they make 16 regions."""
    assert with_interior(sides_of(np.zeros(5)), 1.0) == 10
    assert with_interior(sides_of([0.0, 0.0, 2.0**-40, 2.0**-42, -(2.0**-41)]), 1.0) == 16
    assert with_interior(sides_of(np.zeros(5)), 0.125) < 10, "regions that lie far from the ball do not count"


def test_given_sides_do_not_count() -> None:
    """A part may be flat: then the sides that it gives need not leave an interior."""
    flat = sides_of(np.zeros(5))
    phases, none = np.array([1, 1, -1, 0, 0], dtype=np.int8), np.zeros(5, dtype=np.int8)
    assert flat.have_none(phases, none, 1.0)
    assert not flat.have_none(phases, np.array([0, 0, -1, 0, 0], dtype=np.int8), 1.0)


@pytest.mark.rule("E-2")
def test_trees_around_a_vertex_are_small() -> None:
    """All neurons are 0 at one point of the ball, and every pair of patterns meets there."""
    question = asked(8844)
    setting = setting_of(ircert.load(question.layers), question.center, norm=question.norm)
    prover = prover_of(setting)
    assert prover.prove(2.5) == "closed"
    assert prover.counts.nodes < 300
