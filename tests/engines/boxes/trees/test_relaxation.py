"""Programs of relaxations that take long: asked to stop, they do, and left alone, they end where they always do."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.engines.boxes.problem.outcome import Counts, Stopped
from ircert.engines.boxes.trees import relaxation
from ircert.engines.boxes.trees.parts import part_of
from ircert.engines.boxes.trees.phase_tree import PhaseTree, Tools
from tests.engines.boxes.making import residual, setting_of

GRAPH = residual(np.random.default_rng(4), 2, 5, scale=4.0)
CENTER = np.array([0.25, -0.125])


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every iteration counts as long."""
    monkeypatch.setattr(relaxation, "ENTRIES", 0)
    monkeypatch.setattr(relaxation, "FEWEST_ITERATIONS", 1)


def tree_of(radius: float) -> PhaseTree:
    setting = setting_of(GRAPH, CENTER)
    part = part_of(setting, radius, *setting.ball(radius).box)
    return PhaseTree(Tools.of(setting, Descent(setting, ExactMaps(setting)), Counts()), part, part)


def good_radius() -> float:
    return 0.75 * float(ircert.certify(GRAPH, CENTER, engine="regions").radius.certified)


@pytest.mark.rule("E-7")
def test_a_long_program_is_stopped(impatient: None) -> None:
    """Not only between nodes; the node stays open, and the tree can go on."""
    tree = tree_of(good_radius())
    asked = 0

    def third() -> bool:
        nonlocal asked
        asked += 1
        return asked > 2  # before the tree and before its first node it is not yet time

    with pytest.raises(Stopped):
        tree.close(10**6, third)
    assert (asked, tree.counts.nodes, len(tree.stack)) == (3, 1, 1)
    tree.close(10**6, lambda: False)
    assert not tree.stack


@pytest.mark.rule("E-7")
def test_asking_changes_nothing(impatient: None) -> None:
    radius = good_radius()
    asked = 0

    def never() -> bool:
        nonlocal asked
        asked += 1
        return False

    tree = tree_of(radius)
    tree.close(10**6, never)
    assert not tree.stack
    assert asked > tree.counts.nodes + 1
