from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert.bounds.operator_norms import norm_bound
from ircert.engines.base import Question
from ircert.engines.instant.contraction import is_injective
from ircert.engines.instant.dependence import is_function_of
from ircert.engines.instant.directions import Neighbourhood
from ircert.engines.instant.engine import always, instant
from ircert.engines.judge import judge
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.ir.graph import Graph
from ircert.ir.ops import LeakyRelu
from ircert.limits import Deadline, OutOfTime, until
from ircert.questions.network import lowered as canonical
from ircert.questions.query import Query
from ircert.result.result import Result
from ircert.testing import graphs, points
from tests.effort import some_of
from tests.result.support import fold, read

RANDOM = np.random.default_rng(7)
FLAT = ircert.load([([[1.0, 1.0], [2.0, 2.0]], [1.0, 0.0])])
NARROW = ircert.load([(RANDOM.normal(size=(8, 3)), RANDOM.normal(size=8)), (RANDOM.normal(size=(2, 8)), None)])
DEAD = ircert.load([(np.eye(2), [-1.0, 0.5]), (np.eye(2), None)])
PLUS = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])


def residual(size: int, width: int, blocks: int, lipschitz: float, seed: int = 0) -> Graph:
    random = np.random.default_rng(seed)
    build = ircert.Builder(size)
    x = build.input
    for _ in range(blocks):
        first, last = random.normal(size=(width, size)), random.normal(size=(size, width))
        first *= lipschitz / np.linalg.norm(first, 2)
        last /= np.linalg.norm(last, 2)
        hidden = build.relu(build.affine(x, first, random.normal(size=width)))
        x = build.add(x, build.affine(hidden, last, random.normal(size=size)))
    return build.graph(x)


def leaky(slope: float) -> Graph:
    build = ircert.Builder(3)
    x = build.input
    for _ in range(2):
        x = build.node(LeakyRelu(np.array(slope)), build.affine(x, RANDOM.normal(size=(3, 3)), RANDOM.normal(size=3)))
    return build.graph(x)


def bracket(result: Result) -> tuple[str, float, float | None]:
    read(result.to_json())
    return result.verdict, result.radius.certified, result.radius.refuted


@pytest.mark.parametrize(
    ("graph", "domain", "norm"), some_of([FLAT, NARROW, DEAD], [None, (0.0, 1.0), (-math.inf, 0.0)], ["inf", 1, 2])
)
def test_radius_zero_with_a_witness_in_every_ball(graph: Graph, domain: Any, norm: Any) -> None:
    center = np.zeros(graph.input_dim)
    search = ircert.certify(graph, center, norm=norm, domain=domain)
    assert bracket(search) == ("refuted", 0.0, 0.0)
    assert (search.engine, search.trust) == ("instant", "exact")
    for radius in (1e-9, 3.0, 1e5):
        fixed = ircert.certify(graph, center, norm=norm, domain=domain, radius=radius)
        assert bracket(fixed) == ("refuted", 0.0, 0.0)


@pytest.mark.parametrize("problem", ["local", "pseudo"])
@pytest.mark.parametrize(
    "graph",
    [ircert.load([(PLUS, None)]), residual(3, 5, 4, 0.98), residual(8, 10, 3, 0.9), leaky(0.1), leaky(0.01)],
)
def test_injective_everywhere(graph: Graph, problem: str) -> None:
    center = np.ones(graph.input_dim)
    result = ircert.certify(graph, center, problem=problem)
    assert bracket(result) == ("certified", math.inf, None)
    assert "injective" in result.radius.certified.evidence
    assert bracket(ircert.certify(graph, center, problem=problem, radius=2.0))[:2] == ("certified", math.inf)


@pytest.mark.parametrize(
    "graph",
    [
        fold(),
        residual(3, 5, 2, 40.0),
        leaky(-0.5),
        ircert.load([(np.eye(2), None), (np.eye(2), None)]),
        ircert.load([(PLUS.T, None)]),
    ],
)
def test_what_is_not_proved_injective(graph: Graph) -> None:
    assert not is_injective(canonical(graph))


def test_pseudo_where_the_centre_lies_in_a_flat_region() -> None:
    assert bracket(ircert.certify(DEAD, [0.0, 0.0], problem="pseudo")) == ("refuted", 0.0, 0.0)
    fixed = ircert.certify(FLAT, [0.5, 0.5], problem="pseudo", radius=0.25)
    assert bracket(fixed) == ("refuted", 0.0, 0.0)
    assert fixed.witness is not None
    assert fixed.witness.y.tolist() == [0.5, 0.5]


def test_pseudo_at_a_kink_and_in_a_corner() -> None:
    """At the kink of relu the flat side is one of two; in the domain's corner the kernel leads outside."""
    relu = canonical(ircert.load([([[1.0]], None), ([[1.0]], None)]))
    assert bracket(ircert.certify(relu, [0.0], problem="pseudo")) == ("refuted", 0.0, 0.0)
    for graph, center, domain in ((fold(), [0.0], None), (relu, [0.0], (0, 1)), (FLAT, [0.0, 0.0], (0, 1))):
        result = ircert.certify(graph, center, problem="pseudo", domain=domain)
        assert result.engine != "instant"


def test_transform() -> None:
    first, second = ircert.load([([[1.0, 0.0]], None)]), ircert.load([([[3.0, 0.0]], [1.0])])
    apart, curved = ircert.load([([[1.0, 1.0]], None)]), residual(2, 3, 1, 9.0)

    def asked(graph: Graph, other: Graph) -> tuple[str, float, float | None]:
        return bracket(ircert.certify(graph, [0.0, 0.0], problem="transform", other=other))

    assert asked(first, second) == ("certified", math.inf, None)
    assert asked(first, ircert.load([([[0.0, 0.0]], [2.0])])) == ("certified", math.inf, None)
    assert asked(ircert.load([(PLUS, None)]), curved) == ("certified", math.inf, None)
    assert asked(residual(2, 3, 2, 0.9), curved) == ("certified", math.inf, None)
    assert asked(curved, curved) == ("certified", math.inf, None)
    assert asked(first, apart) == ("refuted", 0.0, 0.0)
    assert asked(first, curved) == ("refuted", 0.0, 0.0)


def test_no_time_no_claim() -> None:
    chain = canonical(residual(3, 5, 4, 0.98))
    assert is_injective(chain)
    with until(lambda: True), pytest.raises(OutOfTime):
        is_injective(chain)
    question = instant_question(residual(3, 5, 4, 0.98), None, "local", np.ones(3), None)
    assert instant(replace(question, deadline=Deadline(0.0))) is None
    assert always(replace(question, deadline=Deadline(0.0))) is None
    assert instant(question) is not None


def test_functions_of_the_output() -> None:
    """g∘f, selected and mixed outputs and constants hold everywhere; what reads more of f does not."""
    rng = np.random.default_rng(3)
    eighths = [
        (rng.integers(-8, 9, shape) / 8, rng.integers(-8, 9, shape[0]) / 8) for shape in ((5, 2), (4, 5), (3, 4))
    ]
    (v, a), (w, b) = eighths[1:]
    folding = ircert.load([([[1.0, -1.0, 0.5], [2.0, 0.0, 1.0]], [0.5, 0.0]), ([[1.0, 1.0]], None)])
    f = ircert.load(eighths)
    read = [
        f.then(folding),
        f.select([2, 0]),
        ircert.load([*eighths[:2], (np.array([[1.0, 2.0, 0.0]]) @ w, [7.0])]),
        ircert.load([(np.zeros((2, 2)), [1.0, 2.0])]),
        ircert.load([(np.eye(2), None), (np.zeros((2, 2)), [1.0, -2.0]), (np.ones((1, 2)), None)]),
    ]
    for other in read:
        assert is_function_of(canonical(f), canonical(other))
        assert is_function_of(canonical(ircert.stack(f.select([0]), f.select([1, 2]))), canonical(other))
    unread = [
        ircert.load([*eighths[:2], (w + np.eye(3, 4), b)]),
        ircert.load([eighths[0], (v, a)]),
        ircert.load([eighths[0]]),
    ]
    for other in unread:
        assert not is_function_of(canonical(f), canonical(other))
    assert not is_function_of(canonical(f.select([0, 1])), canonical(f))
    found = ircert.certify(f, [0.0, 0.0], problem="transform", other=read[0], engine="boxes")
    assert bracket(found) == ("certified", math.inf, None)


def test_a_domain_of_one_point_and_of_one_line() -> None:
    assert bracket(ircert.certify(FLAT, [1.0, 2.0], domain={"low": [1, 2], "high": [1, 2]})) == (
        "certified",
        math.inf,
        None,
    )
    line = ircert.certify(NARROW, [0.0, 0.0, 0.0], domain=([-1, 0, 0], [1, 0, 0]))
    assert line.engine != "instant" or line.radius.certified > 0


@given(graphs(), st.sampled_from(["local", "pseudo", "transform"]), st.sampled_from([None, 0.5]), st.data())
def test_any_network_is_answered_with_a_verdict(
    graph: Graph, problem: str, radius: float | None, data: st.DataObject
) -> None:
    """Witnesses are replayed on the way: a false one would raise."""
    other = graph.select([0]) if problem == "transform" else None
    center = data.draw(points(graph))
    found = instant_question(graph, other, problem, center, radius)
    answer = instant(found)
    if answer is not None:
        judged = judge(found, answer)
        assert judged.verdict in ("certified", "refuted")
        assert (judged.witness is None) == (judged.radius.certified == math.inf)


def instant_question(graph: Graph, other: Graph | None, problem: str, center: Any, radius: float | None) -> Question:
    query = Query(problem, center, radius or 1e6, other=other)
    ball = query.ball
    return Question(graph, other, problem, Place(query.center, Norm.INF, ball.low, ball.high), radius, query.radius)


@given(graphs(), st.data())
def test_derivatives_hold_as_far_as_they_say(graph: Graph, data: st.DataObject) -> None:
    graph = canonical(graph)
    x, v = ([Fraction(a) for a in data.draw(points(graph)).tolist()] for _ in range(2))
    along = Neighbourhood(graph, x).along(v)
    reach = Fraction(100) if along.reach is None else along.reach
    for t in (reach, reach / 3):
        moved = graph.exact([a + t * b for a, b in zip(x, v, strict=True)])
        assert [a - b for a, b in zip(moved, graph.exact(x), strict=True)] == [t * c for c in along.change]


@given(graphs(), st.data())
def test_what_is_proved_injective_tells_points_apart(graph: Graph, data: st.DataObject) -> None:
    if is_injective(canonical(graph)):
        x, y = (data.draw(points(graph)).tolist() for _ in range(2))
        assert x == y or list(graph.exact(x)) != list(graph.exact(y))


@pytest.mark.parametrize("norm", Norm)
@pytest.mark.parametrize("scale", [1.0, 2.0**-500, 2.0**400])
@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (20, 5)])
def test_norms_are_bounded_from_above_and_closely(norm: Norm, scale: float, shape: tuple[int, int]) -> None:
    matrix = RANDOM.normal(size=shape)
    truth = np.linalg.norm(matrix, {"inf": np.inf, "1": 1, "2": 2}[norm])
    bound = float(norm_bound(matrix * scale, norm) / Fraction(scale))
    assert truth * (1 - 1e-12) <= bound <= truth * 1.003


def test_the_norm_of_a_known_matrix() -> None:
    assert norm_bound(np.array([[3.0, 0.0], [4.0, 0.0]]), Norm.TWO) >= 5
    assert norm_bound(np.zeros((2, 2)), Norm.TWO) == 0
