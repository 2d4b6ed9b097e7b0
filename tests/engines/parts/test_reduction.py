"""Questions about parts, and the way back: points of a part are points of the whole, with the centre elsewhere."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import ircert
from ircert.engines.base import Answer, Question
from ircert.engines.parts.reduction import pieces
from ircert.geometry.place import Place
from ircert.ir.boxed_pair import BoxedPair
from ircert.ir.graph import Graph
from ircert.result.radius import End
from ircert.structure.parts import Head
from tests.structure.split import hard, tail


def shared() -> Graph:
    """Two hard functions of x0 with x1, and of x0 with x2, beside x0 itself, below a tail."""
    rng, build = np.random.default_rng(0), ircert.Builder(3)
    made = [hard(build, rng, build.select(build.input, [0, i]), 1) for i in (1, 2)]
    return build.graph(tail(build, rng, build.concat(*made, build.select(build.input, [0]))))


def asked(problem: str) -> Question:
    place = Place.everywhere(np.array([0.5, 0.25, -1.0]))
    return Question(graph=shared(), other=None, problem=problem, place=place, radius=None, max_radius=8.0)


@pytest.mark.rule("ST-10")
def test_what_is_given_is_among_the_outputs_or_fixed() -> None:
    for problem, inputs in (("local", [[0, 1], [0, 2]]), ("pseudo", [[1], [2]])):
        question = asked(problem)
        found = pieces(question, Head(question.network.knowledge))
        assert found is not None
        assert [piece.inputs for piece in found] == inputs
        assert [piece.question.center.tolist() for piece in found] == [question.center[i].tolist() for i in inputs]
        assert [piece.question.graph.output_dim for piece in found] == [len(i) for i in inputs]


@pytest.mark.rule("ST-10")
def test_parts_compute_what_the_whole_does() -> None:
    question = asked("local")
    found = pieces(question, Head(question.network.knowledge))
    assert found is not None
    for piece in found:
        points = np.random.default_rng(0).integers(-8, 9, (6, 2)) / 4
        for x, y in pairwise(points):
            same = list(piece.question.graph.exact(x)) == list(piece.question.graph.exact(y))
            there = []
            for point in (x, y):
                full = question.center.copy()
                full[piece.inputs] = point
                there.append(list(question.graph.exact(full)))
            assert same == (there[0] == there[1])


@pytest.mark.rule("ST-11")
def test_points_are_restored() -> None:
    question = asked("local")
    found = pieces(question, Head(question.network.knowledge))
    assert found is not None
    one, two = [Fraction(1), Fraction(3)], [Fraction(1), Fraction(2)]
    boxes = BoxedPair(one, two, [Fraction(0), Fraction(1, 8)], [Fraction(0), Fraction(0)])
    answer = Answer(None, End(0.0, ""), End(4.0, ""), (one, two), "exact", turned=(two, one), boxes=boxes)
    there = found[1].restored(answer, question)
    assert there.witness == ([1, Fraction(1, 4), 3], [1, Fraction(1, 4), 2])
    assert there.turned == ([1, Fraction(1, 4), 2], [1, Fraction(1, 4), 3])
    assert there.boxes is not None
    assert there.boxes.x_radii == [0, 0, Fraction(1, 8)]
    assert found[1].name == "the part of input 2"


@pytest.mark.rule("ST-10")
def test_a_constant_network_has_no_easier_parts() -> None:
    constant = ircert.load([([[2.0, -1.5]], [-0.5]), ([[0.0]], [-0.5])])
    other = ircert.load([([[-2.0, -2.0]], [-1.0]), ([[0.5]], [1.0])])
    for radius, verdict in ((0.5, "certified"), (1.5, "refuted")):
        found = ircert.certify(constant, [0.5, 0.25], "transform", other, radius=radius, domain=(-1.0, 1.0))
        assert found.verdict == verdict
