"""First balls of smooth networks with many inputs."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.one_matrix.one_box import first_closed
from ircert.engines.boxes.one_matrix.points import Points
from ircert.geometry.norm import Norm
from tests.engines.boxes.making import setting_of


def closed(graph: ircert.Graph, radii: list[float], norm: Norm = Norm.INF, at: float = 0.0) -> float:
    setting = setting_of(graph, np.full(graph.input_dim, at), norm=norm)
    return first_closed(Batches(setting), Points(setting, 0), radii)


def shifted_tanh_squares(n: int) -> ircert.Graph:
    """tanh(x_j + 1) + tanh(1 - x_j), whose slope is 0 at 0 and has its sign on either side."""
    twice = np.vstack([np.eye(n), -np.eye(n)])
    return ircert.load([(twice, np.ones(2 * n)), (np.hstack([np.eye(n)] * 2), np.zeros(n))], activation="tanh")


@pytest.mark.rule("E-17")
@pytest.mark.parametrize("norm", Norm)
def test_no_ball_that_reaches_to_a_fold_is_closed(norm: Norm) -> None:
    """Folds are where some x_j = 0: around (1/2, …) at the distance 1/2, in all norms."""
    graph = shifted_tanh_squares(16)
    assert closed(graph, [0.5, 0.51, 2.0], norm, 0.5) == 0.0
    assert 0.0 < closed(graph, [0.5 * 0.7**k for k in range(20)], norm, 0.5) < 0.5


def test_the_first_radius_that_is_closed_is_found() -> None:
    rng = np.random.default_rng(0)
    layers = [(rng.normal(size=(b, a)) / np.sqrt(a), rng.normal(size=b)) for a, b in pairwise((20, 40, 40, 24))]
    graph = ircert.load(layers, activation="tanh")
    radii = [4.0**-k for k in range(12)]
    found = closed(graph, radii)
    assert 0.0 < found < 1.0
    assert closed(graph, [radius for radius in radii if radius > found]) == 0.0
    assert closed(graph, [found / 2]) == found / 2


def test_a_centre_on_a_fold_has_no_ball() -> None:
    assert closed(shifted_tanh_squares(16), [2.0**-k for k in range(40)]) == 0.0


@pytest.mark.parametrize("problem", ["local", "pseudo"])
def test_a_search_with_little_time_has_a_ball(problem: str) -> None:
    """Wide layers and a hundred inputs: a matrix takes seconds to find."""
    rng = np.random.default_rng(0)
    layers = [(rng.normal(size=(b, a)) / np.sqrt(a), 0.3 * rng.normal(size=b)) for a, b in pairwise((100, 256, 120))]
    graph = ircert.load(layers, activation="tanh")
    found = ircert.certify(graph, np.zeros(100), problem=problem, time_limit=1.0)
    assert found.radius.certified > 0.0
