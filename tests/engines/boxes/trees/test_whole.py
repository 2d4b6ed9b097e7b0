"""One tree for a whole ball."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.bounds.kernel_cones import KernelCones
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.falsification.falsifier import Falsifier
from ircert.engines.boxes.problem.outcome import Counts
from ircert.engines.boxes.trees.cell_tree import CellTree
from ircert.engines.boxes.trees.whole import FEW_OPEN, WholeCells, WholeTree, few_open
from tests.engines.boxes.making import fold, setting_of
from tests.engines.boxes.trees.support import never, tools_of


@pytest.mark.parametrize(("radius", "outcome"), [(0.5, "closed"), (0.625, "violated")])
def test_pairs_of_a_ball(radius: float, outcome: str) -> None:
    tree = WholeTree([tools_of(setting_of(fold(), [0.0, 0.0]))], radius)
    assert tree.advance(lambda: True) == "stopped"
    assert tree.advance(never) == outcome
    assert tree.advance(never) == outcome


def test_pseudo_compares_with_the_centre() -> None:
    for radius, outcome in ((0.875, "closed"), (1.0, "violated")):
        assert WholeTree([tools_of(setting_of(fold(), [0.0, 0.0], "pseudo"))], radius).advance(never) == outcome


@pytest.mark.parametrize(("radius", "outcome"), [(0.4375, "closed"), (0.625, "violated")])
def test_points_of_a_ball(radius: float, outcome: str) -> None:
    setting = setting_of(fold(), [0.0, 0.0])
    cells = WholeCells(CellTree(Batches(setting), Falsifier(setting, tools_of(setting).descent), Counts()), radius)
    assert cells.advance(lambda: True) == "stopped"
    assert cells.advance(never) == outcome


def test_many_open_neurons_are_too_many() -> None:
    for count, few in ((FEW_OPEN, True), (FEW_OPEN + 1, False)):
        kinks = ircert.load([(np.ones((count, 1)), np.linspace(-0.5, 0.5, count)), (np.ones((1, count)), np.zeros(1))])
        assert few_open(setting_of(kinks, [0.0]), 1.0) is few
    assert few_open(setting_of(kinks, [0.0]), 2.0**-10), "on a small ball few are open"


def wide(seed: int) -> ircert.Graph:
    """More outputs than inputs, and a layer of kinks."""
    rng = np.random.default_rng(seed)
    build = ircert.Builder(8)
    bent = build.relu(build.affine(build.input, rng.standard_normal((8, 8)) / 3, rng.standard_normal(8) / 2))
    skip = build.affine(build.input, np.vstack([np.eye(8), 0.3 * rng.standard_normal((2, 8))]))
    return build.graph(build.add(skip, build.affine(bent, 0.9 * rng.standard_normal((10, 8)))))


CASES = ((1, 0.3), (2, 0.3), (6, 0.3), (6, 0.5))


@pytest.mark.rule("E-21")
def test_signs_of_differences_make_trees_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    """With more outputs than inputs; the answers are the same."""
    nodes: list[int] = []
    outcomes: list[list[str]] = []
    for asked in (True, False):
        if not asked:
            monkeypatch.setattr(KernelCones, "exclude", lambda *_: False)
        cases = [(tools_of(setting_of(wide(seed), np.zeros(8))), radius) for seed, radius in CASES]
        outcomes.append([WholeTree([tools], radius).advance(never) for tools, radius in cases])
        nodes.append(sum(tools.counts.nodes for tools, _ in cases))
    assert outcomes[0] == outcomes[1] == ["closed", "closed", "closed", "violated"]
    assert 4 * nodes[0] < nodes[1]
