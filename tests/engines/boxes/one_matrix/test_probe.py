"""How many boxes a cover takes: the estimate against covers that were made."""

from __future__ import annotations

import numpy as np
import pytest

from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.one_matrix.cover import Cover, MatrixFails
from ircert.engines.boxes.one_matrix.domination import OneMatrix
from ircert.engines.boxes.one_matrix.points import Points
from ircert.engines.boxes.one_matrix.probe import expected_boxes
from ircert.engines.boxes.problem.outcome import Counts
from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array
from tests.engines.boxes.making import fold, residual, setting_of


def cover_of(setting: Setting, matrix: Array) -> Cover:
    return Cover(OneMatrix(Batches(setting), matrix), Points(setting), Counts(), lambda: None)


def boxes_of(cover: Cover, radius: float) -> int:
    cover.begin(radius)
    with np.errstate(all="ignore"):
        while cover.step(radius, lambda: False) != "closed":
            assert cover.spent < 20_000
    return cover.spent


@pytest.mark.parametrize("norm", [Norm.INF, Norm.TWO])
def test_estimates_are_of_the_size_of_covers(norm: Norm) -> None:
    graph = residual(np.random.default_rng(1), 3, 12, 0.8)
    setting = setting_of(graph, np.zeros(3), norm=norm)
    shares = np.random.default_rng(0).random((64, 3))
    with np.errstate(all="ignore"):
        expected = expected_boxes(cover_of(setting, np.eye(3)), 3.0, shares)
    made = boxes_of(cover_of(setting, np.eye(3)), 3.0)
    assert made > 10
    assert made / 8 < expected < 8 * made


def test_a_box_that_is_closed_at_once_is_all() -> None:
    setting = setting_of(residual(np.random.default_rng(0), 2, 4, 0.1), np.zeros(2))
    assert expected_boxes(cover_of(setting, np.eye(2)), 1.0, np.full((4, 2), 0.5)) == 2.0


def test_a_matrix_that_is_wrong_is_found_out() -> None:
    cover = cover_of(setting_of(fold(2.0), np.zeros(2)), np.eye(2))
    shares = np.random.default_rng(0).random((64, 2))
    with pytest.raises(MatrixFails), np.errstate(all="ignore"):
        expected_boxes(cover, 4.0, shares)
    assert cover.failing


def test_ways_may_begin_at_the_open_boxes_of_another_cover() -> None:
    """Boxes that each are closed at once count 2 each, as for a root; those that stand for others count for them."""
    setting = setting_of(residual(np.random.default_rng(0), 2, 4, 0.1), np.zeros(2))
    cover = cover_of(setting, np.eye(2))
    cover.begin(1.0)
    roots, each = cover.some_open(1.0, 8)
    assert (len(roots.keys), each) == (1, 1.0)
    four = roots.plus(roots, roots, roots)
    assert expected_boxes(cover, 1.0, np.full((4, 2), 0.5), four) == 8.0
    cover._frontier = four
    some, each = cover.some_open(1.0, 2)
    assert (len(some.keys), each) == (2, 2.0)
