"""Exact pairs: they are in the ball with equal outputs, and starts in round balls are as far apart as can be."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ircert.engines.optimum.round_start import round_start
from ircert.engines.optimum.values import Values
from ircert.geometry.norm import Norm
from ircert.questions.query import Query
from ircert.witnesses.replay import refutes
from tests.programs.formulations.test_differences import network


@pytest.mark.rule("E-20")
@pytest.mark.parametrize("norm", Norm)
@pytest.mark.parametrize("problem", ["local", "pseudo", "transform"])
def test_what_is_found_is_exact(problem: str, norm: Norm) -> None:
    graph, other = network(1, 6, 5, 2), network(2, 6, 3, 2)
    query = Query(problem, np.full(6, 0.25), 0.25, norm, other if problem == "transform" else None, (0.0, 1.0))
    values = Values(graph, query)
    assert values.look(query.center, query.center)
    assert values.pair is not None
    assert refutes(graph, query, *values.pair) is None
    assert values.separation(values.pair) == values.value
    assert not values.offer(values.pair), "it is no better than itself"


def test_starts_in_round_balls() -> None:
    """x1 must not change: the longest way is that of x2, and in norm 1 the diagonal of x2 and x3."""
    rows = np.array([[1.0, 0.0, 0.0]])
    measured = np.diag([9.0, 2.0, 1.0])
    found = {norm: round_start(rows, measured, norm, None) for norm in Norm}
    lengths = {norm: np.linalg.norm(measured @ way, ord=norm.order) for norm, way in found.items() if way is not None}
    assert lengths == pytest.approx({Norm.INF: 2.0, Norm.TWO: 2.0, Norm.ONE: math.sqrt(5)}, rel=1e-4)
    asked = round_start(rows, measured, Norm.INF, (2, -1.0))
    assert asked is not None
    assert asked == pytest.approx([0.0, 0.0, -1.0], abs=1e-5)
    assert round_start(np.eye(3), measured, Norm.INF, None) is None, "there is no kernel"
