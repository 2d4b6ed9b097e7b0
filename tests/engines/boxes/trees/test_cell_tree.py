"""Trees over the phases of points: whether every region of a part turns as the one at the centre."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.falsification.falsifier import Falsifier
from ircert.engines.boxes.problem.outcome import Counts, Stopped, TooLarge, Violated
from ircert.engines.boxes.problem.setting import Setting
from ircert.engines.boxes.trees.cell_tree import CellTree
from ircert.engines.boxes.trees.region_tree import _plane
from ircert.geometry.norm import Norm
from tests.engines.boxes.making import fold, setting_of
from tests.engines.boxes.trees.support import ball_of, never, tools_of
from tests.oracle.build import square

NORMS = tuple(Norm)


def tree_of(setting: Setting) -> CellTree:
    return CellTree(Batches(setting), Falsifier(setting, tools_of(setting).descent), Counts())


@pytest.mark.rule("E-9")
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("radius", [0.25, 0.4375])
def test_before_a_fold_all_regions_turn_alike(norm: Norm, radius: float) -> None:
    setting = setting_of(fold(), [0.0, 0.0], norm=norm)
    tree_of(setting).close(ball_of(setting, radius), 100, never)


@pytest.mark.rule("E-9")
@pytest.mark.parametrize("norm", NORMS)
def test_a_region_that_turns_the_other_way_is_a_violation(norm: Norm) -> None:
    setting = setting_of(fold(), [0.0, 0.0], norm=norm)
    tree = tree_of(setting)
    with pytest.raises(Violated):
        tree.close(ball_of(setting, 0.75), 100, never)
    assert tree.falsifier.descent.has_within(0.75)


@pytest.mark.rule("E-9")
def test_sheets_that_all_turn_alike_are_no_violation_here() -> None:
    """s(x) = s(-x), and every determinant is positive."""
    setting = setting_of(ircert.load(square()), [0.25, 0.125])
    tree_of(setting).close(ball_of(setting, 1.0), 1000, never)


def test_budget_and_time_leave_nodes_open() -> None:
    setting = setting_of(fold(), [0.0, 0.0])
    part, tree = ball_of(setting, 0.75), tree_of(setting)
    stack = [part.phases]
    with pytest.raises(TooLarge):
        tree.close(part, 0, never, stack)
    with pytest.raises(Stopped):
        tree.close(part, 10, lambda: True, stack)
    assert len(stack) == 1


@pytest.mark.parametrize("norm", [Norm.ONE, Norm.TWO])
@pytest.mark.parametrize("u", [(3, 4), (-1, 7), (0, 2), (Fraction(1, 2**600), 2)])
def test_planes_cut_off_points_and_leave_the_ball(norm: Norm, u: tuple[int | Fraction, ...]) -> None:
    outside = [Fraction(v) for v in u]
    form = _plane(outside, Fraction(1), norm)
    assert sum(int(a) * b for a, b in zip(form, (*outside, Fraction(1)), strict=True)) < 0
    rng = np.random.default_rng(0)
    for _ in range(200):
        x = [Fraction(int(k), 64) for k in rng.integers(-64, 65, 2)]
        if norm.measure(x) <= 1:
            assert sum(int(a) * b for a, b in zip(form, (*x, Fraction(1)), strict=True)) >= 0
