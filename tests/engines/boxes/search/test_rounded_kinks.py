"""Searches around centres that a kink misses by rounding alone, or by less than that."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.engines.base import Progress
from ircert.ir.arrays import Array


def kinked(size: int) -> tuple[ircert.Graph, Array]:
    """x + V relu(W x + b) and a centre next to the first kink: one unit in the last place of its bias away."""
    rng = np.random.default_rng(3)
    center, eye = np.full(size, 0.5), np.eye(size)
    w = rng.integers(-8, 9, (10, size)) / 8
    b = rng.integers(-4, 5, 10) / 8 - w @ center
    b[0] = np.nextafter(-(w[0] @ center), 9.0)
    v = rng.integers(-8, 9, (size, 10)) / 16
    first = (np.vstack([w, eye, -eye]), np.concatenate([b, np.zeros(2 * size)]))
    return ircert.load([first, (np.hstack([v, eye, -eye]), np.zeros(size))]), center


@pytest.mark.rule("E-3")
def test_a_search_does_not_stay_below_a_kink_that_is_no_fold() -> None:
    result = ircert.certify(*kinked(6), time_limit=60)
    assert result.verdict == "certified"
    assert result.radius.certified == pytest.approx(6 / 47, rel=1e-5)


@pytest.mark.rule("E-3")
def test_a_fold_next_to_the_centre_is_found_and_the_ball_before_it_is_proved() -> None:
    result = ircert.certify(*kinked(5), time_limit=60)
    assert result.verdict == "certified"
    assert result.radius.refuted is not None
    assert 0 < result.radius.certified <= result.radius.refuted < 1e-16


def nearly_kinked(seed: int, size: int, *biases: float) -> ircert.Graph:
    """Random weights, and first biases that training may leave: kinks pass so near to 0."""
    rng, layers = np.random.default_rng(seed), []
    for inputs, outputs in ((size, 32), (32, 32), (32, size)):
        weights = 1.2 * rng.standard_normal((outputs, inputs)) / np.sqrt(inputs)
        layers.append((weights, 0.3 * rng.standard_normal(outputs)))
    layers[0][1][: len(biases)] = biases
    return ircert.load(layers)


def asked(graph: ircert.Graph) -> tuple[ircert.Result, list[str]]:
    """The answer around 0, and what was said about balls on the way."""
    balls: list[str] = []

    def noted(progress: Progress) -> None:
        if progress.text.startswith("radius"):
            balls.append(progress.text)

    center = np.zeros(graph.input_dim)
    return ircert.certify(graph, center, engine="boxes", time_limit=30, progress=noted), balls


@pytest.mark.rule("E-3")
@pytest.mark.parametrize(("seed", "size"), [(0, 5), (1, 8)])
@pytest.mark.parametrize("biases", [(1e-9,), (1e-60,), (5e-324,), (1e-30, 1e-200)])
def test_few_balls_lead_away_from_a_kink_next_to_the_centre(seed: int, size: int, biases: tuple[float, ...]) -> None:
    """Climbing by 4 from such a kink would take up to 500 balls."""
    result, balls = asked(nearly_kinked(seed, size, *biases))
    assert result.verdict == "certified"
    assert result.radius.certified > 1e-3
    assert len(balls) < 12


def test_where_floats_end_a_search_ends() -> None:
    """A fold as near as the least float: no ball below it has a radius, and none is tried for ever."""
    rng, size = np.random.default_rng(0), 3
    w, b = rng.standard_normal((30, size)), np.full(30, 9.0)
    v = 0.01 * rng.standard_normal((size, 30))
    w[0] /= np.linalg.norm(w[0])
    v[:, 0], b[0] = -2.0 * w[0], -5e-324
    build = ircert.Builder(size)
    bent = build.relu(build.affine(build.input, w, b))
    result, balls = asked(build.graph(build.add(build.input, build.affine(bent, v))))
    assert result.radius.certified <= 1e-323
    assert result.radius.refuted is not None
    assert result.radius.refuted <= 1e-322
    assert len(balls) < 40
