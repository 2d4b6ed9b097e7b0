"""Steps of any length are the map x + h g(x), exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import ircert
from ircert.analysis.steps.step_map import StepMap
from ircert.errors import QueryError
from ircert.ir.graph import Graph


def bent(n: int) -> Graph:
    rng = np.random.default_rng(n)
    return ircert.load([(rng.standard_normal((5, n)), rng.standard_normal(5)), (rng.standard_normal((n, 5)), None)])


@pytest.mark.rule("SS-1")
@pytest.mark.parametrize("written", [True, False])
@pytest.mark.parametrize("n", [1, 3, 70])
def test_both_ways_to_give_a_step(n: int, *, written: bool) -> None:
    g, s = bent(n), 0.375
    step = StepMap(g).at(s)
    if not written:  # a network whose last node is no sum with x
        step = step.then(ircert.load([(np.eye(n), None)]))
    again = StepMap(step, s)
    x = (np.random.default_rng(0).integers(-9, 9, n) / 8).tolist()
    for h in (0.125, 1.1, 3.0):
        factor = again.factor(h)
        length = again.length(factor)
        assert Fraction(h) <= length <= Fraction(h) * (1 + Fraction(1, 2**52))
        expected = [Fraction(a) + length * b for a, b in zip(x, g.exact(x), strict=True)]
        assert list(again.at(factor).exact(x)) == expected
    assert (len(again.moved) < len(step)) == written or n == 0


def test_as_many_outputs_as_inputs() -> None:
    with pytest.raises(QueryError, match="2 inputs and 1 outputs"):
        StepMap(ircert.load([(np.ones((1, 2)), None)]))
