"""What is attained: points are moved into the ball, and values are rounded down."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import ircert
from ircert.analysis.difference.attained import Evaluation, inside
from ircert.geometry.norm import Norm
from ircert.ir.ops.curves import Tanh
from tests.relational.twins import around


@pytest.mark.parametrize("norm", [Norm.INF, Norm.ONE, Norm.TWO])
def test_points_are_moved_inside(norm: Norm) -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        ball = around(rng.normal(size=3), float(rng.random()), norm)
        offsets = rng.normal(size=3)
        x = ball.center + offsets / norm.lengths(offsets) * ball.radius
        found = inside(ball, x)
        assert ball.contains(found.tolist())
        assert np.abs(found - x).max() <= 1e-12 * (1 + np.abs(x).max())
    assert (inside(ball, ball.center + 10.0) == ball.center).all()


@pytest.mark.parametrize("norm", [Norm.INF, Norm.ONE, Norm.TWO])
def test_values_are_exact_and_rounded_down(norm: Norm) -> None:
    f = ircert.load([(np.array([[0.1], [0.3]]), np.zeros(2))])
    g = ircert.load([(np.array([[0.7], [0.2]]), np.zeros(2))])
    found = Evaluation(f, g, around(np.zeros(1), 2.0), norm).at(np.array([1.0]))
    gaps = [Fraction(0.1) - Fraction(0.7), Fraction(0.3) - Fraction(0.2)]
    assert found.exact == norm.measure(gaps)
    assert Fraction(found.value) ** norm.power <= norm.measure(gaps)
    assert found.outputs == pytest.approx([0.6, 0.1])


@pytest.mark.parametrize("norm", [Norm.INF, Norm.ONE, Norm.TWO])
def test_curves_are_enclosed(norm: Norm) -> None:
    ends = []
    for factor in (1.0, 1.5):
        build = ircert.Builder(2)
        ends.append(build.graph(build.node(Tanh(), build.affine(build.input, factor * np.eye(2)))))
    x = np.array([0.3, -0.2])
    found = Evaluation(ends[0], ends[1], around(np.zeros(2), 1.0), norm).at(x)
    gap = np.tanh(1.5 * x) - np.tanh(x)
    assert found.exact is None
    assert found.value == pytest.approx(float(norm.lengths(gap)))
    assert found.value <= norm.lengths(gap) * (1 + 1e-15)


def test_classes_with_ties() -> None:
    f = ircert.load([(np.array([[1.0], [1.0], [0.0]]), np.zeros(3))])
    g = ircert.load([(np.array([[0.0], [1.0], [1.0]]), np.zeros(3))])
    found = Evaluation(f, g, around(np.zeros(1), 2.0), Norm.INF).classes(np.array([1.0]))
    assert found is not None
    assert found[1] == ([0, 1], [1, 2])
