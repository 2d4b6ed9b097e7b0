"""Flat regions of relus before curves, and layers that are too narrow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ircert
from ircert.checker import check_text
from ircert.engines.base import Answer, Question
from ircert.engines.judge import BrokenProof, judge
from ircert.geometry.place import Place
from ircert.ir.boxed_pair import BoxedPair
from ircert.ir.graph import Graph
from ircert.ir.ops.curves import Silu, Tanh
from ircert.result.radius import End


def flat(shift: float, size: int = 2) -> Graph:
    """silu(relu(x + shift)), mixed."""
    build, rng = ircert.Builder(size), np.random.default_rng(0)
    relus = build.relu(build.affine(build.input, np.eye(size), np.full(size, shift)))
    mixed = build.affine(relus, np.eye(size) + 0.2 * rng.normal(size=(size, size)))
    return build.graph(build.affine(build.node(Silu(), mixed), np.eye(size) + 0.2 * rng.normal(size=(size, size))))


@pytest.mark.rule("E-17", "R-13")
@pytest.mark.parametrize("problem", ["local", "pseudo"])
def test_dead_zones_at_the_centre(problem: str, tmp_path: object) -> None:
    file = f"{tmp_path}/proof.json"
    found = ircert.certify(flat(-1.0), [0.0, 0.0], problem=problem, time_limit=10, certificate=file)
    assert (found.verdict, found.radius.refuted) == ("refuted", 0.0)
    assert found.witness is not None
    assert found.certificate is not None
    with open(file) as text:
        assert check_text(text.read())[1] is None
    assert "all that curves read is the same at both points" in found.summary()


@pytest.mark.parametrize("norm", ["inf", 1, 2])
def test_dead_zones_farther_out(norm: str | int) -> None:
    found = ircert.certify(flat(1.0), [1.0, 1.0], norm=norm, time_limit=20, tol=1e-3)
    assert found.verdict == "certified"
    assert found.radius.refuted is not None
    assert 2.0 <= found.radius.refuted < 2.0 + 1e-6
    assert ircert.certify(flat(1.0), [1.0, 1.0], norm=norm, radius=3.0, time_limit=20).verdict == "refuted"


def test_narrow_layers() -> None:
    build, rng = ircert.Builder(3), np.random.default_rng(0)
    narrow = build.node(Tanh(), build.affine(build.input, rng.normal(size=(2, 3))))
    graph = build.graph(build.affine(build.node(Tanh(), build.affine(narrow, rng.normal(size=(5, 2)))), np.eye(5)[:3]))
    found = ircert.certify(graph, [0.0, 0.0, 0.0], time_limit=10)
    assert (found.verdict, found.radius.refuted) == ("refuted", 0.0)


def test_a_pair_far_away_is_no_proof_that_no_ball_is_good() -> None:
    """The judge looks at the relus between the centre and the pair."""
    graph, center = flat(1.0), np.array([1.0, 1.0])
    question = Question(graph, None, "local", Place.everywhere(center), None, 100.0)
    found = ircert.certify(graph, center, radius=4.0, time_limit=20).witness
    assert found is not None
    assert found.radii is not None
    pair = BoxedPair(found.exact.x, found.exact.y, found.radii.x, found.radii.y)
    claim = Answer(None, End(0.0, "nothing"), End(4.0, "a pair"), None, "exact", boxes=pair)
    assert judge(question, claim).radius.refuted is not None
    with pytest.raises(BrokenProof, match="arbitrarily close"):
        judge(question, replace(claim, refuted=End(0.0, "wrong")))
