"""Starts from linear parts at the centre: of networks that are nearly linear they are nearly best."""

from __future__ import annotations

import numpy as np
import pytest

from ircert.engines.boxes.falsification.collision_equations import CollisionEquations
from ircert.engines.boxes.falsification.linear_pairs import INSIDE, linear_starts
from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.ir.graph import Graph
from ircert.ir.ops.curves import Tanh
from tests.relational.test_intervals import curved


def setting(graph: Graph) -> Setting:
    return Setting(graph, "local", graph.output_dim, Place.everywhere(np.zeros(graph.input_dim)))


def network(weight: list[list[float]]) -> Graph:
    rows = np.array(weight)
    return curved([(rows, np.zeros(len(rows))), (np.eye(len(rows)), np.zeros(len(rows)))], Tanh)


@pytest.mark.parametrize("pseudo", [False, True])
def test_gaps_are_as_large_as_linear_parts_allow(pseudo: bool) -> None:
    """x_0 + x_1 is given: x_0 - y_0 is at most twice the radius, or once where y is the centre, and x_2 is free."""
    equations = CollisionEquations(setting(network([[1.0, 1.0, 0.0]])), None, pseudo)
    reach = np.full(equations.size, 1e-2)
    found = list(linear_starts(equations, -reach, reach, 1e-2))
    assert len(found) == 3
    for pair in found:
        x, y = (points[0] for points in equations.points(pair[None]))
        assert abs((x - y)[:2].sum()) < 1e-6
        assert np.abs(x - y).max() == pytest.approx(INSIDE * 1e-2 * (1 if pseudo else 2), rel=1e-2)
        assert Norm.INF.lengths(np.array([x, y])).max() <= 1e-2


def test_outputs_of_another_network() -> None:
    """Its outputs that the first one fixes stay, and the others vary as far as they can."""
    told = setting(network([[2.0, 2.0, 0.0], [0.0, 0.0, 3.0]]))
    equations = CollisionEquations(setting(network([[1.0, 1.0, 0.0]])), told, False)
    reach = np.full(equations.size, 1e-2)
    gaps = [equations.apart(pair[None])[0][0] for pair in linear_starts(equations, -reach, reach, 1e-2)]
    assert max(abs(gap[0]) for gap in gaps) < 1e-5
    assert max(abs(gap[1]) for gap in gaps) == pytest.approx(6e-2, rel=1e-2)
