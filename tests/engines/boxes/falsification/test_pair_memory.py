"""What patterns have shown at other centres changes no answer, and is true at the next one."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.boxes.falsification.pair_memory import PairMemory
from ircert.engines.boxes.linear_regions.coincidence import Coincidence
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.geometry.norm import Norm
from ircert.geometry.pair import Pair
from tests.engines.boxes.making import fold, residual, setting_of

ON, OFF = np.array([1], dtype=np.int8), np.array([-1], dtype=np.int8)


def _descent(graph: Any, center: Any, memory: PairMemory | None = None, norm: Norm = Norm.INF) -> Descent:
    setting = setting_of(graph, center, norm=norm)
    return Descent(setting, ExactMaps(setting), memory=PairMemory() if memory is None else memory)


@pytest.mark.parametrize("norm", tuple(Norm))
def test_a_neighbour_needs_no_new_violation(norm: Norm, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = PairMemory()
    assert _descent(fold(), [0.0, 0.0], memory, norm).improve(ON, OFF)
    monkeypatch.delattr(Coincidence, "violation")
    descent = _descent(fold(), [0.25, 3.0], memory, norm)
    assert descent.improve(ON, OFF)
    assert descent.best is not None
    size, pair = descent.best
    assert float(size) == pytest.approx(0.25**norm.power)
    points = pair.moved(descent.setting.exact_center)
    assert points.x != points.y
    assert list(descent.setting.graph.exact(list(points.x))) == list(descent.setting.graph.exact(list(points.y)))


@pytest.mark.parametrize("seed", [1, 2])
def test_what_is_remembered_changes_no_distance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph, memory = residual(rng, 2, 4, 6.0), PairMemory()
    around = rng.uniform(-3, 3, (9, 2))
    signs = np.where(setting_of(graph, [0.0, 0.0]).preactivations(around) < 0, -1, 1)
    patterns = np.unique(signs.astype(np.int8), axis=0)
    met = 0
    for center in rng.uniform(-1, 1, (3, 2)):
        for first, second in product(patterns, patterns):
            fresh, sharing = _descent(graph, center), _descent(graph, center, memory)
            for descent in (fresh, sharing):
                descent.improve(first, second, onward=False)
            assert (fresh.best is None) == (sharing.best is None)
            if fresh.best is not None and sharing.best is not None:
                met += 1
                assert float(sharing.best[0]) == pytest.approx(float(fresh.best[0]), rel=1e-9)
    assert met, "these networks have collisions"


def test_a_violation_is_where_it_was() -> None:
    memory, pair = PairMemory(), Pair((Fraction(1), Fraction(2)), (Fraction(3), Fraction(4)))
    memory.keep(b"key", [Fraction(1), Fraction(1)], pair)
    assert memory.violation(b"other", [Fraction(0), Fraction(0)]) is None
    assert memory.violation(b"key", [Fraction(0), Fraction(3)]) == Pair(
        (Fraction(2), Fraction(0)), (Fraction(4), Fraction(2))
    )


@pytest.mark.parametrize("norm", tuple(Norm))
@pytest.mark.parametrize("seed", [1, 2])
def test_distances_at_one_centre_bound_those_at_others(seed: int, norm: Norm) -> None:
    rng = np.random.default_rng(seed)
    graph = residual(rng, 2, 4, 6.0)
    centers = rng.uniform(-1, 1, (3, 2))
    signs = np.where(setting_of(graph, [0.0, 0.0]).preactivations(rng.uniform(-3, 3, (5, 2))) < 0, -1, 1)
    sharper = met = 0
    for first, second in product(*[np.unique(signs.astype(np.int8), axis=0)] * 2):
        for center, other in product(centers, centers):
            memory, away = PairMemory(), float(norm.lengths(other - center))
            here, there = _distance(graph, center, first, second, norm, memory), setting_of(graph, other, norm=norm)
            least = memory.least(b"", there)
            assert memory.least(b"key", there) == 0.0, "nothing is known"
            assert least >= here - away - 1e-9, "distances are 1-Lipschitz"
            true = _distance(graph, other, first, second, norm, PairMemory())
            assert least <= true * (1 + 1e-9) + 1e-12
            met += here < np.inf
            sharper += here < np.inf and least > here - away + 1e-3
    assert met
    assert (sharper > 0) == (norm != Norm.TWO)


def _distance(graph: Any, center: Any, first: Any, second: Any, norm: Norm, memory: PairMemory) -> float:
    """Of the nearest pair of two patterns, which is remembered."""
    setting = setting_of(graph, center, norm=norm)
    polytope = Coincidence(setting, ExactMaps(setting), first, second)
    found = polytope.nearest()
    memory.measured(b"", setting, None if found is None else found[0], polytope.slope)
    return np.inf if found is None else norm.length(found[0])
