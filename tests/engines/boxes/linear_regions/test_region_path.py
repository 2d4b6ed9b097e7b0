"""Walks in rationals: every region on the way, and folds that no float lies beside."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.boxes.falsification.falsifier import Falsifier
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.engines.boxes.linear_regions.region_path import regions_between
from ircert.engines.boxes.problem.outcome import Violated
from ircert.engines.boxes.problem.setting import Phases, Setting
from ircert.geometry.norm import Norm
from tests.engines.boxes.making import residual, setting_of
from tests.engines.boxes.search.test_prover import prover_of

NORMS = tuple(Norm)


def point(rng: np.random.Generator, n: int) -> list[Fraction]:
    return [Fraction(int(k), 64) for k in rng.integers(-128, 129, n)]


def holds(maps: ExactMaps, phases: Phases, u: list[Fraction]) -> bool:
    """Whether a region, closed, has a point."""
    z = maps.of(phases).z.dot(np.array([*u, Fraction(1)], dtype=object))
    return all(v * p >= 0 for v, p in zip(z, phases.tolist(), strict=True))


@pytest.mark.parametrize("seed", range(6))
def test_all_regions_of_a_way(seed: int) -> None:
    """Each holds a piece of the way, and the pieces are the whole of it."""
    rng = np.random.default_rng(seed)
    n = 1 + seed % 3
    setting = setting_of(residual(rng, n, 4), np.zeros(n))
    maps = ExactMaps(setting)
    a, b = point(rng, n), point(rng, n)
    found = list(regions_between(maps, np.ones(setting.neurons, dtype=np.int8), a, b))
    assert len({p.tobytes() for p in found}) == len(found)
    last = 0
    for k in range(129):
        u = [v + Fraction(k, 128) * (w - v) for v, w in zip(a, b, strict=True)]
        last = next(i for i in range(last, len(found)) if holds(maps, found[i], u))
    assert holds(maps, found[-1], b)


def folded_on(width: float) -> ircert.Graph:
    """(x1 - 2 relu(x1 - 1) + 2 relu(x1 - 1 - width), x2): turned over where x1 is between 1 and 1 + width."""
    build = ircert.Builder(2)
    beyond = build.relu(build.affine(build.input, [[1.0, 0.0]], [-1.0]))
    later = build.relu(build.affine(beyond, [[1.0]], [-width]))
    last = [[1.0, 0.0, -2.0, 2.0], [0.0, 1.0, 0.0, 0.0]]
    return build.graph(build.affine(build.concat(build.input, beyond, later), last))


@pytest.mark.rule("E-1", "E-3")
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("width", [2.0**-52, 2.0**-80])
def test_a_strip_between_two_floats_is_found(width: float, norm: Any) -> None:
    """No point of the strip is a float, and no box of floats lies in it."""
    found = ircert.certify(folded_on(width), [0.0, 0.25], norm=norm, engine="boxes", max_radius=4.0, time_limit=20.0)
    assert found.verdict == "certified"
    assert found.radius.refuted is not None
    assert found.radius.refuted == pytest.approx(1.0, rel=1e-12)


def hunter_of(setting: Setting) -> Falsifier:
    return Falsifier(setting, Descent(setting, ExactMaps(setting)))


def test_a_walk_to_the_strip_and_one_beside_it() -> None:
    falsifier = hunter_of(setting_of(folded_on(2.0**-80), [0.0, 0.0]))
    with pytest.raises(Violated):
        falsifier.walk_to([Fraction(1) + Fraction(1, 2**81), Fraction(1, 3)], 1.5)
    assert falsifier.descent.best is not None
    assert abs(falsifier.descent.best[0] - 1) < Fraction(1, 2**40)
    hunter_of(setting_of(folded_on(2.0**-80), [0.0, 0.0])).walk_to([Fraction(1, 2), Fraction(1, 3)], 1.5)


@pytest.mark.rule("E-9")
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("side", [1, -1])
def test_home_lies_in_the_domain(side: int, norm: Any) -> None:
    """(|x1|, x2) around 0 is injective on either side, whatever a neuron at 0 is taken for."""
    build = ircert.Builder(2)
    kink = build.relu(build.affine(build.input, [[1.0, 0.0]]))
    graph = build.graph(build.affine(build.concat(build.input, kink), [[-1.0, 0.0, 2.0], [0.0, 1.0, 0.0]]))
    low, high = ([0.0, -1.0], [4.0, 4.0]) if side > 0 else ([-4.0, -1.0], [0.0, 4.0])
    found = ircert.certify(
        graph, [0.0, 0.0], norm=norm, domain=(low, high), max_radius=2.0, engine="boxes", time_limit=20.0
    )
    assert found.verdict == "certified"
    assert found.radius.certified == 2.0
    setting = setting_of(graph, [0.0, 0.0], norm=norm, low=np.array(low), high=np.array(high))
    assert hunter_of(setting).reference == side


@pytest.mark.rule("E-2")
@pytest.mark.parametrize("norm", NORMS)
def test_a_network_whose_determinants_floats_cannot_tell(norm: Any) -> None:
    """(x1, x2) to (x1 + x2, x1 + (1 + e) x2), bent a little: determinants about e, and none negative."""
    build = ircert.Builder(2)
    e = 2.0**-36
    bends = build.relu(build.affine(build.input, [[1.0, 2.0], [-2.0, 1.0], [0.5, -1.0]], [-0.5, 0.25, 1.0]))
    last = [[1.0, 1.0, 0.0, 0.0, 0.0], [1.0, 1.0 + e, e / 4, -e / 8, e / 16]]
    graph = build.graph(build.affine(build.concat(build.input, bends), last))
    prover = prover_of(setting_of(graph, [0.0, 0.0], norm=norm))
    assert prover.orientation is not None
    assert prover.orientation.advance(8.0, lambda: False) == "closed"
    assert prover.counts.trees == 0, "boxes are closed by contractions alone"
    assert prover.prove(8.0) == "closed"


def test_home_has_an_interior() -> None:
    """(-2 x + 5 y, y), on both sides of 3 x = 5 y; with both neurons off the sign would be another one."""
    layers = [
        ([[3, -5], [1, 0], [0, 1]], [0, 16, 16]),
        ([[1, 0, 0], [0, -3, 5], [0, 1, 0], [0, 0, 1]], [0, -32, 0, 0]),
        ([[-1, 1, 1, 0], [0, 0, 0, 1]], [-16, -16]),
    ]
    graph = ircert.load([(np.array(w, dtype=float), np.array(b, dtype=float)) for w, b in layers])
    assert hunter_of(setting_of(graph, [0.0, 0.0])).reference == -1
