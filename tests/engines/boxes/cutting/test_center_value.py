"""How far no other point has the centre's output: never farther than one that has, and close to it."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.cutting.center_value import CenterValue
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.falsification.collision_equations import CollisionEquations
from ircert.engines.boxes.problem.outcome import Counts
from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.ir.graph import Graph
from ircert.ir.ops import Curve
from ircert.ir.ops.curves import Gelu, Sin, Tanh
from ircert.questions.network import lowered

OTHER = 1.9793781207637713
"""x - 2 tanh(x) is the same at 1.95 and so far below it, and nowhere else."""


def bend(size: int) -> Graph:
    """x - 2 tanh(x), entry by entry, and the sum of all."""
    build = ircert.Builder(size)
    bent = build.add(build.input, build.affine(build.node(Tanh(), build.input), -2 * np.eye(size)))
    return build.graph(build.concat(bent, build.affine(bent, np.ones((1, size)))))


def network(curve: Curve, seed: int) -> Graph:
    rng = np.random.default_rng(seed)
    build = ircert.Builder(2)
    z = build.node(curve, build.affine(build.input, 1.5 * rng.normal(size=(6, 2)), rng.normal(size=6)))
    whole = build.add(build.affine(z, rng.normal(size=(2, 6))), build.affine(build.relu(build.input), np.eye(2)))
    return build.graph(whole)


def search(graph: Graph, center: list[float], norm: Norm = Norm.INF, low: float = -np.inf) -> CenterValue:
    place = Place(np.array(center), norm, np.full(len(center), low), np.full(len(center), np.inf))
    setting = Setting(lowered(graph), "local", graph.output_dim, place)
    return CenterValue(Batches(setting), Counts(), lambda: None)


def limit(found: CenterValue, boxes: int) -> bool:
    return found.counts.boxes > boxes


@pytest.mark.parametrize("norm", list(Norm))
@pytest.mark.parametrize("size", [1, 2, 3])
def test_up_to_the_next_point_with_the_same_output(size: int, norm: Norm) -> None:
    found = search(bend(size), [1.95] * size, norm)
    assert found.advance(OTHER * (1 - 1e-9), 0.5, lambda: limit(found, 20_000)) == "closed"
    assert found.reached == OTHER * (1 - 1e-9)
    assert found.advance(3.0, found.reached, lambda: limit(found, 60_000)) == "stopped"
    assert found.reached < OTHER
    if size == 1:
        assert found.suspect is not None
        assert abs(float(found.suspect[0]) - (1.95 - OTHER)) < 1e-8


def test_domains_cut_it_off() -> None:
    found = search(bend(2), [1.95, 1.95], low=1.0)
    assert found.advance(1e6, 0.5, lambda: limit(found, 20_000)) == "closed"


@pytest.mark.parametrize(("curve", "seed"), [(Tanh(), 0), (Gelu(), 1), (Sin(), 2), (Tanh(), 3)])
def test_no_sampled_solution_is_nearer(curve: Curve, seed: int) -> None:
    """The ball of radius 1e-3 is taken to be good, and solutions in it do not count."""
    graph = network(curve, seed)
    found = search(graph, [0.25, 0.5])
    found.advance(4.0, 1e-3, lambda: limit(found, 30_000))
    equations = CollisionEquations(found.network.setting, None, True)
    starts = np.random.default_rng(seed).uniform(-4, 4, (500, 2))
    with np.errstate(all="ignore"):
        pairs = equations.solved(starts, np.full(2, -4.0), np.full(2, 4.0), 40)
    same = np.abs(equations.divided(pairs)[0]).max(axis=1, initial=0.0) < 1e-10
    distances = np.abs(pairs[same]).max(axis=1)
    assert found.reached > 1e-3
    assert distances[distances > 1e-3].min(initial=np.inf) >= found.reached * (1 - 1e-9)


def test_beyond_the_range_of_floats_nothing_is_claimed() -> None:
    found = search(bend(1), [1.95])
    with np.errstate(all="ignore"):
        assert found.advance(1.5e308, 0.5, lambda: limit(found, 5_000)) == "stopped"
    assert found.reached < OTHER
