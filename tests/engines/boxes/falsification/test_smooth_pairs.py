"""Violations of smooth networks: the nearest are found where they are known, and none where there are none."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.falsification.smooth_pairs import SmoothPairs
from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.ir.boxed_pair import fault_of
from ircert.ir.graph import Graph
from ircert.ir.ops.curves import Sin, Tanh
from ircert.limits import OutOfTime, until

FOLD = math.acosh(math.sqrt(2.0))
"""Where x - 2 tanh(x) turns."""


def folded(factor: float = -2.0) -> Graph:
    """(u + factor tanh(u), y - x), u = x + y."""
    build = ircert.Builder(2)
    total = build.affine(build.input, [[1.0, 1.0]])
    first = build.add(total, build.affine(build.node(Tanh(), total), [[factor]]))
    return build.graph(build.concat(first, build.affine(build.input, [[-1.0, 1.0]])))


def hunter(
    graph: Graph, norm: Norm = Norm.INF, center: float = 1.5, low: float = -np.inf, pseudo: bool = False, seed: int = 0
) -> SmoothPairs:
    size = graph.input_dim
    place = Place(np.full(size, center), norm, np.full(size, low), np.full(size, np.inf))
    return SmoothPairs(Setting(graph, "local", graph.output_dim, place), None, pseudo, seed)


@pytest.mark.parametrize(("norm", "nearest"), [(Norm.INF, 0.5), (Norm.TWO, math.sqrt(0.5)), (Norm.ONE, 1.0)])
def test_the_nearest_pairs(norm: Norm, nearest: float) -> None:
    found = hunter(folded(), norm)
    assert found.look(20.0)
    assert found.best is not None
    distance, pair = found.best
    exact = nearest * (3.0 - FOLD)
    assert exact <= distance <= exact * (1 + 1e-5)
    assert fault_of(folded(), pair) is None
    assert not found.look(0.9 * exact)


def test_both_sides_of_a_fold_and_far_apart() -> None:
    found = hunter(folded())
    assert found.look_at_fold(np.full(2, FOLD / 2), 3.0)
    assert found.best is not None
    before = found.best
    assert found.spread(2.5)
    after = found.best[1]
    assert found.best[0] <= 2.5
    assert abs(after.x[0] - after.y[0]) > 1 > 1e-3 > abs(before[1].x[0] - before[1].y[0])


def test_the_centres_own_output() -> None:
    found = hunter(folded(), center=0.975, pseudo=True)
    assert found.look(20.0)
    assert found.best is not None
    assert found.best[0] == pytest.approx(1.97937812076377 / 2)
    assert found.best[1].y == [found.given.exact_center[0]] * 2


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_injective_maps_have_none(seed: int) -> None:
    factor = (-0.999, 0.5, 3.0)[seed]
    for pseudo in (False, True):
        found = hunter(folded(factor), pseudo=pseudo, seed=seed)
        assert not found.look(0.5)
        assert not found.look(20.0)
        assert not found.look_anywhere(5.0)
    assert not hunter(folded(), low=1.0, seed=seed).look(20.0)  # in this domain it is injective


def test_equations_that_are_too_many_or_none() -> None:
    build = ircert.Builder(1)
    waves = build.graph(build.node(Sin(), build.affine(build.input, [[1.0], [2.0], [3.0]])))
    assert hunter(waves).is_hopeless
    build = ircert.Builder(1)
    assert hunter(build.graph(build.node(Tanh(), build.affine(build.input, [[0.0]])))).is_hopeless
    assert not hunter(folded()).is_hopeless


def test_time_that_ends_keeps_what_was_found() -> None:
    found, asked = hunter(folded()), 0

    def over() -> bool:
        nonlocal asked
        asked += 1
        return asked > 900

    with pytest.raises(OutOfTime), until(over):
        found.look(20.0)
    assert found.best is not None
