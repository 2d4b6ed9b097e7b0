"""Trees for balls of all sizes: which ones there are, and that they share what they reach."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.problem.outcome import Counts
from ircert.engines.boxes.search.growing_trees import GrowingTrees
from ircert.engines.boxes.trees.growing_tree import GrowingTree
from ircert.engines.boxes.trees.signed_tree import SignedTree
from ircert.engines.boxes.trees.whole import WholeTree
from tests.engines.boxes.making import deep, setting_of
from tests.engines.boxes.search.test_prover import prover_of
from tests.engines.boxes.trees.support import never, tools_of

pytestmark = pytest.mark.rule("E-26")


@pytest.mark.parametrize(
    ("inputs", "outputs", "problem", "kinds"),
    [
        (4, 4, "local", [GrowingTree]),
        (4, 6, "local", [SignedTree, GrowingTree]),
        (8, 8, "local", [GrowingTree]),
        (8, 9, "local", [SignedTree, GrowingTree]),
        (8, 9, "pseudo", [GrowingTree]),
    ],
)
def test_which_trees_there_are(inputs: int, outputs: int, problem: str, kinds: list[type]) -> None:
    graph = deep(np.random.default_rng(0), inputs, 4, 2, 2.0, outputs)
    trees = GrowingTrees(tools_of(setting_of(graph, np.zeros(inputs), problem)), Counts())
    assert [type(tree) for tree, _ in trees._trees] == kinds


def test_many_neurons_are_left_to_the_tree_that_takes_any_number() -> None:
    graph = deep(np.random.default_rng(0), 8, 20, 2, 2.0, 9)
    trees = GrowingTrees(tools_of(setting_of(graph, np.zeros(8))), Counts())
    assert [type(tree) for tree, _ in trees._trees] == [GrowingTree]


@pytest.mark.parametrize("at_last", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_they_say_what_a_tree_for_each_ball_says(seed: int, at_last: bool) -> None:
    graph = deep(np.random.default_rng(seed), 7, 4, 2, 9.0, 8)
    setting = setting_of(graph, np.zeros(7))
    trees = GrowingTrees(tools_of(setting), Counts())
    for radius in (0.25, 1.0, 0.5):
        outcome = trees.advance(radius, never, at_last=at_last)
        assert outcome == WholeTree([tools_of(setting)], radius).advance(never)
        assert outcome != "closed" or trees.reached >= radius


def test_a_kernel_at_a_centre_where_all_regions_meet_is_found() -> None:
    """Three inputs, six outputs, twelve neurons without biases, one linear region of which has a kernel."""
    rng = np.random.default_rng(23)
    inputs, outputs = int(rng.integers(3, 7)), int(rng.integers(1, 4))
    width = int(rng.integers(2 * inputs, 21))
    layers = [(rng.normal(size=(width, inputs)), np.zeros(width))]
    layers += [(rng.normal(size=(inputs + outputs, width)), np.zeros(inputs + outputs))]
    assert (inputs, width, inputs + outputs) == (3, 12, 6)
    found = ircert.certify(ircert.load(layers), np.zeros(3), time_limit=30.0)
    assert (found.verdict, found.radius.refuted) == ("refuted", 0.0)


@pytest.mark.parametrize(("problem", "outputs", "dear"), [("local", 9, 2.0), ("pseudo", 9, 16.0), ("local", 8, 1.0)])
def test_nodes_are_dear_where_no_signs_are_known(problem: str, outputs: int, dear: float) -> None:
    """So much longer they take, and violations are looked for so much more beside them."""
    graph = deep(np.random.default_rng(0), 8, 4, 2, 2.0, outputs)
    assert prover_of(setting_of(graph, np.zeros(8), problem)).dearness == dear
