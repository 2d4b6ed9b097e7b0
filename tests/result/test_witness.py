"""What a witness says of the points, or boxes, behind it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import ircert
from ircert.geometry.norm import Norm
from ircert.ir.boxed_pair import BoxedPair
from ircert.ir.ops.curves import Tanh
from ircert.result.witness import boxed_report, length, length_down, report, turned_pair

THIRD = Fraction(1, 3)


def bend(size: int = 2) -> ircert.Graph:
    """x - 2 tanh(x), entry by entry."""
    build = ircert.Builder(size)
    return build.graph(build.add(build.input, build.affine(build.node(Tanh(), build.input), -2 * np.eye(size))))


@pytest.mark.rule("R-5")
def test_lengths_are_rounded_outward() -> None:
    fold = ircert.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    found = report(fold, None, Norm.TWO, [THIRD], [-THIRD])
    assert Fraction(found.separation) > 2 * THIRD > Fraction(length_down(Norm.TWO, [THIRD], [-THIRD]))
    assert found.separation == length(Norm.TWO, [THIRD], [-THIRD])
    assert found.radii is None
    assert not found.x.flags.writeable


@pytest.mark.rule("R-5", "R-13")
@pytest.mark.parametrize("norm", list(Norm))
def test_boxes_are_at_most_so_far_apart(norm: Norm) -> None:
    small, nothing = Fraction(1, 2**40), Fraction(0)
    pair = BoxedPair([Fraction(1), THIRD], [nothing, nothing], [small, nothing], [nothing, small])
    found = boxed_report(bend(), None, norm, pair)
    exact = norm.measure([1 + small, THIRD + small])
    assert exact <= Fraction(found.separation) ** norm.power <= exact * (1 + Fraction(1, 2**50))
    told = boxed_report(bend(), ircert.load([(2 * np.eye(2), np.zeros(2))]), norm, pair)
    assert Fraction(2 * found.separation) <= Fraction(told.separation) * (1 + Fraction(1, 2**50))


@pytest.mark.rule("R-12")
def test_orientations_of_some_inputs() -> None:
    inner, outer, other = ([Fraction(v), Fraction(1, 4)] for v in (0.5, 2.0, 3.0))
    graph = bend()
    found = turned_pair(graph, inner, outer, [0, 1])
    assert found is not None
    (a, b), (c, d) = found.determinants
    assert 0 < a <= b
    assert c <= d < 0
    assert turned_pair(graph, outer, other, [0, 1]) is None
    alone = turned_pair(graph.select([0]), inner, outer, [0])
    assert alone is not None
    assert alone.determinants[0][1] < 0
