"""Branch and bound on phases agrees with that on boxes, in all norms."""

from __future__ import annotations

import numpy as np
import pytest

from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array
from ircert.relational.differential_bounds import Pair
from ircert.relational.input_branching import InputBranching, into
from ircert.relational.objectives import Length
from ircert.relational.phase_branching import PhaseBranching
from tests.relational.twins import around, graph, layers, rounded

NORMS = [Norm.INF, Norm.ONE, Norm.TWO]


@pytest.mark.parametrize("of_ball", NORMS)
@pytest.mark.parametrize("norm", NORMS)
def test_phases_agree_with_boxes(of_ball: Norm, norm: Norm) -> None:
    made = layers(11, 2, 4, 3, 2)
    pair, ball = Pair(graph(made), graph(rounded(made, 0.1))), around(np.array([0.3, -0.2]), 1.0, of_ball)
    length = Length(norm)
    boxes = InputBranching(pair, ball, length, tol=1e-3)
    boxes.run()

    def attained(x: Array) -> float:
        there = into(ball, x[None])
        return float(length.values(pair.first(there), pair.second(there))[0])

    phases = PhaseBranching(pair, ball, length, attained, tol=0.01)
    assert phases.bound >= boxes.value
    phases.learn(boxes.value)
    phases.run(400)
    assert boxes.value <= phases.bound
    assert (boxes.peaks[0] <= phases.outputs * (1 + 1e-12)).all()
    if of_ball is not Norm.TWO:  # cuts leave a little room around a sphere
        assert phases.bound <= boxes.bound * (1.2 if norm is Norm.TWO else 1.02)
