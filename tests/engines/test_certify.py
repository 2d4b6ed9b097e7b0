from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.engines.base import Answer, Cause, Progress, Question, Stop
from ircert.engines.judge import BrokenProof
from ircert.errors import QueryError, UnsupportedModel
from ircert.ir.ops import BY_KIND
from ircert.limits import Deadline
from ircert.result.radius import End, Radius
from ircert.result.result import Optimum
from tests.result.support import fold, made, read

Script = Callable[[Any], None]
PAIR = ([Fraction(1, 2)], [Fraction(-1, 2)])


def answer(**changes: Any) -> Answer:
    values: dict[str, Any] = {
        "verdict": None, "certified": End(0.0, "low"), "refuted": None, "witness": None, "trust": "exact",
    }  # fmt: skip
    return Answer(**{**values, **changes})


def late(question: Question) -> Answer:
    time.sleep(0.002)
    return answer()


@pytest.mark.rule("R-1", "R-2")
@pytest.mark.parametrize("norm", ["inf", 1, 2, np.inf])
def test_a_search_brackets_the_radius(norm: Any) -> None:
    result = ircert.certify(fold(), [0.75], norm=norm, engine="fold")
    assert (result.verdict, result.trust, result.engine) == ("certified", "exact", "fold")
    assert (result.radius.certified, result.radius.refuted) == (0.75, 0.75)
    assert result.radius.certified.evidence == "a closed form"
    assert result.witness is not None
    assert fold().exact(result.witness.exact.x).tolist() == fold().exact(result.witness.exact.y).tolist()
    assert (result.asked_radius, result.max_radius, result.optimum) == (None, 1e6, None)
    read(result.to_json())


@pytest.mark.rule("R-2", "R-3")
def test_a_fixed_ball_is_decided() -> None:
    good = ircert.certify(fold(), [0.75], radius=0.75, engine="fold")
    assert (good.verdict, good.radius.certified, good.radius.refuted, good.witness) == ("certified", 0.75, None, None)
    bad = ircert.certify(fold(), [0.75], radius=1.0, engine="fold")
    assert (bad.verdict, bad.radius.certified, bad.radius.refuted) == ("refuted", 0.75, 1.0)
    assert bad.witness is not None
    assert bad.witness.x.tolist() == [-0.25]
    for result in (good, bad):
        assert read(result.to_json())["asked"]["radius"] == result.asked_radius
        assert result.verdict in result.summary()


@pytest.mark.rule("R-2", "R-3")
def test_radius_zero_refutes_every_ball(script: Script) -> None:
    result = ircert.certify(fold(), [0.0], engine="fold")
    assert (result.verdict, result.trust, result.reason) == ("refuted", "exact", None)
    assert (result.radius.certified, result.radius.refuted) == (0.0, 0.0)
    assert result.witness is not None
    assert "refuted: the network is not injective on any ball" in result.summary()
    read(result.to_json())
    script(answer(refuted=End(0.0, "flat")))
    unproved = ircert.certify(fold(), [0.0], engine="scripted")
    assert (unproved.verdict, unproved.radius.refuted) == ("unresolved", None)


@pytest.mark.rule("R-2")
def test_only_a_certified_result_is_true() -> None:
    assert ircert.certify(fold(), [0.75], engine="fold")
    assert ircert.certify(fold(), [0.75], radius=0.5, engine="fold")
    assert not ircert.certify(fold(), [0.75], radius=1.0, engine="fold")
    assert not ircert.certify(fold(), [0.0], engine="fold")
    assert not made(verdict="unresolved", radius=Radius(End(0.5, "")), witness=None)


def test_pseudo_and_its_witness() -> None:
    result = ircert.certify(fold(), [0.75], problem="pseudo", engine="fold")
    assert (result.verdict, result.radius.refuted) == ("certified", 1.5)
    assert result.witness is not None
    assert result.witness.y.tolist() == [0.75]


@pytest.mark.rule("R-2")
@pytest.mark.parametrize(
    ("certified", "verdict"), [(math.inf, "certified"), (1e6, "certified"), (999.0, "unresolved"), (0.0, "unresolved")]
)
def test_nothing_found_up_to_the_largest_radius(script: Script, certified: float, verdict: str) -> None:
    script(answer(certified=End(certified, "so far")))
    result = ircert.certify(fold(), [0.0], engine="scripted")
    assert (result.verdict, result.radius.certified, result.radius.refuted) == (verdict, certified, None)
    read(result.to_json())


@pytest.mark.rule("R-6")
def test_unresolved_says_why(script: Script) -> None:
    script(answer(stop=Stop(Cause.UNDECIDED, "too hard")))
    assert ircert.certify(fold(), [0.5], engine="scripted").reason == "too hard"
    script(late)
    assert "time limit" in str(ircert.certify(fold(), [0.5], engine="scripted", time_limit=0.001).reason)
    script(answer(certified=End(0.25, ""), refuted=End(0.5, ""), witness=PAIR))
    assert "wider than tol" in str(ircert.certify(fold(), [0.0], engine="scripted").reason)
    script(answer(verdict="unresolved"))
    fixed = ircert.certify(fold(), [0.5], radius=1.0, engine="scripted")
    assert (fixed.verdict, fixed.witness) == ("unresolved", None)
    assert fixed.reason


@pytest.mark.rule("R-3")
@pytest.mark.parametrize(
    ("question", "wrong"),
    [
        ({}, {"refuted": End(0.5, ""), "witness": ([Fraction(1, 2)], [Fraction(1, 3)])}),
        ({}, {"refuted": End(0.5, ""), "witness": ([Fraction(1, 2)], [Fraction(1, 2)])}),
        ({}, {"refuted": End(0.5, ""), "witness": ([Fraction(0)], [Fraction(0)])}),
        ({}, {"certified": End(2.0, ""), "refuted": End(3.0, ""), "witness": PAIR}),
        ({"problem": "pseudo"}, {"refuted": End(0.5, ""), "witness": PAIR}),
        ({"domain": (0.0, 1.0)}, {"refuted": End(0.5, ""), "witness": PAIR}),
        ({"radius": 0.25}, {"verdict": "refuted", "witness": PAIR}),
        ({"radius": 1.0}, {"verdict": "refuted"}),
        ({"radius": 1.0}, {"verdict": "certified", "witness": PAIR}),
    ],
)
def test_a_false_claim_is_a_bug_and_no_verdict(script: Script, question: dict[str, Any], wrong: dict[str, Any]) -> None:
    script(answer(**wrong))
    with pytest.raises(BrokenProof):
        ircert.certify(fold(), [0.0], engine="scripted", **question)


@pytest.mark.rule("R-3")
def test_a_refuted_end_needs_a_witness(script: Script) -> None:
    script(answer(certified=End(0.5, ""), refuted=End(0.5, "trust me")))
    result = ircert.certify(fold(), [0.5], engine="scripted")
    assert (result.verdict, result.radius.refuted) == ("unresolved", None)
    assert "exact" in str(result.reason)


@pytest.mark.rule("R-3")
def test_a_collision_inside_the_ball_refutes_it(script: Script) -> None:
    script(answer(verdict="unresolved", witness=PAIR))
    result = ircert.certify(fold(), [0.0], radius=1.0, engine="scripted")
    assert (result.verdict, result.trust, result.radius.refuted) == ("refuted", "exact", 0.5)


@pytest.mark.rule("R-4")
def test_float_bounds_count_for_nothing_where_exact_ones_are_required(script: Script) -> None:
    bound = Optimum(0.0, 1e-9, "solver")
    script(answer(verdict="certified", certified=End(1.0, "bound"), trust="solver", optimum=bound))
    trusting = ircert.certify(fold(), [2.0], radius=1.0, engine="scripted")
    assert (trusting.verdict, trusting.trust, trusting.optimum) == ("certified", "solver", bound)
    assert read(trusting.to_json())["optimum"] == {"value": 0.0, "bound": 1e-9, "trust": "solver"}
    strict = ircert.certify(fold(), [2.0], radius=1.0, engine="scripted", require="exact")
    assert (strict.verdict, strict.radius.certified, strict.trust) == ("unresolved", 0.0, "exact")
    assert strict.optimum == (0.0, 2.0, "exact")
    assert "required" in str(strict.reason)
    script(answer(certified=End(0.25, ""), refuted=End(0.25, ""), witness=PAIR, trust="solver"))
    search = ircert.certify(fold(), [0.0], engine="scripted", require="exact")
    assert (search.verdict, search.radius.certified, search.radius.refuted) == ("unresolved", 0.0, 0.5)
    script(answer(verdict="refuted", certified=End(0.25, "bound"), witness=PAIR, trust="solver"))
    for require in (None, "exact"):
        refuted = ircert.certify(fold(), [0.0], radius=1.0, engine="scripted", require=require)
        assert (refuted.verdict, refuted.trust, refuted.radius.certified) == ("refuted", "exact", 0.0)


@pytest.mark.rule("R-4")
@pytest.mark.parametrize(("problem", "trivial"), [("local", 4.0), ("pseudo", 2.0), ("transform", None)])
def test_the_optimum_of_a_refuted_ball_has_its_own_trust(script: Script, problem: str, trivial: float | None) -> None:
    """The collision is exact, and the solver's bound on p* beside it is not."""
    graph, other = (fold(), ircert.load([([[1.0]], None)])) if problem == "transform" else (fold(), None)
    pair = ([Fraction(-1, 2)], [Fraction(1, 2)])
    script(answer(verdict="refuted", witness=pair, optimum=Optimum(1.0, 1.5, "solver")))
    asked: dict[str, Any] = {"problem": problem, "other": other, "radius": 2.0, "engine": "scripted"}
    loose, strict = (ircert.certify(graph, [0.5], **asked, require=require) for require in (None, "exact"))
    assert (loose.verdict, loose.trust, strict.verdict, strict.trust) == ("refuted", "exact", "refuted", "exact")
    assert loose.optimum == (1.0, 1.5, "solver")
    assert "if the solver's floating-point bound is right" in loose.summary()
    assert strict.optimum == (None if trivial is None else (1.0, trivial, "exact"))
    assert "solver" not in strict.summary().replace("solver: rests", "")
    script(answer(verdict="refuted", witness=pair, optimum=Optimum(1.0, 1.0, "exact")))
    assert ircert.certify(graph, [0.5], **asked, require="exact").optimum == (1.0, 1.0, "exact")


@pytest.mark.rule("R-3")
@pytest.mark.parametrize(
    ("claimed", "end"), [(0.25, 0.5), (0.5, 0.5), (0.5 - 2.0**-40, 0.5 - 2.0**-40), (0.0, 0.0), (0.75, 0.5)]
)
@pytest.mark.parametrize("ball", [{}, {"radius": 1.0}])
def test_a_refuted_end_is_what_the_witness_shows(
    script: Script, claimed: float, end: float, ball: dict[str, Any]
) -> None:
    """At its distance, or a little nearer where collisions come arbitrarily close to that; or 0."""
    verdict = "refuted" if ball else None
    script(answer(verdict=verdict, refuted=End(claimed, "claimed"), witness=PAIR))
    found = ircert.certify(fold(), [0.0], engine="scripted", **ball)
    assert found.radius.refuted == end
    assert (found.radius.refuted.evidence == "claimed") == (claimed == end)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"norm": 3}, "norm"),
        ({"norm": 1 + 0j}, "norm"),
        ({"norm": np.bool_(True)}, "norm"),
        ({"problem": "global"}, "problem"),
        ({"problem": "transform"}, "other"),
        ({"other": "self"}, "takes no other"),
        ({"radius": 1.0, "max_radius": 2.0}, "both radius and max_radius"),
        ({"radius": 0.0}, "positive"),
        ({"radius": math.nan}, "positive"),
        ({"max_radius": -1.0}, "positive"),
        ({"max_radius": "far"}, "positive"),
        ({"tol": 1.0}, "tol"),
        ({"tol": -1e-6}, "tol"),
        ({"tol": math.nan}, "tol"),
        ({"tol": "small"}, "tol"),
        ({"time_limit": 0}, "time limit"),
        ({"time_limit": math.nan}, "time limit"),
        ({"seed": -1}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"threads": 0}, "threads"),
        ({"threads": True}, "threads"),
        ({"engine": "magic"}, "the engines are auto"),
        ({"engine": None}, "there is no such engine"),
        ({"backend": "magic"}, "the solvers are gurobi, highs, mip, mip-highs, scip$"),
        ({"backend": "lp"}, "solves nothing; the solvers are gurobi, highs"),
        ({"formulation": "magic"}, "paper and tangent"),
        ({"require": "faith"}, "requirement"),
        ({"progress": 3}, "progress"),
        ({"domain": (1.0, 2.0)}, "outside the domain"),
        ({"domain": 3}, "domain"),
        ({"center": [0.0, 1.0]}, "2 coordinates"),
        ({"center": [math.nan]}, "finite"),
        ({"center": "here"}, "centre"),
    ],
)
def test_questions_that_cannot_be_asked(options: dict[str, Any], message: str) -> None:
    if options.get("other") == "self":
        options = {"other": fold()}
    with pytest.raises(QueryError, match=message):
        ircert.certify(fold(), options.pop("center", [0.5]), **options)


def test_an_engine_that_refuses_says_why() -> None:
    flat = ircert.load([(np.eye(2), None)])
    with pytest.raises(QueryError, match="it knows one network only"):
        ircert.certify(flat, [0.0, 0.0], engine="fold")


def test_what_no_search_takes_is_named() -> None:
    build = ircert.Builder(1)
    partial = build.graph(build.relu(build.node(BY_KIND["log"](), build.input, name="squash")))
    relu = ircert.load([([[1.0]], [0.0]), ([[1.0]], [0.0])])
    for found, what in (
        (ircert.certify(partial, [0.0]), "the network"),
        (ircert.certify(relu, [0.0], "transform", partial), "the other network"),
    ):
        assert found.verdict == "unresolved"
        assert f"`log` in {what} (node `squash`)" in str(found.reason)
    with pytest.raises(UnsupportedModel, match=r"squash.*log"):
        ircert.certify(partial, [0.0], engine="regions")


def test_what_load_reads_can_be_asked_about() -> None:
    assert ircert.certify([([[1.0], [-1.0]], None), ([[1.0, 1.0]], None)], [0.5], engine="fold").radius.refuted == 0.5


def test_progress_is_reported() -> None:
    seen: list[Progress] = []
    ircert.certify(fold(), [0.5], engine="fold", progress=seen.append)
    assert seen[1:] == [Progress(0.0, None, "folding")]


@pytest.mark.parametrize(("center", "farthest"), [([0.5], 1e6), ([-3.0], 3e6), ([1e308], sys.float_info.max)])
def test_how_far_a_search_goes(script: Script, center: list[float], farthest: float) -> None:
    script(lambda question: answer(certified=End(question.max_radius, "all of it")))
    result = ircert.certify(fold(), center, engine="scripted")
    assert (result.verdict, result.max_radius) == ("certified", farthest)


def test_facts_of_a_result() -> None:
    result = ircert.certify(fold(), [0.5], engine="fold", domain=(-1, 1), seed=7)
    assert (result.model.sha256, result.model.input_dim, result.model.output_dim) == (fold().sha256, 1, 1)
    assert (result.other, result.seed, result.versions["ircert"]) == (None, 7, ircert.__version__)
    assert result.domain is not None
    assert result.stats["seconds"].keys() == {"engine", "replay"}
    assert read(result.to_json())["domain"] == {"low": [-1.0], "high": [1.0]}


def test_deadlines() -> None:
    assert Deadline().left() == math.inf
    assert not Deadline().passed()
    assert Deadline(0.0).passed()
    assert Deadline(0.0).left() == 0.0


def test_wide_networks_with_two_inputs_keep_to_the_time_limit() -> None:
    rng = np.random.default_rng(0)
    layers = [(rng.standard_normal((m, n)) / n, rng.standard_normal(m)) for n, m in ((2, 150), (150, 150), (150, 3))]
    result = ircert.certify(layers, [0.0, 0.0], time_limit=1e-9)
    assert (result.verdict, result.engine, result.radius.certified) == ("unresolved", "regions", 0.0)


@pytest.mark.parametrize("options", [{}, {"radius": 1.0}, {"radius": 1.0, "norm": 1}])
def test_wide_networks_with_many_inputs_keep_to_the_time_limit(options: dict[str, Any]) -> None:
    """No program is made for pairs of points where no time is left to solve it."""
    rng = np.random.default_rng(0)
    sizes = (30, 300, 300, 30)
    layers = [(rng.standard_normal((m, n)) / n, rng.standard_normal(m)) for n, m in pairwise(sizes)]
    result = ircert.certify(layers, np.zeros(30), time_limit=1e-9, **options)
    assert (result.verdict, result.engine, result.radius.certified) == ("unresolved", "boxes", 0.0)
    assert not any(result.stats.get(work, 0) for work in ("trees", "boxes", "pairs"))


def test_wide_injective_networks_are_recognised_after_the_search() -> None:
    rng = np.random.default_rng(0)
    build = ircert.Builder(2)
    bump = build.relu(build.affine(build.input, rng.standard_normal((70, 2)), rng.standard_normal(70)))
    graph = build.graph(build.add(build.input, build.affine(bump, rng.standard_normal((2, 70)) / 1000)))
    result = ircert.certify(graph, [0.0, 0.0], max_radius=2.0)
    assert (result.verdict, result.engine, float(result.radius.certified)) == ("certified", "instant", np.inf)
