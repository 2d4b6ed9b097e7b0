"""Hidden designs are found, and what is found is injective."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ircert
from ircert.ir.graph import Graph
from ircert.structure.known import Knowledge
from ircert.testing import invertible_networks


@pytest.mark.rule("ST-1", "ST-2", "ST-3", "ST-4", "ST-5", "ST-6")
@settings(max_examples=60)
@given(invertible_networks())
def test_hidden_designs_are_found(graph: Graph) -> None:
    assert Knowledge(graph).is_injective


@pytest.mark.slow
@settings(max_examples=1_000, suppress_health_check=list(HealthCheck))
@given(invertible_networks())
def test_a_thousand_hidden_designs_are_found(graph: Graph) -> None:
    assert Knowledge(graph).is_injective


@pytest.mark.rule("ST-7")
@settings(max_examples=15)
@given(invertible_networks(inputs=2, steps=3, smooth=False), st.integers(0, 2**32 - 1))
def test_no_two_points_of_a_hidden_design_collide(graph: Graph, seed: int) -> None:
    """In exact arithmetic, for points that are near each other and far away; and `regions` finds no fold."""
    points = np.random.default_rng(seed).integers(-64, 65, (12, graph.input_dim)) / 8
    values = {tuple(graph.exact(x)) for x in np.unique(points, axis=0)}
    assert len(values) == len(np.unique(points, axis=0))
    found = ircert.certify(graph, np.zeros(graph.input_dim), engine="regions", max_radius=8.0, time_limit=20)
    assert found.radius.refuted is None
