"""Questions answered part by part say what the whole says, by exact geometry, boxes and closed forms."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import ircert
from ircert.engines.base import Answer, Cause, Progress, Question, Stop
from ircert.engines.parts.by_parts import by_parts
from ircert.geometry.norm import norm_of
from ircert.geometry.place import Place
from ircert.ir.graph import Graph
from ircert.ir.ops.curves import Tanh
from ircert.ir.ops.exp import Exp
from ircert.ir.ops.smooth import Product, Reciprocal
from ircert.limits import Deadline
from ircert.result.radius import End
from tests.structure.flows import couplings
from tests.structure.split import blocks, hard, split_networks

QUARTERS = st.lists(st.integers(-8, 8).map(lambda i: i / 8), min_size=2, max_size=2)


def question(graph: Graph, center: list[float], **options: Any) -> Question:
    place = Place.everywhere(np.array(center), norm_of(options.pop("norm", "inf")))
    asked = {"other": None, "problem": "local", "radius": None, "max_radius": 1e6, **options}
    return Question(graph=graph, place=place, **asked)


def folds(*places: float) -> Graph:
    """|x_i - place_i| for each input, written as one network below an injective tail."""
    n = len(places)
    build = ircert.Builder(n)
    left = build.relu(build.affine(build.input, np.eye(n), -np.array(places)))
    right = build.relu(build.affine(build.input, -np.eye(n), np.array(places)))
    return build.graph(build.affine(build.add(left, right), np.tril(np.ones((n, n)))))


@pytest.mark.rule("ST-10", "ST-11")
@given(split_networks(st.just([1, 1])), QUARTERS, st.sampled_from(["inf", 1, 2]), st.sampled_from(["local", "pseudo"]))
def test_two_parts_like_exact_geometry(graph: Graph, center: list[float], norm: Any, problem: str) -> None:
    asked: dict[str, Any] = {"norm": norm, "problem": problem, "max_radius": 64.0}
    whole = ircert.certify(graph, center, engine="regions", **asked)
    parted = ircert.certify(graph, center, **asked)
    for first, second in ((whole, parted), (parted, whole)):
        if second.radius.refuted is not None:
            assert min(first.radius.certified, 64.0) <= second.radius.refuted
    assert parted.verdict == whole.verdict
    fixed = {**asked, "radius": 1.0, "max_radius": None}
    assert ircert.certify(graph, center, **fixed).verdict == (
        ircert.certify(graph, center, engine="regions", **fixed).verdict
    )


@pytest.mark.rule("ST-10")
@pytest.mark.parametrize("norm", ["inf", 1, 2])
@pytest.mark.parametrize("linked", [False, True])
def test_three_inputs_like_boxes(norm: Any, *, linked: bool) -> None:
    graph = blocks(np.random.default_rng(11), [1, 2], linked=linked)
    parted = ircert.certify(graph, [0.0, 0.125, 0.0], norm=norm, tol=1e-4)
    whole = ircert.certify(graph, [0.0, 0.125, 0.0], norm=norm, tol=1e-4, engine="boxes")
    assert "parts" in parted.stats
    assert parted.verdict == whole.verdict == "certified"
    assert parted.radius.certified == pytest.approx(whole.radius.certified, rel=2e-4)


@pytest.mark.rule("ST-10", "ST-11")
@pytest.mark.parametrize("norm", ["inf", 1, 2])
def test_many_parts_the_nearest_fold_counts(norm: Any) -> None:
    places = [3.0, 2.0, 0.75, 5.0, *([4.0] * 36)]
    found = ircert.certify(folds(*places), np.zeros(40), norm=norm)
    assert found.verdict == "certified"
    assert found.radius.certified == pytest.approx(0.75, rel=1e-6)
    assert found.witness is not None
    assert [i for i in range(40) if found.witness.exact.x[i] != found.witness.exact.y[i]] == [2]
    assert len(found.stats["parts"]) == 40
    assert "the least of 40 parts, the part of input 2" in found.radius.certified.evidence


@pytest.mark.rule("ST-9", "ST-11")
def test_heads_are_asked_below_curves() -> None:
    rng = np.random.default_rng(0)
    head = ircert.load([(rng.integers(-8, 9, (b, a)) / 8, rng.integers(-8, 9, b) / 8) for a, b in ((2, 8), (8, 2))])
    graph = head.then(couplings(rng, 2, 3, scaled=True))
    for asked in ({}, {"problem": "pseudo"}, {"radius": 0.25}, {"radius": 2.0}, {"engine": "boxes"}):
        alone = ircert.certify(head, [0.0, 0.0], **asked)
        found = ircert.certify(graph, [0.0, 0.0], **asked)
        assert (found.verdict, found.radius) == (alone.verdict, found.radius)
        assert float(found.radius.certified) == float(alone.radius.certified)
        assert found.radius.refuted == alone.radius.refuted


@pytest.mark.rule("ST-11")
def test_tails_that_no_search_takes() -> None:
    """(u, v) -> (u, v / (1 + exp(u))): injective, with a reciprocal."""
    rng = np.random.default_rng(0)
    head = ircert.load([(rng.integers(-8, 9, (b, a)) / 8, rng.integers(-8, 9, b) / 8) for a, b in ((2, 8), (8, 2))])
    build = ircert.Builder(2)
    u, v = (build.select(build.input, [i]) for i in range(2))
    scale = build.node(Reciprocal(), build.affine(build.node(Exp(), u), [[1.0]], [1.0]))
    graph = head.then(build.graph(build.concat(u, build.node(Product(), v, scale))))
    alone, found = (ircert.certify(network, [0.0, 0.0]) for network in (head, graph))
    assert (found.verdict, found.radius.refuted) == (alone.verdict, alone.radius.refuted)
    assert found.witness is not None


@pytest.mark.rule("ST-9")
def test_transform_reads_the_head() -> None:
    build = ircert.Builder(2)
    head = build.graph(build.relu(build.input))
    other = ircert.load([(np.array([[1.0, 1.0]]), np.zeros(1))])
    graph = head.then(couplings(np.random.default_rng(1), 2, 2, scaled=True))
    found = ircert.certify(graph, [1.0, 1.0], problem="transform", other=other)
    alone = ircert.certify(head, [1.0, 1.0], problem="transform", other=other)
    assert (found.verdict, float(found.radius.certified)) == (alone.verdict, float(alone.radius.certified))
    assert found.witness is not None


@pytest.mark.rule("ST-10")
def test_smooth_parts() -> None:
    """x - 2 tanh(x) turns where 2 (1 - tanh²) = 1, in each of two inputs that a tail mixes."""
    build = ircert.Builder(2)
    bent = build.affine(build.node(Tanh(), build.input), -2 * np.eye(2))
    mixed = build.affine(build.add(build.input, bent), [[1.0, 1.0], [0.0, 1.0]])
    found = ircert.certify(build.graph(mixed), [0.5, 0.25], tol=1e-4)
    turn = math.atanh(math.sqrt(0.5))
    assert found.radius.certified == pytest.approx(turn - 0.5, rel=1e-3)
    assert found.verdict == "certified"


@pytest.mark.rule("ST-11")
def test_pairs_of_smooth_parts_are_moved_onto_the_whole() -> None:
    """Scales exp(x0) - 2 and exp(x0) - 3 of two inputs, mixed by a regular map: 0 at log 2."""
    build = ircert.Builder(3)
    kept, moved = build.select(build.input, [0]), build.select(build.input, [1, 2])
    scale = build.affine(build.node(Exp(), kept), [[1.0], [1.0]], [-2.0, -3.0])
    both = build.concat(kept, build.node(Product(), moved, scale))
    graph = build.graph(build.affine(both, [[1.0, 0.5, 0.25], [0.0, 1.0, 0.5], [0.5, 0.0, 1.0]]))
    found = ircert.certify(graph, [0.0, 0.0, 0.0], tol=1e-3, time_limit=20)
    assert len(found.stats["parts"]) == 2
    assert found.radius.refuted == pytest.approx(math.log(2), rel=1e-9)
    assert found.radius.certified >= 0.6
    assert found.witness is not None
    assert found.witness.radii is not None


@pytest.mark.rule("ST-11")
def test_p_star_is_the_worst_of_the_parts() -> None:
    graph = folds(0.5, 0.25)
    for norm, bound in (("inf", 1.5), (1, 2.0), (2, 2.0)):
        found = ircert.certify(graph, [0.0, 0.0], radius=1.0, norm=norm)
        assert found.verdict == "refuted"
        if found.optimum is not None:
            assert found.optimum.value <= bound <= 2.0
    good = ircert.certify(graph, [0.0, 0.0], radius=0.125)
    assert good.verdict == "certified"


@pytest.mark.rule("ST-7")
def test_inputs_that_the_domain_pins_down_are_known() -> None:
    build = ircert.Builder(2)
    x, y = (build.select(build.input, [i]) for i in range(2))
    graph = build.graph(build.concat(build.relu(x), build.add(y, build.relu(x))))
    found = ircert.certify(graph, [0.5, 0.0], domain=([0.5, -np.inf], [0.5, np.inf]))
    assert math.isinf(found.radius.certified)
    scaled = build.graph(build.concat(build.relu(x), build.node(Product(), y, build.node(Exp(), x))))
    found = ircert.certify(scaled, [0.5, 0.0], domain=([0.5, -np.inf], [0.5, np.inf]))
    assert math.isinf(found.radius.certified)


class Told:
    """Answers that are made up, and what was asked."""

    def __init__(self, *ends: float, stop: Stop | None = None) -> None:
        self.ends, self.stop, self.asked = ends, stop, list[Question]()

    def __call__(self, asked: Question) -> Answer:
        self.asked.append(asked)
        asked.report(Progress(0.5, None, "so far"))
        parts = list(dict.fromkeys(each.graph.sha256 for each in self.asked))
        return Answer.bracket(End(self.ends[parts.index(asked.graph.sha256)], "told"), stop=self.stop)


@pytest.mark.rule("ST-11")
def test_parts_share_the_time_and_open_ones_are_asked_again() -> None:
    told = Told(3.0, 1.0, 2.0, stop=Stop(Cause.TIME))
    seen: list[Progress] = []
    asked = replace(question(folds(3.0, 2.0, 1.0), [0.0] * 3), deadline=Deadline(3e6), report=seen.append)
    found = by_parts(asked, told)
    assert found is not None
    assert float(found.certified) == 1.0
    assert found.stop == Stop(Cause.TIME)
    shares = [q.deadline.left() for q in told.asked[:3]]
    assert shares == pytest.approx([1e6, 1.5e6, 3e6], rel=1e-3)
    assert [q.known is not None for q in told.asked[:4]] == [False, False, False, True]
    assert told.asked[3].known is not None
    assert float(told.asked[3].known.certified) == 1.0  # the weakest comes first
    assert [p.certified for p in seen[:3]] == [0.0, 0.0, 0.5]


@pytest.mark.rule("ST-11")
def test_equal_parts_are_asked_once() -> None:
    told = Told(2.0, 2.0)
    found = by_parts(question(folds(*([3.0] * 10), 4.0), [0.0] * 11), told)
    assert found is not None
    assert len(told.asked) == 2
    assert float(found.certified) == 2.0


@pytest.mark.rule("ST-11")
def test_interrupted() -> None:
    told = Told(2.0, stop=Stop(Cause.INTERRUPTED))
    found = by_parts(question(folds(3.0, 4.0), [0.0, 0.0]), told)
    assert found is not None
    assert len(told.asked) == 1
    assert float(found.certified) == 0.0
    assert found.stop == Stop(Cause.INTERRUPTED)


@pytest.mark.rule("ST-11")
def test_what_is_as_hard_as_the_whole_is_not_taken_apart() -> None:
    rng, build = np.random.default_rng(0), ircert.Builder(2)
    assert by_parts(question(build.graph(hard(build, rng, build.input, 2)), [0.0, 0.0]), Told(1.0)) is None
    fewer = build.graph(hard(build, rng, build.input, 1))
    assert by_parts(question(fewer, [0.0, 0.0]), Told(1.0)) is None


@pytest.mark.rule("ST-10", "ST-11")
@pytest.mark.parametrize("norm", ["inf", 1, 2])
@pytest.mark.parametrize("n", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_many_parts(n: int, norm: Any) -> None:
    """|x_i - p_i|: the radius is the least |p_i|, in every norm; equal parts are asked once."""
    places = np.where(np.arange(n) % 2 == 0, 3.0, 1.0 + np.arange(n) / n)
    places[37] = -0.75
    build = ircert.Builder(n)
    sides = [build.relu(build.affine(build.input, s * csr_array(np.eye(n)), -s * places)) for s in (1.0, -1.0)]
    graph = build.graph(build.add(*sides))
    found = ircert.certify(graph, np.zeros(n), norm=norm)
    assert found.verdict == "certified"
    assert found.radius.certified == pytest.approx(0.75)
    assert found.radius.refuted == pytest.approx(0.75)
    assert f"the least of {n} parts, the part of input 37" in found.radius.certified.evidence
    for radius, verdict in ((0.7, "certified"), (0.8, "refuted")):
        assert ircert.certify(graph, np.zeros(n), norm=norm, radius=radius).verdict == verdict


def test_turned_points_stand_without_boxes() -> None:
    """x - tanh(x) touches slope 0 and stays open until time is over; the other part folds, and its boxes solve for one
    input, which is too few for both outputs behind the mixing tail: the turned points are proved all the same."""
    text = """ircert.ir/1

x = input(length=2)
t = tanh(x)
s = affine(t, weight=[[-1.0, 0.0], [0.0, -1.5]])
z = add(x, s)
y = affine(z, weight=[[1.0, 0.5], [0.25, 1.0]])
return y
"""
    fold = 2 - np.arccosh(np.sqrt(1.5))
    found = ircert.certify(ircert.parse(text), [0.5, 2.0], time_limit=4)
    assert found.radius.certified <= 0.5
    assert found.radius.refuted is not None
    assert fold - 1e-9 <= found.radius.refuted <= fold + 1e-2
    assert found.turned is not None
