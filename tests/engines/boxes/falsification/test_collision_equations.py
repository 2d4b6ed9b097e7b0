"""Divided differences and their derivatives, against differences of them."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.falsification.collision_equations import CollisionEquations
from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.place import Place
from ircert.ir.ops.curves import Gelu, Tanh


def equations(pseudo: bool, transform: bool = False) -> CollisionEquations:
    rng = np.random.default_rng(0)
    settings = []
    for op in (Tanh(), Gelu()):
        build = ircert.Builder(2)
        z = build.node(op, build.affine(build.input, rng.normal(size=(5, 2)), rng.normal(size=5)))
        weight = rng.normal(size=(4, 5))
        weight[2] = 0.0  # an output that nothing changes
        place = Place.everywhere(np.array([0.5, -0.25]))
        settings.append(Setting(build.graph(build.affine(z, weight)), "local", 4, place))
    return CollisionEquations(settings[0], settings[1] if transform else None, pseudo)


@pytest.mark.parametrize(("pseudo", "transform"), [(False, False), (True, False), (False, True)])
def test_derivatives(pseudo: bool, transform: bool) -> None:
    given = equations(pseudo, transform)
    assert given.rows.tolist() == [0, 1, 3]
    pairs = np.random.default_rng(1).normal(size=(3, given.size))
    for function in (given.divided, given.apart):
        values, slopes = function(pairs)
        for j in range(given.size):
            step = 1e-6 * np.eye(given.size)[j]
            change = (function(pairs + step)[0] - function(pairs - step)[0]) / 2e-6
            assert np.allclose(slopes[:, :, j], change, atol=1e-7)
        assert values.shape == slopes.shape[:2]
    x, y = given.points(pairs)
    gap = (given.given.outputs(x) - given.given.outputs(y))[:, given.rows]
    assert np.allclose(given.divided(pairs)[0] * np.linalg.norm(x - y, axis=1)[:, None], gap)


def test_nothing_breaks_where_floats_end() -> None:
    given = equations(False)
    for bad in (np.nan, np.inf, 1e200):
        values, _ = given.divided(np.full((1, given.size), bad))
        assert values.shape == (1, 3)
    assert given.solved(np.zeros((2, given.size)), np.full(4, -1.0), np.full(4, 1.0), 3).shape[1] == 4
