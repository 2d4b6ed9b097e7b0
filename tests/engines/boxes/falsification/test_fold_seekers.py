"""Points that follow gradients of determinants meet folds, and go along them to the nearest place."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.enclosures.secants import Secants
from ircert.engines.boxes.falsification import fold_seekers
from ircert.engines.boxes.falsification.fold_seekers import FoldSeekers
from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.ir.graph import Graph
from ircert.ir.ops.curves import Gelu, Tanh
from ircert.limits import OutOfTime, until

FOLD = math.acosh(math.sqrt(2.0))
CENTER = np.array([2.0, 2.4, 2.2, 2.3])


def folded() -> Graph:
    """x - 2 tanh(x), mixed: each entry turns at FOLD, nearest the first one's."""
    build = ircert.Builder(4)
    total = build.add(build.input, build.affine(build.node(Tanh(), build.input), -2.0 * np.eye(4)))
    return build.graph(build.affine(total, np.eye(4) + np.triu(np.ones((4, 4)), 1)))


def layers() -> Graph:
    """Two layers, with relus as well."""
    rng = np.random.default_rng(5)
    build = ircert.Builder(3)
    x = build.node(Gelu(), build.affine(build.input, rng.normal(size=(6, 3)), rng.normal(size=6)))
    x = build.relu(build.affine(x, rng.normal(size=(5, 6)), rng.normal(size=5)))
    x = build.node(Tanh(), build.affine(x, rng.normal(size=(4, 5)), rng.normal(size=4)))
    return build.graph(build.add(build.affine(x, rng.normal(size=(3, 4))), build.input))


def setting(graph: Graph, center: np.ndarray, norm: Norm = Norm.INF, low: float = -np.inf) -> Setting:
    size = len(center)
    return Setting(graph, "local", size, Place(center, norm, np.full(size, low), np.full(size, np.inf)))


def test_gradients_are_those_of_determinants() -> None:
    given = setting(layers(), np.zeros(3))
    secants = Secants(given)

    def heights(points: np.ndarray) -> np.ndarray:
        return np.asarray(np.linalg.slogdet(secants.jacobians(given.derivatives(points)))[1])

    points, step = np.random.default_rng(0).uniform(-1, 1, (20, 3)), 1e-6
    found, _ = FoldSeekers(given, 1, 0)._gradients(points)
    for k in range(3):
        move = step * np.eye(3)[k]
        expected = (heights(points + move) - heights(points - move)) / (2 * step)
        assert found[:, k] == pytest.approx(expected, rel=1e-4, abs=1e-4)


@pytest.mark.rule("E-17")
@pytest.mark.parametrize("norm", [Norm.INF, Norm.TWO, Norm.ONE])
@pytest.mark.parametrize("far", [4.0, 40.0])
def test_the_nearest_point_of_a_fold(norm: Norm, far: float) -> None:
    seekers, known, limit = FoldSeekers(setting(folded(), CENTER, norm), 1, 0), np.zeros((0, 4)), far
    for _ in range(12):
        seekers.advance(limit, known)
        if seekers.nearest is not None:
            known, limit = seekers.nearest[None], float(norm.lengths(seekers.nearest[None])[0])
    assert 2.0 - FOLD <= limit <= 1.01 * (2.0 - FOLD)
    seekers.advance(0.999 * (2.0 - FOLD), known)
    assert seekers.nearest is None


def test_points_stay_inside_the_domain() -> None:
    """No entry may reach its fold at FOLD."""
    seekers = FoldSeekers(setting(folded(), CENTER, low=1.0), 1, 0)
    for _ in range(3):
        seekers.advance(20.0, np.zeros((0, 4)))
        assert seekers.nearest is None


def test_what_was_met_stays_when_time_ends() -> None:
    seekers, asked = FoldSeekers(setting(folded(), CENTER), 1, 0), 0

    def over() -> bool:
        nonlocal asked
        asked += 1
        return asked > fold_seekers.STEPS // 2

    with pytest.raises(OutOfTime), until(over):
        seekers.advance(8.0, np.zeros((0, 4)))
    assert seekers.nearest is not None
