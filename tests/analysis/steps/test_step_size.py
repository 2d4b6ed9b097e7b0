"""Longest steps with closed forms: linear maps, relu, tanh, and the paper's Euler steps."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ircert
from ircert.analysis.steps.found import StepSize
from ircert.data.networks import bundled
from ircert.errors import QueryError
from ircert.ir.graph import Graph
from ircert.ir.ops.curves import Tanh
from ircert.ir.ops.smooth import Product


def minus(op: object, n: int = 1) -> Graph:
    build = ircert.Builder(n)
    bent = build.relu(build.input) if op is None else build.node(op, build.input)  # type: ignore[arg-type]
    return build.graph(build.affine(bent, -np.eye(n)))


def holds(found: StepSize, longest: float, tol: float = 1e-3) -> bool:
    """Whether both ends are near the longest step."""
    assert found.refuted is not None
    assert found.certified <= longest * (1 + 1e-9)
    assert longest * (1 - 1e-9) <= found.refuted
    return found.verdict == "certified" and found.certified >= longest * (1 - 2 * tol)


@pytest.mark.rule("SS-1", "SS-2")
@pytest.mark.parametrize("op", [None, Tanh()])
def test_everywhere(op: object) -> None:
    found = ircert.step_size(minus(op, 3))
    assert found.verdict == "certified"
    assert found.certified == pytest.approx(1.0)
    assert found.certified <= 1.0
    assert "on the whole space" in found.summary()


@pytest.mark.rule("SS-3")
def test_monotone_maps_have_no_longest_step() -> None:
    for rows in ([[0.0, -1.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 2.0]]):
        assert ircert.step_size([(np.array(rows), None)], max_step=64.0).certified == 64.0
    build = ircert.Builder(2)
    assert ircert.step_size(build.graph(build.relu(build.input)), max_step=64.0).certified == 64.0


@pytest.mark.rule("SS-1", "SS-4")
def test_on_balls() -> None:
    assert holds(ircert.step_size(minus(None, 2), ([0.0, 0.0], 1.0)), 1.0)
    assert ircert.step_size(minus(None, 2), ([-2.0, -2.0], 1.0), max_step=8.0).certified == 8.0
    longest = 1 / (1 - math.tanh(1.0) ** 2)  # tanh is steepest at 1
    assert holds(ircert.step_size(minus(Tanh()), center=[2.0], radius=1.0), longest)
    rows = np.array([[-1.0, 10.0], [0.0, -1.0]])
    assert holds(ircert.step_size([(rows, None)], ([0.0, 0.0], 1.0, 2)), 1.0)


@pytest.mark.rule("SS-4")
def test_the_scalar_euler_step() -> None:
    """X + h (X² + X - 1) turns at -(h + 1) / (2 h), which is -2 for h = 1/3."""
    build = ircert.Builder(1)
    square = build.node(Product(), build.input, build.input)
    graph = build.graph(build.affine(build.concat(square, build.input), [[1.0, 1.0]], [-1.0]))
    assert holds(ircert.step_size(graph, ([0.0], 2.0)), 1 / 3)


@pytest.mark.rule("SS-1", "SS-4")
def test_a_step_that_a_network_learned() -> None:
    step = bundled("brusselator-tau-3-24-24-2").fix({2: 0.15})
    found = ircert.step_size(step, ([1.0, 2.0], 0.25), step=0.15, tol=0.02)
    assert found.verdict == "certified"
    assert found.refuted is not None
    assert found.refuted > found.certified > 0.15  # the step that was learned is injective there
    assert ircert.certify(step, [1.0, 2.0], radius=0.25).verdict == "certified"


@pytest.mark.rule("SS-1")
def test_longer_steps_for_themselves() -> None:
    """x - 3 h x is singular at 1/3, which is no float: no step is refuted, and longer ones are injective again."""
    found = ircert.step_size([(np.array([[-3.0]]), None)], ([0.0], 1.0))
    assert found.verdict == "unresolved"
    assert found.certified <= 1 / 3
    assert found.single is not None
    assert found.single > 1 / 3
    assert "alone" in str(found.reason)


@pytest.mark.rule("SS-3")
@settings(max_examples=8)
@given(st.integers(0, 10**6))
def test_no_shorter_step_is_refuted(seed: int) -> None:
    """Against exact geometry, at steps below the certified one and at the refuted one."""
    rng = np.random.default_rng(seed)
    layers = [(rng.integers(-8, 9, s) / 8, rng.integers(-8, 9, s[0]) / 8) for s in ((4, 2), (2, 4))]
    found = ircert.step_size(layers, ([0.0, 0.0], 1.0), max_step=16.0, tol=0.05, time_limit=4.0)
    graph = ircert.load(layers)

    def verdict(h: float) -> str:
        build = ircert.Builder(2)
        moved = build.affine(build.insert(graph, build.input), h * np.eye(2))
        step = build.graph(build.add(build.input, moved))
        return ircert.certify(step, [0.0, 0.0], radius=1.0, engine="regions").verdict

    for share in (0.3, 0.75, 0.999):
        assert verdict(float(min(found.certified, 16.0)) * share) == "certified"
    if found.refuted is not None:
        assert verdict(float(found.refuted)) == "refuted"


@pytest.mark.rule("SS-4")
def test_bad_questions() -> None:
    for wrong in ({"center": [0.0]}, {"domain": (0, 1)}, {"step": -1.0}, {"max_step": 0.0}, {"tol": 0.0}):
        with pytest.raises(QueryError):
            ircert.step_size(minus(None), **wrong)
    with pytest.raises(QueryError, match="as many outputs as inputs"):
        ircert.step_size([(np.ones((2, 1)), None)])


def test_nothing_is_lost_where_a_longest_step_is_no_multiple() -> None:
    twice = ircert.load([([[2.0, 0.0], [0.0, 2.0]], None)])
    for step in (0.1, 0.2, 0.3, 0.7):
        assert ircert.step_size(twice, ([0, 0], 0.5), step=step).verdict == "certified"
