"""Shortest steps, by singular values and by normal equations."""

from __future__ import annotations

import numpy as np
import pytest

from ircert.engines.boxes.falsification import newton_steps
from ircert.engines.boxes.falsification.newton_steps import shortest_steps
from ircert.limits import OutOfTime, until


@pytest.mark.parametrize("shape", [(3, 6), (6, 3), (4, 4)])
def test_both_ways_agree(shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    matrices, gaps = rng.normal(size=(5, *shape)), rng.normal(size=(5, shape[0]))
    small = shortest_steps(matrices, gaps)
    monkeypatch.setattr(newton_steps, "LARGE", 0)
    assert np.allclose(shortest_steps(matrices, gaps), small, atol=1e-6)
    assert shortest_steps(matrices[:0], gaps[:0]).shape == (0, shape[1])


def test_dependent_equations_of_large_matrices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newton_steps, "LARGE", 0)
    matrix = np.array([[[1.0, 1.0, 0.0], [2.0, 2.0, 0.0]]])
    assert np.allclose(matrix[0] @ shortest_steps(matrix, np.array([[1.0, 2.0]]))[0], [1.0, 2.0], atol=1e-3)


def test_large_matrices_ask_for_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newton_steps, "LARGE", 0)
    with until(lambda: True), pytest.raises(OutOfTime):
        shortest_steps(np.ones((1, 2, 2)), np.ones((1, 2)))
