"""Trees over the phases of pairs: balls before a fold are closed, balls behind it are violated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.problem.outcome import Stopped, TooLarge, Violated
from ircert.engines.boxes.problem.setting import Setting
from ircert.engines.boxes.trees.parts import center_part
from ircert.engines.boxes.trees.phase_tree import PhaseTree, slopes
from ircert.geometry.norm import Norm
from tests.engines.boxes.making import fold, residual, setting_of
from tests.engines.boxes.trees.support import ball_of, never, tools_of

NORMS = tuple(Norm)


@pytest.mark.rule("E-3")
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("radius", [0.25, 0.5])
def test_up_to_the_fold_every_pair_is_excluded(norm: Norm, radius: float) -> None:
    setting = setting_of(fold(), [0.0, 0.0], norm=norm)
    part = ball_of(setting, radius)
    tree = PhaseTree(tools_of(setting), part, part)
    tree.close(100, never)
    assert not tree.stack
    assert tree.undecided == 0


@pytest.mark.rule("E-3")
@pytest.mark.parametrize("norm", NORMS)
def test_behind_the_fold_a_collision_is_found(norm: Norm) -> None:
    setting = setting_of(fold(), [0.0, 0.0], norm=norm)
    part, tools = ball_of(setting, 0.625), tools_of(setting)
    with pytest.raises(Violated):
        PhaseTree(tools, part, part).close(100, never)
    assert tools.descent.best is not None
    pair = tools.descent.best[1]
    assert pair.x != pair.y
    assert list(setting.graph.exact(list(pair.x))) == list(setting.graph.exact(list(pair.y)))


@pytest.mark.parametrize(("radius", "good"), [(0.875, True), (1.0, False)])
def test_pseudo_compares_with_the_centre(radius: float, good: bool) -> None:
    """The other preimage of f(0) is (1, 0)."""
    setting = setting_of(fold(), [0.0, 0.0], problem="pseudo")
    tree = PhaseTree(tools_of(setting), ball_of(setting, radius), center_part(setting))
    if good:
        tree.close(100, never)
    else:
        with pytest.raises(Violated):
            tree.close(100, never)


def late(*, in_sight: bool) -> Setting:
    """|x + 1/2| is given, and 0 up to x = 1 unknown: y = -1 - x, so that violations begin at 1.5 from -1/2.

    in_sight: the first bound on the unknown neuron says where it is off
    """
    build = ircert.Builder(1)
    given = build.affine(build.relu(build.affine(build.input, [[1.0], [-1.0]], [0.5, -0.5])), [[1.0, 1.0]])
    if in_sight:
        unknown = build.affine(build.input, [[1.0]], [-1.0])
    else:  # (x - 1)/4 from x = -1/2 on, and less than 0 before
        first = build.relu(build.affine(build.input, [[1.0], [1.0]], [1.0, 0.5]))
        unknown = build.affine(build.concat(first, build.input), [[0.5, -1.0, 0.75]], [-0.25])
    graph = build.graph(build.concat(given, build.relu(unknown)))
    return replace(setting_of(graph, [-0.5], problem="transform"), constrained=1)


@pytest.mark.rule("E-2")
@pytest.mark.parametrize(("in_sight", "most"), [(True, 1), (False, 6)])
@pytest.mark.parametrize("radius", [0.5, 1.0, 1.25])
def test_unknown_outputs_that_are_off_for_both_close_a_pair(in_sight: bool, most: int, radius: float) -> None:
    """Whatever phases the given outputs have: else each of them was looked at, in 20 to 64 nodes."""
    setting = late(in_sight=in_sight)
    part = ball_of(setting, radius)
    tree = PhaseTree(tools_of(setting), part, part)
    tree.close(most, never)
    assert not tree.stack
    assert tree.counts.leaves == tree.counts.undecided == 0


@pytest.mark.rule("E-3")
@pytest.mark.parametrize("in_sight", [True, False])
def test_beyond_that_a_violation_is_found(in_sight: bool) -> None:
    setting = late(in_sight=in_sight)
    part = ball_of(setting, 1.5)
    PhaseTree(tools_of(setting), part, part).close(100, never)
    part, tools = ball_of(setting, 1.75), tools_of(setting)
    with pytest.raises(Violated):
        PhaseTree(tools, part, part).close(100, never)
    assert tools.descent.best is not None
    assert 1.5 < tools.descent.best[0] <= 1.75


def test_budget_and_time_leave_the_tree_open() -> None:
    setting = setting_of(residual(np.random.default_rng(4), 2, 5, scale=4.0), [0.25, -0.125])
    part = ball_of(setting, 0.05)
    tree = PhaseTree(tools_of(setting), part, part)
    with pytest.raises(TooLarge):
        tree.close(0, never)
    with pytest.raises(Stopped):
        tree.close(100, lambda: True)
    assert len(tree.stack) == 1
    assert tree.counts.nodes == 0


def test_what_phases_say_about_slopes() -> None:
    setting = setting_of(fold(), [0.0, 0.0])
    sides = np.array([1, 1, -1, 1, 0], dtype=np.int8), np.array([1, -1, -1, 0, 0], dtype=np.int8)
    matter = np.array([True] * 5)
    found = slopes(setting, matter, *sides)
    assert found.on.tolist() == [True, False, False, False, False]
    assert found.free.tolist() == [False, True, False, True, True]
    without = slopes(setting, np.array([False, False, True, True, True]), *sides)
    assert without.on.tolist() == [False] * 5
    assert without.free.tolist() == [False, False, False, True, True]


def test_a_neuron_at_zero_in_the_centre_has_the_slope_of_the_other_point() -> None:
    setting = setting_of(fold(), [0.0, 0.0], problem="pseudo")
    sides = np.array([1, -1, 0], dtype=np.int8), np.array([0, 0, 0], dtype=np.int8)
    found = slopes(setting, np.ones(3, dtype=bool), *sides)
    assert found.on.tolist() == [True, False, False]
    assert found.free.tolist() == [False, False, True]
