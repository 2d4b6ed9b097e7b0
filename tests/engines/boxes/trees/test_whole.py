"""One tree for a whole ball."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
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
