"""Balls that hold the whole domain: what is good there is good at every radius."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.data.networks import bundled
from ircert.geometry.norm import Norm


@pytest.mark.rule("E-3", "Q-3")
@pytest.mark.parametrize("farthest", [None, 5.0, math.inf])
@pytest.mark.parametrize("norm", Norm)
def test_a_bounded_domain_of_three_inputs_is_proved_at_every_radius(norm: Norm, farthest: float | None) -> None:
    rng = np.random.default_rng(1)
    graph = ircert.load([(rng.normal(size=(8, 3)), rng.normal(size=8)), (rng.normal(size=(3, 8)), np.zeros(3))])
    known = ircert.certify(graph, [0, 0, 0], norm=norm.value, time_limit=60)
    assert known.radius.refuted is not None
    half = float(known.radius.certified) / 6
    result = ircert.certify(graph, [0, 0, 0], norm=norm.value, domain=(-half, half), max_radius=farthest, time_limit=60)
    assert result.verdict == "certified"
    assert result.radius.certified == math.inf
    assert result.radius.certified.evidence.endswith("the ball holds the domain")


@pytest.mark.rule("Q-3")
@pytest.mark.parametrize("engine", ["auto", "boxes", "regions", "milp"])
def test_all_engines_say_the_same_of_a_domain_that_is_held(engine: str) -> None:
    graph = bundled("vanderpol-2-10-10-2")
    result = ircert.certify(graph, [0, 0], domain=(-0.01, 0.02), engine=engine, time_limit=60)
    assert (result.verdict, result.radius.certified, result.radius.refuted) == ("certified", math.inf, None)


@pytest.mark.rule("Q-3")
def test_a_search_ends_before_the_domain_does() -> None:
    graph = bundled("vanderpol-2-10-10-2")
    result = ircert.certify(graph, [0, 0], domain=(-0.01, 0.02), engine="boxes", max_radius=0.015, time_limit=60)
    assert (result.verdict, result.radius.certified) == ("certified", 0.015)


def test_nothing_is_proved_beyond_the_domain() -> None:
    """Searches climb no farther than the domain goes."""
    seen: list[float] = []
    graph = bundled("coupled-vanderpol-4-32-32-4")
    ircert.certify(graph, [0] * 4, domain=(-0.1, 0.1), engine="boxes", progress=lambda p: seen.append(p.certified))
    assert 0.1 < max(seen) < 0.2


@pytest.mark.rule("Q-3", "Q-4")
@pytest.mark.parametrize("radius", [None, 1.0])
@pytest.mark.parametrize("problem", ["local", "pseudo", "transform"])
@pytest.mark.parametrize("engine", ["auto", "boxes", "regions", "milp"])
def test_a_domain_of_one_point_is_good_at_every_radius(engine: str, problem: str, radius: float | None) -> None:
    graph = bundled("vanderpol-2-10-10-2")
    other = ircert.Builder(2).graph("x") if problem == "transform" else None
    asked: dict[str, Any] = {"problem": problem, "other": other, "radius": radius, "engine": engine}
    result = ircert.certify(graph, [0.25, 0.5], domain={"low": [0.25, 0.5], "high": [0.25, 0.5]}, **asked)
    assert (result.verdict, result.radius.certified) == ("certified", math.inf)
