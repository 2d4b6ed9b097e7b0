from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import ircert
from ircert.geometry.norm import Norm
from ircert.ir.graph import Graph
from ircert.ir.ops import Abs
from ircert.questions.network import lowered as canonical
from ircert.questions.query import Query
from ircert.witnesses.replay import judge, refutes


def fold() -> Graph:
    build = ircert.Builder(2)
    first = build.node(Abs(), build.affine(build.input, [[0.1, 0.0]]))
    return canonical(build.graph(build.concat(first, build.select(build.input, [1]))))


def test_a_float_pair_becomes_an_exact_collision() -> None:
    query = Query("local", [0.25, 0.0], 1.0)
    witness, _ = judge(fold(), query, [-0.75 - 1e-9, 0.5], [0.75, 0.5 + 1e-9])
    assert witness is not None
    assert refutes(fold(), query, witness.x, witness.y) is None
    assert fold().exact(witness.x).tolist() == fold().exact(witness.y).tolist()
    assert max(abs(a - b) for a, b in zip(witness.x, [-0.75, 0.5], strict=True)) < Fraction(1, 500)


def test_what_does_not_collide_proves_nothing() -> None:
    injective = ircert.load([(2.0**-30 * np.eye(2), None)])
    query = Query("local", [0.0, 0.0], 1.0)
    witness, reason = judge(injective, query, [1.0, 0.0], [-1.0, 0.0])
    assert witness is None
    assert "no exact collision" in reason
    assert judge(fold(), Query("local", [5.0, 0.0], 1.0), [4.0, 0.0], [6.0, 0.0])[0] is None


def test_pseudo_keeps_the_centre() -> None:
    query = Query("pseudo", [0.5, 0.0], 2.0)
    witness, _ = judge(fold(), query, [-0.5 + 1e-10, 1e-10], [9.0, 9.0])
    assert witness is not None
    assert witness.y == [Fraction(1, 2), 0]
    assert witness.x == [Fraction(-1, 2), 0]


def test_transform_needs_a_gap_of_the_other_network() -> None:
    even, steep = fold().select([0]), ircert.load([([[3.0, 0.0]], None)])
    query = Query("transform", [0.0, 0.0], 1.0, other=steep)
    assert judge(even, query, [-0.5, 0.0], [0.5, 0.0])[0] is not None
    flat = Query("transform", [0.0, 0.0], 1.0, other=even)
    witness, reason = judge(even, flat, [-0.5, 0.0], [0.5, 0.0])
    assert witness is None
    assert "does not tell the points apart" in reason


@pytest.mark.parametrize("norm", Norm)
def test_the_ball_is_judged_exactly(norm: str) -> None:
    ball = Query("local", [0.1, 0.0], 0.5, norm).ball
    rim = Fraction(0.1) + Fraction(1, 2)
    assert ball.contains([rim, 0])
    assert not ball.contains([rim + Fraction(1, 2**200), 0])
    assert not Query("local", [0.1, 0.0], 0.5, norm, domain=(0.0, 0.5)).ball.contains([rim, 0])
