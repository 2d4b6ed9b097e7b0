"""Bounds below of L' from one matrix, against affine maps, exact bounds in the plane, and random pairs."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ircert
from ircert.analysis.asked_ball import ball_for
from ircert.analysis.lipschitz.one_matrix import DEFINITE, DOMINANT, _from_norm_2, at_least
from ircert.data import networks
from ircert.geometry.norm import Norm
from ircert.limits import Deadline, OutOfTime
from ircert.questions.network import lowered
from ircert.result.radius import End
from tests.engines.boxes.making import residual

NORMS = tuple(Norm)


def found_below(graph: ircert.Graph, ball: Any, norm: Norm, domain: Any = None, seconds: float = 20.0) -> End:
    """The bound of one matrix alone."""
    body = ball_for(graph, ball, domain)
    return at_least(lowered(graph), body, norm, End(0.0, "nothing"), Deadline(seconds), 0)


@pytest.mark.rule("L-8")
@pytest.mark.parametrize("shape", [(3, 3), (5, 3), (6, 6), (7, 5)])
def test_an_affine_map_has_its_least_singular_value(shape: tuple[int, int]) -> None:
    weight = np.random.default_rng(shape).normal(size=shape)
    graph = ircert.load([(weight, np.ones(shape[0]))])
    found = ircert.bilipschitz(graph, (np.zeros(shape[1]), 1.0, 2))
    least = np.linalg.svd(weight, compute_uv=False)[-1]
    assert found.lower.low == pytest.approx(least, rel=1e-3)
    assert found.lower.low <= least * (1 + 1e-14)


@pytest.mark.rule("L-8")
@pytest.mark.parametrize("norm", [Norm.INF, Norm.ONE])
def test_an_affine_map_has_the_norm_of_its_inverse(norm: Norm) -> None:
    weight = np.random.default_rng(5).normal(size=(4, 4))
    found = found_below(ircert.load([(weight, np.ones(4))]), (np.zeros(4), 1.0), norm)
    exact = 1 / np.linalg.norm(np.linalg.inv(weight), norm.order)
    assert 0.95 * exact <= found <= exact * (1 + 1e-12)
    assert found.evidence == DOMINANT


@pytest.mark.rule("L-8")
@pytest.mark.parametrize("norm", NORMS)
@settings(deadline=None, max_examples=12)
@given(seed=st.integers(0, 10_000), body=st.sampled_from(NORMS), scale=st.sampled_from([0.25, 1.0, 3.0]))
def test_exact_numbers_of_the_plane_are_not_exceeded(norm: Norm, seed: int, body: Norm, scale: float) -> None:
    rng = np.random.default_rng(seed)
    build = ircert.Builder(2)
    hidden = build.relu(build.affine(build.input, rng.integers(-8, 9, (5, 2)) / 8, rng.integers(-8, 9, 5) / 8))
    graph = build.graph(build.add(build.input, build.affine(hidden, scale * rng.integers(-8, 9, (2, 5)) / 16)))
    ball = ([0.25, 0.0], 1.0, body)
    exact = ircert.bilipschitz(graph, ball, norm).lower
    found = found_below(graph, ball, norm, seconds=1.0)
    assert found <= exact.high
    if scale == 0.25 and exact.low > 0.75:
        assert found > 0


@pytest.mark.rule("L-8")
@pytest.mark.parametrize(
    ("norm", "outputs"),
    [
        # each norm and each number of outputs
        pytest.param(norm, outputs, marks=[pytest.mark.slow] if (i + j) % 2 else [])
        for i, norm in enumerate(NORMS)
        for j, outputs in enumerate((3, 5))
    ],
)
def test_random_pairs_respect_the_bound(norm: Norm, outputs: int) -> None:
    graph = residual(np.random.default_rng(outputs), 3, 10, scale=0.4, outputs=outputs)
    ball, domain = ([0.1, 0.2, 0.0], 1.0, "2"), ([-0.5, -0.25, -3.0], [2.0, 2.0, 0.25])
    whole = found_below(graph, ball, norm)
    part = found_below(graph, ball, norm, domain)
    rng = np.random.default_rng(1)
    steps = rng.standard_normal((2, 40_000, 3))
    x, y = np.array(ball[0]) + steps / np.linalg.norm(steps, axis=2, keepdims=True) * rng.random((2, 40_000, 1))
    y[::2] = x[::2] + 1e-4 * (y[::2] - x[::2])
    sizes = [np.linalg.norm(d, ord=norm.order, axis=1) for d in (graph(x) - graph(y), x - y)]
    inside = ((x >= domain[0]) & (x <= domain[1]) & (y >= domain[0]) & (y <= domain[1])).all(axis=1)
    seen = sizes[0] / sizes[1]
    assert 0 < whole <= seen.min() * (1 + 1e-6)
    assert 0 < part <= seen[inside].min() * (1 + 1e-6)
    assert part >= 0.9 * whole


@pytest.mark.rule("L-8")
def test_a_domain_keeps_the_fold_away() -> None:
    """(|x|, y, z) is the identity where x > 0."""
    build = ircert.Builder(3)
    absolute = build.relu(build.affine(build.input, [[1.0, 0, 0], [-1.0, 0, 0]]))
    rest = build.affine(build.input, [[0.0, 1, 0], [0, 0, 1]])
    graph = build.graph(build.concat(build.affine(absolute, [[1.0, 1.0]]), rest))
    ball = ([0.5, 0.0, 0.0], 1.0)
    assert not found_below(graph, ball, Norm.TWO)
    assert found_below(graph, ball, Norm.TWO, ([2.0**-6, -5, -5], [5.0, 5, 5])) == pytest.approx(1.0, rel=1e-6)
    whole = ircert.bilipschitz(graph, ball, 2)
    assert whole.lower.exact == 0
    assert whole.witness is not None


@pytest.mark.rule("L-8")
@pytest.mark.parametrize(
    ("norm", "name", "center", "radius"),
    [
        # each norm and each network
        pytest.param(norm, *flow, marks=[] if i == j else [pytest.mark.slow])
        for i, norm in enumerate((Norm.ONE, Norm.INF, Norm.TWO))
        for j, flow in enumerate(
            [
                ("unicycle-5-64-64-64-5", [0, 0, 0, 1, 0], 0.03),
                ("quadrotor-6-64-64-6", [0] * 6, 0.1),
                ("coupled-vanderpol-6-24-24-6", [0] * 6, 1.0),
            ]
        )
    ],
)
def test_learned_flows_of_five_and_six_inputs(norm: Norm, name: str, center: list[int], radius: float) -> None:
    found = ircert.bilipschitz(networks.bundled(name), (center, radius), norm, time_limit=60.0)
    assert found.lower.low > (0.9 if norm == "2" else 0.3) * found.lower.high
    assert found.lower.low.evidence in (DEFINITE, DOMINANT)


@pytest.mark.rule("L-8")
def test_the_better_of_two_arguments_is_kept() -> None:
    graph = residual(np.random.default_rng(0), 3, 6, scale=0.1)
    body = ball_for(graph, ([0.0] * 3, 0.5), None)
    strong = End(0.99, "another argument")
    assert at_least(lowered(graph), body, Norm.TWO, strong, Deadline(5.0), 0).evidence == "another argument"
    weak = End(1e-3, "another argument")
    assert at_least(lowered(graph), body, Norm.TWO, weak, Deadline(5.0), 0).evidence == DEFINITE


@pytest.mark.rule("L-8")
@pytest.mark.parametrize("seconds", [0.0, 0.5])
def test_time_ends_the_search(seconds: float) -> None:
    graph = networks.bundled("lorenz-3-16-16-3")
    known = End(1e-9, "another argument")
    start = time.monotonic()
    found = at_least(lowered(graph), ball_for(graph, ([0.0] * 3, 1.0), None), Norm.ONE, known, Deadline(seconds), 0)
    assert time.monotonic() - start < seconds + 2.0
    assert found >= known
    assert seconds or found is known


@pytest.mark.rule("L-8")
@pytest.mark.parametrize("weight", [np.zeros((3, 3)), np.eye(3) * 1e-320, np.eye(3) * 1e307])
def test_numbers_at_the_edge_of_floats_raise_nothing(weight: Any) -> None:
    graph = ircert.load([(weight, np.zeros(3))])
    for norm in NORMS:
        assert found_below(graph, ([0.0] * 3, 1.0), norm) <= np.abs(weight).max()


@pytest.mark.rule("L-8")
@pytest.mark.parametrize("norm", [Norm.INF, Norm.ONE])
@pytest.mark.parametrize("shape", [(2, 2), (2, 4), (3, 3)])
def test_norm_2_is_worth_no_more_than_it_is(norm: Norm, shape: tuple[int, int]) -> None:
    """|e| >= worth(C) μ |d| wherever d · C e >= μ |d|_2^2."""
    rng = np.random.default_rng(shape)
    for _ in range(20):
        matrix = rng.integers(-8, 9, shape) / 4 + np.eye(*shape)
        worth = float(_from_norm_2(matrix, norm))
        d, e = rng.normal(size=(5000, shape[0])), rng.normal(size=(5000, shape[1]))
        e[::2] = np.sign(d[::2] @ matrix)
        least = np.einsum("ki,ij,kj->k", d, matrix, e) / (d * d).sum(axis=1)
        sizes = [np.linalg.norm(v, ord=norm.order, axis=1) for v in (e, d)]
        assert (sizes[0] >= worth * least * sizes[1] * (1 - 1e-9)).all()


@pytest.mark.rule("L-8", "E-7")
def test_what_was_proved_stays_when_time_ends_before_a_cover_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = 0

    def closes(*_: object) -> bool:
        nonlocal tried
        tried += 1
        if tried > 2:
            raise OutOfTime
        return tried == 2

    monkeypatch.setattr("ircert.analysis.lipschitz.one_matrix._Search._closes", closes)
    found = found_below(networks.bundled("lorenz-3-16-16-3"), ([0.0] * 3, 0.5), Norm.TWO)
    assert tried > 2
    assert found > 0
