"""Radius 0 of networks with many inputs: the answers of small ones, at once."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert.answering import search_about
from ircert.engines.base import Question
from ircert.engines.instant import collapse
from ircert.engines.instant import engine as instant
from ircert.engines.judge import judge
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph
from ircert.limits import Deadline
from ircert.questions.query import Query
from ircert.testing import graphs, points

Layers = list[tuple[Array, Array]]


def layers(*sizes: int, bias: float = 0.3) -> Layers:
    rng = np.random.default_rng(sum(sizes))
    shapes = zip(sizes[1:], sizes, strict=False)
    return [(rng.normal(size=s) / s[1] ** 0.5, bias * rng.normal(size=s[0])) for s in shapes]


def pruned(given_layers: Layers) -> Layers:
    return [(np.where(np.abs(w) < np.quantile(np.abs(w), 0.4), 0.0, w), b) for w, b in given_layers]


def with_tiny_weights(given_layers: Layers) -> Layers:
    """Some columns and some single weights near 1e-60, as training leaves them."""
    rng = np.random.default_rng(0)
    found = []
    for w, b in given_layers:
        tiny = (rng.random(w.shape[1]) < 0.2) | (rng.random(w.shape) < 0.02)
        found.append((np.where(tiny, w * 10.0 ** rng.uniform(-70, -20, size=w.shape), w), b))
    return found


def asked(network: Layers, center: Any, problem: str, domain: Any = None, norm: Any = "inf") -> ircert.Result:
    other = ircert.load(pruned(network)) if problem == "transform" else None
    return ircert.certify(ircert.load(network), center, problem=problem, other=other, domain=domain, norm=norm)


PROBLEMS = ["local", "pseudo", "transform"]
SHAPES = [(49, 20, 10), (64, 32, 16, 10), (300, 64, 300), (784, 64, 10), (1000, 60, 1000)]


@pytest.mark.rule("IA-1")
@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("sizes", SHAPES, ids=lambda sizes: "-".join(map(str, sizes)))
def test_no_ball_is_good_however_many_inputs_there_are(sizes: tuple[int, ...], problem: str) -> None:
    found = asked(layers(*sizes), np.full(sizes[0], 0.1), problem)
    assert (found.radius.certified, found.radius.refuted) == (0.0, 0.0)
    assert (found.engine, found.trust) == ("instant", "exact")
    assert found.witness is not None
    pair = found.witness.exact
    graph = ircert.load(layers(*sizes))
    assert list(graph.exact(pair.x)) == list(graph.exact(pair.y))
    assert pair.x != pair.y


@pytest.mark.parametrize("norm", ["inf", 1, 2])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_tiny_weights_the_sides_of_a_domain_and_pinned_inputs(problem: str, norm: Any) -> None:
    network = with_tiny_weights(layers(100, 40, 12))
    low, high = np.zeros(100), np.ones(100)
    center = np.random.default_rng(1).random(100)
    center[:30], center[30:60] = 0.0, 1.0
    high[60:70] = low[60:70] = center[60:70]
    found = asked(network, center, problem, (low, high), norm)
    assert (found.radius.certified, found.radius.refuted, found.engine) == (0.0, 0.0, "instant")
    assert found.witness is not None
    for point in (found.witness.exact.x, found.witness.exact.y):
        assert point[60:70] == [Fraction(v) for v in center[60:70]]
        assert all(0 <= v <= 1 for v in point)


@pytest.mark.rule("IA-1")
@pytest.mark.parametrize("problem", PROBLEMS)
def test_in_the_corner_of_a_domain(problem: str) -> None:
    found = asked(layers(80, 30, 10), np.zeros(80), problem, (0.0, 1.0))
    assert (found.radius.certified, found.radius.refuted, found.engine) == (0.0, 0.0, "instant")


@pytest.mark.parametrize("problem", ["local", "transform"])
def test_every_neuron_at_a_kink(problem: str) -> None:
    found = asked(layers(70, 30, 10, bias=0.0), np.zeros(70), problem)
    assert (found.radius.certified, found.radius.refuted, found.engine) == (0.0, 0.0, "instant")


def test_numbers_that_leave_the_floats() -> None:
    """How far a region reaches is then found in rationals."""
    network = [(np.array([[1e300, -1e300]]), np.zeros(1)), (np.array([[1e300]]), np.ones(1)), (np.eye(1), np.ones(1))]
    found = ircert.certify(ircert.load(network), [2e-300, 1e-300])
    assert (found.radius.certified, found.radius.refuted, found.engine) == (0.0, 0.0, "instant")


@pytest.mark.parametrize("size", [60, 200])
def test_affine_maps_of_full_rank(size: int) -> None:
    rng = np.random.default_rng(size)
    square = ircert.load([(rng.normal(size=(size, size)), None)])
    assert ircert.certify(square, np.zeros(size)).radius.certified == np.inf
    tall = ircert.load([(rng.normal(size=(size, size)), None)]).select(list(range(size - 1)))
    low, high = np.zeros(size), np.ones(size)
    high[0] = 0.0
    pinned = ircert.certify(tall, np.zeros(size), domain=(low, high))
    assert (pinned.radius.certified, pinned.engine) == (np.inf, "instant")


@pytest.mark.parametrize("size", [60, 200])
def test_affine_maps_that_keep_a_kernel(size: int) -> None:
    """With many inputs: outputs mixed exactly are a function of the outputs; with one weight changed they are not."""
    rng = np.random.default_rng(size)
    weight = rng.integers(-(2**20), 2**20, size=(size // 2, size)) / 2.0**20
    mixed = rng.integers(-4, 5, size=(5, size // 2)) @ weight
    first, second = ircert.load([(weight, None)]), ircert.load([(mixed, None)])
    kept = ircert.certify(first, np.zeros(size), problem="transform", other=second)
    assert (kept.radius.certified, kept.engine) == (np.inf, "instant")
    mixed[0, 0] += 2.0**-30
    changed = ircert.certify(first, np.zeros(size), problem="transform", other=ircert.load([(mixed, None)]))
    assert (changed.radius.certified, changed.radius.refuted) == (0.0, 0.0)


def question(graph: Graph, other: Graph | None, problem: str, center: Any, domain: Any) -> Question:
    query = Query(problem, center, 1.0, other=other, domain=domain)
    ball = query.ball
    return Question(graph, other, problem, Place(query.center, Norm.INF, ball.low, ball.high), None, 1.0)


@given(graphs(), st.sampled_from(PROBLEMS), st.data())
def test_witnesses_hold_on_the_sides_of_any_domain(graph: Graph, problem: str, data: st.DataObject) -> None:
    """They are replayed, and lie in the domain and in every ball; a false one would raise."""
    other = graph.select([0]) if problem == "transform" else None
    center = data.draw(points(graph))
    below, above = (
        np.array(data.draw(st.lists(st.sampled_from([0.0, 0.25, np.inf]), min_size=len(center), max_size=len(center))))
        for _ in range(2)
    )
    ask = question(graph, other, problem, center, (center - below, center + above))
    found = instant.instant(ask)
    if found is not None:
        judge(ask, found)
        if found.witness is not None:
            assert all(abs(v - Fraction(c)) <= 1 for x in found.witness for v, c in zip(x, center, strict=True))


@pytest.mark.rule("IA-1")
def test_a_centre_off_all_kinks_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every region next to it is the same one."""
    looked: list[int] = []
    monkeypatch.setattr(collapse, "still_direction", lambda *given: looked.append(1))
    smooth, kinked = layers(6, 5, 4), layers(6, 5, 4, bias=0.0)
    for network, count in ((smooth, 1), (kinked, collapse.TRIES)):
        looked.clear()
        graph = ircert.load(network)
        assert instant.instant(question(graph, None, "local", np.zeros(6), None)) is None
        assert len(looked) == count


@pytest.mark.parametrize("problem", PROBLEMS)
def test_no_time_no_work(problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = ircert.load(layers(60, 20, 10))
    other = graph.select([0]) if problem == "transform" else None
    ask = question(graph, other, problem, np.zeros(60), None)
    late = Question(**{**vars(ask), "deadline": Deadline(0.0)})
    monkeypatch.setattr(collapse, "still_direction", lambda *given: pytest.fail("there is no time"))
    assert instant.instant(late) is None


@pytest.mark.rule("IA-1")
def test_floats_spare_exact_ranks_of_large_networks_on_kinks(monkeypatch: pytest.MonkeyPatch) -> None:
    """All neurons are 0 in the centre; a region next to it is seen to be regular without a rank modulo a prime."""
    monkeypatch.setattr(collapse, "LARGE", 0)
    asked: list[object] = []
    monkeypatch.setattr(collapse, "still_direction", lambda *given: asked.append(given))
    graph = ircert.load([(np.vstack([np.eye(3), -np.eye(3)]), None), (np.hstack([np.eye(3), -np.eye(3)]), None)])
    question = search_about(graph, np.zeros(3), "local", None, "inf", None, domain=None)
    assert collapse.collision_next_to_center(question, question.network.lowered, None) is None
    assert not asked
    flat = ircert.load([(np.eye(3), None), (np.eye(3), None)])
    question = search_about(flat, np.zeros(3), "local", None, "inf", None, domain=None)
    collapse.collision_next_to_center(question, question.network.lowered, None)
    assert asked
