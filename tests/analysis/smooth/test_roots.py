"""Solutions that are proved one by one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from ircert.analysis.smooth.roots import Equations, Root, Value
from ircert.errors import PointError
from tests.analysis.smooth.known import cosine, folded


@pytest.mark.rule("FS-4")
def test_a_root_is_proved_near_the_true_one() -> None:
    found = Equations(cosine(), Value.of([Fraction(1, 2), "1/3"])).root(np.array([1.05, 0.333]))
    assert found is not None
    x, y = found.middle
    assert y - found.radius <= Fraction(1, 3) <= y + found.radius
    assert abs(arb(str(float(x))) - arb.pi() / 3) < 1e-15
    assert found.radius < Fraction(1, 10**15)
    assert found.orientation == -1


@pytest.mark.rule("FS-5")
def test_nothing_is_proved_at_a_fold_or_where_there_is_none() -> None:
    assert Equations(cosine(), Value.of([1.0, 0.0])).root(np.array([1e-4, 0.0])) is None
    assert Equations(cosine(), Value.of([1.5, 0.0])).root(np.array([0.1, 0.0])) is None


def test_values_of_all_sorts() -> None:
    graph = folded()
    value = Value.of([*graph.enclosure([0.3, 0.4])[:1], "1/3"])
    low, high = value.bounds
    assert arb(low[0]) < graph.enclosure([0.3, 0.4])[0] < arb(high[0])
    assert Fraction(low[1]) < Fraction(1, 3) < Fraction(high[1])
    exact = Value.of([0.25, 3])
    assert exact.bounds[0].tolist() == exact.bounds[1].tolist() == [0.25, 3.0]
    with pytest.raises(PointError, match="finite ball"):
        Value.of([arb("nan")])
    with pytest.raises(PointError):
        Value.of(["a"])


def test_boxes_of_roots() -> None:
    root = Root((Fraction(0), Fraction(1)), Fraction(1, 4), 1)
    assert root.lies_in(np.array([-0.25, 0.5]), np.array([0.25, 1.5]))
    assert not root.lies_in(np.array([-0.2, 0.5]), np.array([0.25, 1.5]))
    assert root.misses(Root((Fraction(1), Fraction(1)), Fraction(1, 4), 1))
    assert not root.misses(Root((Fraction(1, 2), Fraction(1)), Fraction(1, 4), 1))
