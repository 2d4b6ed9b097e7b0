"""Guesses about boxes: learned from those that were looked at, and never a reason not to look in the end."""

from __future__ import annotations

import numpy as np

from ircert.engines.boxes.one_matrix.foresight import CURIOUS, MOST, Foresight


def test_boxes_are_looked_at_after_every_cut_until_something_is_known() -> None:
    excess = np.geomspace(1e-9, 1e9, 200)
    assert (Foresight().cuts(excess) == 1).all()


def test_boxes_with_an_excess_that_is_never_closed_are_cut_more_often() -> None:
    foresight = Foresight()
    for excess in np.geomspace(0.01, 100, 200):
        given = np.full(50, excess)
        foresight.learn(given, given, given < 1.0)
    far, near = (foresight.cuts(np.full(4 * CURIOUS, size)) for size in (50.0, 0.5))
    assert (near == 1).all()
    assert (np.delete(far, np.arange(0, len(far), CURIOUS)) == MOST).all()
    assert (far[::CURIOUS] == 1).all()


def test_the_factor_of_a_cut_is_learned() -> None:
    foresight = Foresight()
    rng = np.random.default_rng(0)
    for _ in range(100):
        before = rng.uniform(0.5, 5.0, 100)
        expected = foresight.expected(before, np.ones(100, dtype=np.int64))
        foresight.learn(expected, 0.4 * before, np.zeros(100, dtype=bool))
    found = foresight.expected(np.ones(2), np.array([1, 2]))
    assert np.allclose(found, [0.4, 0.16], rtol=0.1)


def test_numbers_that_are_none_teach_nothing() -> None:
    foresight, bad = Foresight(), np.array([np.nan, np.inf, 0.0, -1.0])
    foresight.learn(bad, np.ones(4), np.zeros(4, dtype=bool))
    foresight.learn(np.ones(4), bad, np.ones(4, dtype=bool))
    assert (foresight.cuts(np.r_[bad, 1.0]) == 1).all()
