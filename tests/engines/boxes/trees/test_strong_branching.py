"""Phases that are tried: children hold all pairs of their node, and those that are called empty hold none."""

from __future__ import annotations

import numpy as np
import pytest

from ircert.engines.boxes.problem.setting import Phases
from ircert.engines.boxes.trees.parts import Part, center_part
from ircert.engines.boxes.trees.phase_tree import Examined, PhaseTree
from ircert.engines.boxes.trees.strong_branching import best_children
from tests.engines.boxes.making import deep, residual, setting_of
from tests.engines.boxes.trees.support import ball_of, never, tools_of

pytestmark = pytest.mark.rule("E-24")
POINTS = 400


def tree_of(seed: int, outputs: int, problem: str = "local") -> tuple[PhaseTree, Part, Part]:
    rng = np.random.default_rng(seed)
    graph = deep(rng, 3, 4, 2, 2.0) if outputs == 3 else residual(rng, 3, 3, 2.0, outputs)
    setting = setting_of(graph, np.zeros(3), problem)
    first = ball_of(setting, 1.0)
    second = center_part(setting) if setting.pseudo else first
    tree = PhaseTree(tools_of(setting), first, second, np.ones(setting.neurons))
    tree.fit(never)
    return tree, first, second


def held(phases: Phases, z: np.ndarray) -> np.ndarray:
    """Which points have these phases."""
    return ((phases == 0) | (phases * z >= 0)).all(axis=1)


@pytest.mark.parametrize("outputs", [3, 5])
@pytest.mark.parametrize("problem", ["local", "pseudo"])
def test_children_hold_all_pairs(outputs: int, problem: str) -> None:
    """Down trees, with random children: pairs of points of a node are in one of its children, or mirrored there."""
    assert sum(followed(seed, outputs, problem) for seed in range(6)) > 3


def followed(seed: int, outputs: int, problem: str) -> int:
    """How many nodes were split on the way down."""
    tree, first, second = tree_of(seed, outputs, problem)
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(-1, 1, (2, POINTS, 3))
    zx = tree.setting.preactivations(x)
    zy = tree.setting.preactivations(np.zeros((POINTS, 3)) if tree.pseudo else y)
    node, met = (np.zeros_like(first.phases), np.zeros_like(first.phases)), 0
    if tree.pseudo:
        node = node[0], second.phases
    for _ in range(6):
        examined = tree.examined(*node, 0)
        if examined is None:
            break
        known = tuple(np.where(own == 0, part.phases, own) for own, part in zip(node, (first, second), strict=True))
        symmetric = not tree.pseudo and bool((node[0] == node[1]).all())
        children = best_children(tree, node, (known[0], known[1]), examined, symmetric=symmetric)
        if not children:
            break
        met += 1
        inside = held(node[0], zx) & held(node[1], zy)
        covered = np.zeros(POINTS, dtype=bool)
        for child in children:
            covered |= held(child.phases[0], zx) & held(child.phases[1], zy)
            if symmetric:
                covered |= held(child.phases[1], zx) & held(child.phases[0], zy)
        assert (covered | ~inside).all()
        assert len({(a.tobytes(), b.tobytes()) for a, b in (child.phases for child in children)}) == len(children)
        left = [child for child in children if not child.empty]
        if not left:
            break
        node = left[rng.integers(len(left))].phases
    return met


def test_what_is_called_empty_is_proved_empty() -> None:
    """Their relaxations, once more from another start."""
    empty = 0
    for seed in range(8):
        tree, first, _ = tree_of(seed, 5)
        node = (np.zeros_like(first.phases),) * 2
        for _ in range(8):
            examined = tree.examined(*node, 0)
            if examined is None:
                break
            known = tuple(np.where(own == 0, first.phases, own) for own in node)
            symmetric = bool((node[0] == node[1]).all())
            children = best_children(tree, node, (known[0], known[1]), examined, symmetric=symmetric)
            for child in children:
                if child.empty:
                    empty += 1
                    assert tree.relaxation.solve(*child.phases, -tree.costs[0]).empty
            left = [child for child in children if not child.empty]
            if not left:
                break
            node = left[-1].phases
    assert empty


def test_without_a_point_nothing_is_tried() -> None:
    tree, first, _ = tree_of(0, 5)
    node = (np.zeros_like(first.phases),) * 2
    assert not best_children(tree, node, node, Examined(None, 0), symmetric=True)
