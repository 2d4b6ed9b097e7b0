"""What is still done after a deadline, wherever it comes in a search, and between two looks at it: next to nothing."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.engines.base import Cause
from ircert.limits import OutOfTime
from ircert.result.result import Result
from tests.effort import tries
from tests.engines.boxes.test_engine import LIMIT, NORMS, agree, problems, truth
from tests.engines.counting import Looks, counted
from tests.oracle.build import Network
from tests.oracle.families import FAMILIES, sample

MOST = 4000
"""Looks at the deadline of a question that is asked in full."""
ALLOWED = {"exact values": 24, "exact programs": 4, "float programs": 4}
"""Two points are evaluated exactly, on two networks, when a pair is judged, measured and replayed; a program asks
again in the middle. Of all else, 2 at most."""
LOOKS = 100
"""How often a deadline that is over is looked at: as loops end, one after the other."""
SHAPES = ("1-6-1", "2-8-8-2", "2-6-3", "3-8-8-3", "3-6-2", "4-10-4", "4-6-7", "8-12-8")


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[Looks]:
    """Where the looks of the next question are put."""
    now = [Looks()]
    counted(monkeypatch, lambda: now[0])
    return now


def moments(taken: int) -> list[int]:
    """From the first look to the last, closer at the beginning."""
    return sorted({1, 2, *np.geomspace(3, max(3, taken), tries(4)).astype(int).tolist()})


def asked(looks: list[Looks], most: float, *question: Any, **options: Any) -> tuple[Result, Looks]:
    """The answer to a question that ends with so many looks, and the looks."""
    looks[0] = Looks(most)
    return ircert.certify(*question, **options), looks[0]


def is_idle_after(found: Looks) -> None:
    """Nearly nothing begins after the moment."""
    assert too_much(found.after) == {}
    assert found.taken - min(found.taken, found.most) <= LOOKS


def too_much(counts: Counter[str]) -> dict[str, int]:
    """What is not allowed of these."""
    return {name: count for name, count in counts.items() if count > ALLOWED.get(name, 2)}


def networks(shape: str) -> tuple[Network, Network]:
    """Random weights, and a relative with other biases."""
    rng = np.random.default_rng([int(v) for v in shape.split("-")])
    sizes = [int(v) for v in shape.split("-")]
    layers = [(rng.normal(size=(b, a)) / math.sqrt(a), 0.3 * rng.normal(size=b)) for a, b in itertools.pairwise(sizes)]
    return layers, [(w, b + 0.1) for w, b in layers]


def engines(inputs: int) -> list[str]:
    return ["auto", "boxes", "regions"] if inputs <= 2 else ["auto", "boxes"]


def questions() -> list[Any]:
    """Every shape, problem, engine and kind of question, the norms in turn."""
    every = [
        (shape, problem, engine, radius)
        for shape in SHAPES
        for problem in ("local", "pseudo", "transform")
        for engine in engines(int(shape[0]))
        for radius in (None, 0.3)
    ]
    return [
        # a third, in which every problem meets every engine with a search and with a ball; the others are slow
        pytest.param(*question, NORMS[i % 3], radius, marks=[pytest.mark.slow] if (i + i // 10) % 3 else [])
        for i, (*question, radius) in enumerate(every)
    ]


@pytest.mark.rule("E-7")
@pytest.mark.parametrize(("shape", "problem", "engine", "norm", "radius"), questions())
def test_nothing_goes_on(
    shape: str, problem: str, engine: str, norm: str, radius: float | None, looks: list[Looks]
) -> None:
    """… nor for long without a look. No end of a bracket lies beyond the other one of a longer search."""
    layers, relative = networks(shape)
    options: dict[str, Any] = {"problem": problem, "engine": engine, "norm": norm, "tol": 1e-3, "radius": radius}
    options |= {"max_radius": 3.0} if radius is None else {}
    options |= {"other": ircert.load(relative)} if problem == "transform" else {}
    question = ircert.load(layers), np.full(int(shape[0]), 0.1)
    whole, found = asked(looks, MOST, *question, **options)
    is_idle_after(found)
    assert too_much(found.between) == {}
    for most in moments(found.taken):
        part, found = asked(looks, most, *question, **options)
        is_idle_after(found)
        assert part.verdict in ("unresolved", whole.verdict) or whole.verdict == "unresolved"
        for first, second in ((part.radius, whole.radius), (whole.radius, part.radius)):
            assert second.refuted is None or first.certified <= second.refuted


@pytest.mark.rule("E-1", "E-2", "E-7")
@pytest.mark.parametrize("index", range(len(FAMILIES)))
def test_against_the_oracle(index: int, looks: list[Looks]) -> None:
    """Families of 1 to 4 inputs, ended early."""
    given = sample(np.random.default_rng(5000 + index), index)
    norm = NORMS[index % 3]
    other = None if given.other is None else ircert.load(given.other)
    for problem in problems(given):
        true = truth(given, problem, norm)
        for most in (1, 10, 100, 1000):
            options: dict[str, Any] = {"norm": norm, "other": other, "tol": 1e-4, "max_radius": LIMIT}
            part, found = asked(looks, most, ircert.load(given.layers), given.center, problem, **options)
            agree(part, true)
            is_idle_after(found)
            assert too_much(found.between) == {}


def test_a_deadline_that_is_over_at_once_is_said(looks: list[Looks]) -> None:
    layers, _ = networks("3-8-8-3")
    part, _ = asked(looks, 0, ircert.load(layers), np.full(3, 0.1))
    assert part.verdict == "unresolved"
    assert part.stop is not None
    assert part.stop.cause is Cause.TIME


@pytest.mark.rule("E-8")
def test_a_size_that_takes_too_long_to_tell_is_told_by_neurons_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*given: object) -> None:
        raise OutOfTime

    monkeypatch.setattr("ircert.engines.estimate.analyse", late)
    told: list[str] = []
    layers = [(np.eye(3), np.ones(3)), (np.eye(3), np.zeros(3))]
    ircert.certify(layers, np.zeros(3), progress=lambda news: told.append(news.text), time_limit=5)
    assert told[0] == "3 neurons"
