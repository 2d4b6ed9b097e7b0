"""The predicted number of linear regions, against those that are counted."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert.data.networks import bundled
from ircert.engines.base import Question
from ircert.engines.regions.growth import Surroundings
from ircert.engines.regions.prediction import predicted_regions
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.questions.network import lowered as canonical
from tests.oracle.build import plain


def question_about(graph: ircert.Graph, center: Any, norm: Norm = Norm.INF, **changes: Any) -> Question:
    place = Place.everywhere(np.asarray(center, dtype=float), norm)
    return replace(Question(graph, None, "local", place, None, 64.0), **changes)


def counted(question: Question, radius: float) -> int:
    graph = canonical(question.graph)
    around = Surroundings(graph, question.place)
    return len(around.complex(Fraction(radius)))


@pytest.mark.rule("AU-1")
@pytest.mark.parametrize("norm", Norm)
@pytest.mark.parametrize("radius", [0.5, 3.0, 1e6])
@pytest.mark.parametrize("name", ["vanderpol-2-10-10-2", "vanderpol-2-32-32-2", "brusselator-residual-2-24-24-2"])
def test_trained_networks(name: str, radius: float, norm: Norm) -> None:
    question = question_about(bundled(name), [0.0, 0.0], norm)
    true = counted(question, radius)
    assert true / 2 <= predicted_regions(question, radius) <= 4 * true


@pytest.mark.rule("AU-1")
@given(st.integers(0, 10**6), st.sampled_from([0.25, 2.0, 64.0]), st.booleans())
def test_random_networks(seed: int, radius: float, one_input: bool) -> None:
    rng = np.random.default_rng(seed)
    inputs = 1 if one_input else 2
    layers = plain(rng, [inputs, *rng.integers(4, 12, size=rng.integers(1, 3)).tolist(), 2], True)
    question = question_about(ircert.load(layers), rng.normal(size=inputs))
    true, predicted = counted(question, radius), predicted_regions(question, radius)
    # in a large ball all lines meet in few squares, where fewer of them cross than are counted
    assert true / 3 - 4 <= predicted <= (4 if radius < 64 else 16) * true
    assert predicted == predicted_regions(question, radius)


def test_lines_of_a_grid() -> None:
    """9 lines across each axis make 100 squares; on a segment the count is exact."""
    places = np.arange(-4, 5) + 0.3
    across = ircert.load([(np.kron(np.eye(2), np.ones((9, 1))), -np.tile(places, 2)), (np.ones((2, 18)), np.zeros(2))])
    assert 50 <= predicted_regions(question_about(across, [0, 0]), 5.0) <= 200
    along = ircert.load([(np.ones((9, 1)), -places), (np.ones((1, 9)), np.zeros(1))])
    assert predicted_regions(question_about(along, [0]), 5.0) == 10
    assert predicted_regions(question_about(along, [0]), 0.25) == 1


def test_pinned_inputs_and_domains_count_what_is_left() -> None:
    graph = bundled("vanderpol-2-32-32-2")
    place = Place(np.zeros(2), Norm.INF, np.array([-np.inf, 0.0]), np.array([np.inf, 0.0]))
    pinned = question_about(graph, [0, 0], place=place)
    fixed = question_about(graph.fix({1: 0.0}), [0])
    assert predicted_regions(pinned, 3.0) == predicted_regions(fixed, 3.0)
    small = question_about(graph, [0, 0], place=place.within(np.full(2, -0.5), np.full(2, 0.5)))
    assert predicted_regions(small, 1e6) == predicted_regions(question_about(graph, [0, 0]), 0.5)


def test_numbers_beyond_floats() -> None:
    question = question_about(bundled("vanderpol-2-10-10-2"), [1e308, 0])
    assert predicted_regions(question, 1.7e308) >= 1
