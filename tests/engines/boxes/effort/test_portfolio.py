"""Several ways side by side, and trees of whole balls that are interrupted again and again."""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.effort.portfolio import FIRST, Portfolio, Stop
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.boxes.falsification.falsifier import Falsifier, falsify
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.engines.boxes.problem.outcome import Counts, Outcome
from ircert.engines.boxes.problem.setting import Setting
from ircert.engines.boxes.search.prover import Prover
from ircert.engines.boxes.trees.cell_tree import CellTree
from ircert.engines.boxes.trees.whole import WholeCells, WholeTree
from ircert.geometry.norm import Norm
from tests.engines.boxes.making import residual, setting_of
from tests.oracle.families import FAMILIES

SHARE = 2.0


class Counted:
    """A way that takes a given effort, and may give up instead of answering."""

    def __init__(self, counts: Counts, effort: int, outcome: Outcome) -> None:
        self.counts, self.left, self.outcome = counts, effort, outcome
        self.turns: list[int] = []

    def advance(self, stop: Stop) -> Outcome:
        self.turns.append(0)
        while self.left > 0:
            if stop():
                return "stopped"
            self.left -= 1
            self.turns[-1] += 1
            self.counts.boxes += 1
        return self.outcome


@pytest.mark.parametrize("outcome", ["closed", "violated"])
def test_the_first_answer_counts(outcome: Outcome) -> None:
    counts = Counts()
    long, short = Counted(counts, 10**9, "closed"), Counted(counts, 20_000, outcome)
    for ways in ([long, short], [short, long]):
        assert Portfolio(counts, [(way.advance, SHARE) for way in ways]).advance(lambda: False) == outcome
        short.left = 20_000
    assert counts.boxes <= 2 * (1 + 2 * SHARE) * 20_000 + 8 * SHARE * FIRST  # no more than a factor is lost
    assert long.turns[:2] == sorted(long.turns[:2])


def test_a_way_that_gives_up_leaves_the_rest_to_the_others() -> None:
    counts = Counts()
    tired, patient = Counted(counts, 10, "stopped"), Counted(counts, 100_000, "closed")
    assert Portfolio(counts, [(tired.advance, 1.0), (patient.advance, SHARE)]).advance(lambda: False) == "closed"
    assert len(tired.turns) == 1
    tired.left = 10
    assert Portfolio(counts, [(tired.advance, 1.0)]).advance(lambda: False) == "stopped"


def test_stopped_it_goes_on_where_it_was() -> None:
    counts = Counts()
    ways = [Counted(counts, 10**9, "closed"), Counted(counts, 50_000, "violated")]
    portfolio = Portfolio(counts, [(way.advance, SHARE) for way in ways])
    stops = 0
    while (end := counts.boxes + 700) and portfolio.advance(lambda end=end: counts.boxes >= end) == "stopped":  # type: ignore[misc]
        stops += 1
    assert stops > 50
    assert ways[1].left == 0


def interrupted(advance: object, counts: Counts, every: int) -> tuple[Outcome, int]:
    """The outcome of a tree that is stopped after so many nodes, over and over, and how often that was."""
    for stops in range(100_000):
        end = counts.nodes + every
        outcome = advance(lambda end=end: counts.nodes >= end)  # type: ignore[operator]
        if outcome != "stopped":
            return outcome, stops
    raise AssertionError("it does not end")


@pytest.mark.rule("E-2")
@pytest.mark.parametrize("norm", Norm)
@pytest.mark.parametrize("seed", range(4))
def test_trees_that_are_interrupted(seed: int, norm: str) -> None:
    """… and share their relaxation with other trees in between, lose nothing: the exact radius stays where it is."""
    graph = residual(np.random.default_rng(seed), 2, 4, scale=4.0)
    setting = setting_of(graph, [0.25, -0.125], norm=norm)
    exact = ircert.certify(graph, setting.center, norm=norm, engine="regions", max_radius=4.0).radius
    for factor, expected in ((0.9, "closed"), (1.1, "violated")):
        if exact.refuted is None or not exact.certified > 0:
            continue
        radius = factor * float(exact.refuted)
        prover = Prover(setting, Descent(setting, ExactMaps(setting)), Counts(), lambda: False, lambda: None)
        tree, other = (WholeTree(prover.tools, size * radius) for size in (1.0, 0.5))

        def both(stop: Stop, tree: WholeTree = tree, other: WholeTree = other) -> Outcome:
            other.advance(stop)
            return tree.advance(stop)

        assert interrupted(both, prover.counts, 2)[0] == expected
    if exact.refuted is not None and exact.certified > 0:
        falsifier = Falsifier(setting, Descent(setting, ExactMaps(setting)))
        counts = Counts()
        cells = WholeCells(CellTree(Batches(setting), falsifier, counts), 0.9 * float(exact.refuted))
        assert interrupted(cells.advance, counts, 2)[0] == "closed"


def replayed(setting: Setting, descent: Descent) -> bool:
    """Whether the best pair has exactly equal constrained outputs and different points."""
    assert descent.best is not None
    pair = descent.best[1]
    x, y = ([c + t for c, t in zip(setting.exact_center, w, strict=True)] for w in (pair.x, pair.y))
    values: list[list[Fraction]] = [list(setting.graph.exact(point)) for point in (x, y)]
    return x != y and values[0][: setting.constrained] == values[1][: setting.constrained]


def test_pairs_are_found_where_there_are_more_outputs_than_inputs() -> None:
    found = 0
    for seed in range(8):
        layers, center = FAMILIES["rolled"](np.random.default_rng(seed), bool(seed % 2))
        setting = setting_of(ircert.load(layers), center)
        end = time.monotonic() + 10
        descent = Descent(setting, ExactMaps(setting), lambda end=end: time.monotonic() < end)  # type: ignore[misc]
        falsify(setting, descent, 64.0, seed)
        if descent.best is not None:
            assert replayed(setting, descent)
            found += 1
    assert found >= 6
