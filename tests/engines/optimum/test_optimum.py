"""p* of a fixed ball: the value belongs to an exact pair, and is not lost at the rim of a domain."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.backends.highs import Highs
from ircert.engines.base import Question
from ircert.engines.optimum import far_pairs as module
from ircert.engines.optimum.climb import climbed
from ircert.engines.optimum.far_pairs import balanced, delicate, far_pairs
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph
from ircert.limits import Deadline, until
from ircert.programs.formulations.program import program
from ircert.questions.network import lowered as canonical
from ircert.questions.query import Query
from ircert.result.result import Result
from ircert.result.witness import length
from ircert.witnesses.replay import refutes
from tests.effort import some_of

NORMS = tuple(Norm)


def network(seed: int, *sizes: int) -> Graph:
    """Full-mantissa weights, some of them as small as training leaves them."""
    rng = np.random.default_rng(seed)
    layers = []
    for a, b in pairwise(sizes):
        weight = rng.normal(size=(b, a)) / np.sqrt(a)
        small = rng.random(weight.shape) < 0.1
        layers.append(
            (np.where(small, weight * 10.0 ** rng.integers(-62, -7, weight.shape), weight), rng.normal(size=b) / 4)
        )
    return ircert.load(layers)


def pixels(seed: int, size: int) -> Array:
    """A point of the unit box, many of its coordinates 0."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(size) < 0.4, 0.0, rng.random(size))


def asked(graph: Graph, center: Any, **options: Any) -> Result:
    return ircert.certify(graph, center, engine="boxes", **{"time_limit": 30, **options})


@pytest.mark.rule("E-5")
@pytest.mark.parametrize(
    ("problem", "norm", "domain"), some_of(["local", "pseudo", "transform"], NORMS, [None, (0.0, 1.0)], every=2)
)
def test_the_value_reaches_the_bound(problem: str, norm: str, domain: Any) -> None:
    """Fewer outputs than inputs: p* is as large as ball and domain allow, or what the program's bound says."""
    graph, center = network(3, 12, 8, 4), pixels(3, 12)
    other = network(4, 12, 3, 2) if problem == "transform" else None
    seconds = 8 if norm == "2" else 30
    found = asked(
        graph, center, problem=problem, other=other, norm=norm, radius=0.25, domain=domain, time_limit=seconds
    )
    assert found.verdict == "refuted"
    assert found.witness is not None
    assert found.optimum is not None
    value, bound = found.optimum.value, found.optimum.bound
    assert found.witness.separation == pytest.approx(value, rel=1e-15)
    if norm != "2":
        assert value >= bound * (1 - 1e-5) - 2e-6
    elif problem != "transform":  # there the bound is that of another norm
        assert value >= 0.5 * bound


@pytest.mark.rule("E-5", "PR-9")
@pytest.mark.parametrize("norm", [Norm.INF, Norm.ONE])
@pytest.mark.parametrize("problem", ["local", "pseudo", "transform"])
def test_a_pair_of_the_solver_is_not_lost(problem: str, norm: Any) -> None:
    """Its value within 1e-6, without a climb."""
    graph, center = network(5, 6, 5, 3), pixels(5, 6)
    other = network(6, 6, 3, 2) if problem == "transform" else None
    query = Query(problem, center, 0.25, norm, other, (0.0, 1.0))
    solved = Highs().solve(balanced(program(graph, query)), time_limit=20)
    low, high = np.zeros(6), np.ones(6)
    question = Question(graph, other, problem, Place(center, norm, low, high), 0.25, 0.25)
    found = far_pairs(question, 0.25, 20.0, norm)
    assert solved.value is not None
    assert solved.value > 0.1
    assert found.pair is not None
    assert refutes(graph, query, *found.pair) is None
    assert module.separation(question, *found.pair) >= solved.value - 1e-6


@pytest.mark.rule("E-5")
def test_no_solver_is_asked_where_the_ball_itself_is_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_solved", None)
    found = asked(network(3, 12, 8, 4), pixels(3, 12), problem="pseudo", radius=0.25, domain=(0.0, 1.0))
    assert found.backend is None
    assert found.optimum is not None
    assert found.optimum.value == pytest.approx(0.25, abs=1e-7)


@pytest.mark.rule("E-5")
@pytest.mark.parametrize("problem", ["local", "pseudo"])
def test_an_instant_answer_has_it_too(problem: str) -> None:
    """Fewer outputs than inputs refute every ball: p* is what says more."""
    graph, center = network(7, 12, 8, 4), pixels(7, 12)
    found = ircert.certify(graph, center, problem, radius=0.25, domain=(0.0, 1.0), time_limit=30)
    assert (found.engine, found.verdict, found.radius.refuted) == ("instant", "refuted", 0.0)
    assert found.optimum is not None
    assert found.optimum.trust == "exact"
    assert found.optimum.value >= found.optimum.bound * (1 - 1e-6) > 0.2
    square = ircert.load([(np.diag([1.0, 0.0]), None)])
    assert ircert.certify(square, [0.0, 0.0], problem, radius=0.25).optimum is None


@pytest.mark.rule("E-1")
def test_the_solvers_collision_refutes_where_trees_have_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    from ircert.engines.boxes.search.search import Search

    monkeypatch.setattr(Search, "_prove", lambda *_, **__: "stopped")
    monkeypatch.setattr(Search, "_falsify", lambda _: None)
    fold = ircert.load([([[1.0], [-1.0]], None), ([[1.0, 1.0]], None)])
    for center, verdict in ((0.25, "refuted"), (1.5, "unresolved")):
        found = asked(fold, [center], radius=1.0)
        assert found.verdict == verdict


@pytest.mark.rule("E-5")
@pytest.mark.parametrize(
    ("problem", "norm", "most"),
    [
        ("local", Norm.INF, 0.5),
        ("local", Norm.ONE, 0.75),
        ("pseudo", Norm.INF, 0.5),
        ("pseudo", Norm.ONE, 0.5),
        ("transform", Norm.INF, None),
    ],
)
def test_the_size_of_ball_and_domain(problem: str, norm: Any, most: float | None) -> None:
    """[0, 1/4] x [0, 1/2] around (0, 0), radius 1/2."""
    graph = network(0, 2, 1)
    other = graph if problem == "transform" else None
    low, high = np.zeros(2), np.array([0.25, np.inf])
    question = Question(graph, other, problem, Place(np.zeros(2), norm, low, high), 0.5, 0.5)
    assert question.trivial_bound(0.5) == most


@pytest.mark.parametrize("norm", NORMS)
def test_a_climb_goes_through_regions_and_ends_with_the_time(norm: Any) -> None:
    """relu(x1) - relu(x1 - 1/4) … on x2 = 0: flat steps lead away from the start, one kink after the other."""
    steps = np.arange(8) / 8
    weight = np.column_stack([np.ones(8), np.zeros(8)])
    graph = canonical(ircert.load([(weight, -steps), (np.tile([1.0, -1.0], 4)[None, :], None)]))
    query = Query("local", [0.5, 0.0], 1.0, norm)
    start = [Fraction(3, 16), Fraction(0)], [Fraction(3, 16), Fraction(1, 2**20)]
    assert refutes(graph, query, *start) is None
    before = length(norm, *start)
    end = climbed(graph, query, start, 2.0)
    assert length(norm, *end) > 1.9
    with until(Deadline(0.0).passed):
        assert length(norm, *climbed(graph, query, start, 2.0)) == before


@pytest.mark.rule("E-4", "PR-16")
@pytest.mark.parametrize("backend", ["highs", "scip"])
@pytest.mark.parametrize("seed", range(4))
def test_units_of_neurons_do_not_change_the_bound(seed: int, backend: str) -> None:
    """Hidden neurons in units from 2^-40 to 2^40: the same function, and the same p*."""
    rng = np.random.default_rng(seed)
    layers = [(rng.normal(size=(b, a)).round(3), rng.normal(size=b).round(3) / 2) for a, b in pairwise([2, 4, 3, 2])]
    odd = [(w.copy(), b.copy()) for w, b in layers]
    for i in range(3):
        unit = np.exp2(rng.integers(-40, 41, len(odd[i][1])).astype(float))
        odd[i] = unit[:, None] * odd[i][0], unit * odd[i][1]
        if i < 2:
            odd[i + 1] = odd[i + 1][0] / unit, odd[i + 1][1]
    query = Query("local", rng.normal(size=2).round(2), 1.0)
    solver: Any = ircert.backends.get(backend)
    first = solver.solve(program(ircert.load(layers), query), time_limit=20)
    asked_ = program(ircert.load(odd), query)
    assert delicate(asked_) is not None
    second = solver.solve(balanced(asked_), time_limit=20)
    assert first.value is not None
    assert second.bound is not None
    assert second.bound >= first.value - 1e-5
    assert second.bound == pytest.approx(first.bound, abs=0.05)
