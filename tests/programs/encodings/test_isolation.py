"""How far around a centre a network is homogeneous."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.programs.encodings.analyse import analyse
from ircert.programs.encodings.isolation import isolation, longest_in_box


@pytest.mark.parametrize(("norm", "wanted"), [(Norm.INF, 1.0), (Norm.ONE, 4.0), (Norm.TWO, 2.0)])
def test_the_longest_vector_of_the_unit_box(norm: Norm, wanted: float) -> None:
    found = longest_in_box(Ball(np.zeros(4), 1.0, norm, np.full(4, -np.inf), np.full(4, np.inf)))
    assert wanted <= found <= wanted * (1 + 1e-12)


@pytest.mark.rule("PR-13")
def test_homogeneity_around_the_centre() -> None:
    """Neurons at 0 may turn; those that are not keep their phase; the domain is not left."""
    graph = ircert.load([(np.array([[1.0], [1.0]]), np.array([0.0, -0.5])), (np.array([[1.0, 1.0]]), np.zeros(1))])
    for domain, wanted in ((None, 0.5), ((-0.125, 9.0), 0.125), ((0.0, 0.25), 0.25), ((-9.0, 9.0), 0.5)):
        ball = ircert.Query("pseudo", [0.0], 32.0, domain=domain).ball
        assert isolation(analyse(graph, ball), ball) == pytest.approx(wanted)
    ball = ircert.Query("pseudo", [0.0], 0.25).ball
    assert isolation(analyse(graph, ball), ball) == pytest.approx(0.25 / 16)
