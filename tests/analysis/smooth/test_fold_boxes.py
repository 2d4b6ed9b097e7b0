"""Boxes of the fold set: they hold the whole of it, and share the lines of a grid."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ircert.analysis.smooth.fold_boxes import Grid, fold_boxes, halves
from ircert.analysis.smooth.maps import SmoothMap
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from tests.analysis.smooth.known import EDGE, cosine, folded


def ball(center: list[float], radius: float, norm: Norm = Norm.INF) -> Ball:
    size = len(center)
    return Ball(np.array(center), radius, norm, np.full(size, -np.inf), np.full(size, np.inf))


@settings(max_examples=20, deadline=None)
@given(st.floats(-1e3, 1e3), st.floats(1e-3, 1e3), st.integers(0, 8))
def test_the_cells_of_a_grid_leave_nothing_out(low: float, length: float, levels: int) -> None:
    box = np.array([low]), np.array([low + length])
    grid, cells = Grid.of(*box, np.array([levels])), np.zeros((1, 1), dtype=np.int64)
    for _ in range(levels):
        every = np.ones(1, dtype=bool)
        grid, cells = grid.finer(every), halves(cells, every)
    lows, highs = grid.boxes(np.sort(cells, axis=0))
    assert lows[0] == box[0]
    assert highs[-1] == box[1]
    assert (lows[1:] == highs[:-1]).all()
    assert (lows <= highs).all()


@pytest.mark.rule("FS-1")
@pytest.mark.parametrize("norm", list(Norm))
def test_boxes_hold_the_fold_of_a_ball(norm: Norm) -> None:
    """Where it is known: x + 0.7 sin(y) = ±EDGE."""
    asked = ball([0.25, -0.5], 2.0, norm)
    found = fold_boxes(SmoothMap(folded()), asked, 0.05)
    low, high = found.grid.boxes(found.cells)
    y = np.linspace(-2.5, 1.5, 700)
    for edge in (-EDGE, EDGE):
        for point in np.column_stack([edge - 0.7 * np.sin(y), y]):
            if norm.lengths(point - asked.center) <= 2.0:
                assert ((low - 1e-9 <= point) & (point <= high + 1e-9)).all(axis=1).any()
    farthest = np.maximum(np.maximum(low - asked.center, asked.center - high), 0.0)
    assert (norm.lengths(farthest) <= 2.0 + 1e-12).all()
    assert found.crossed.mean() > 0.95


@pytest.mark.rule("FS-2")
def test_a_fold_at_a_round_number_crosses_boxes() -> None:
    found = fold_boxes(SmoothMap(cosine()), ball([0.0, 0.0], 1.0), 0.1)
    low, high = found.grid.boxes(found.cells)
    assert found.crossed.all()
    assert ((low[:, 0] < 0) & (high[:, 0] > 0)).all()
