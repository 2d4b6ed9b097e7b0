"""Balls in which few neurons switch, with many inputs."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.engines.boxes.problem.outcome import Counts
from ircert.engines.boxes.problem.setting import Setting
from ircert.engines.boxes.search.ball_secants import closed_by_secants
from ircert.engines.boxes.trees.phase_tree import Tools
from tests.engines.boxes.making import setting_of

SIZE = 24


def kinks(*factors: float, outputs: int = SIZE) -> ircert.Graph:
    """A (x + Σ a_k relu(w_k x) e_k) with w_k(e_k) = 1: the determinant is det A times that of the kinks, 1 + a_k each.

    The w_k are long, so that no C with sym(C J) positive definite is found by inverting one Jacobian.
    """
    rng, count = np.random.default_rng(1), len(factors)
    build = ircert.Builder(SIZE)
    rows = np.concatenate([np.eye(count), 30.0 * rng.standard_normal((count, SIZE - count))], axis=1)
    bent = build.relu(build.affine(build.input, rows))
    whole = build.add(build.input, build.affine(bent, np.eye(SIZE, count) * np.array(factors)))
    return build.graph(build.affine(whole, rng.standard_normal((outputs, SIZE))))


def tools_of(setting: Setting) -> Tools:
    return Tools.of(setting, Descent(setting, ExactMaps(setting)), Counts())


@pytest.mark.rule("E-2")
@pytest.mark.parametrize(
    ("factors", "good"), [((3.0,), True), ((-0.9,), True), ((-1.1,), False), ((2.0, -0.5, 1.0), True), ((2, -3), False)]
)
@pytest.mark.parametrize("outputs", [SIZE, SIZE + 2])
def test_corners_decide_about_kinks_through_the_centre(factors: tuple[float, ...], good: bool, outputs: int) -> None:
    tools = tools_of(setting_of(kinks(*factors, outputs=outputs), np.zeros(SIZE)))
    assert closed_by_secants(tools, 1.0) is good
    assert tools.counts.nodes == 1


@pytest.mark.rule("E-3")
@pytest.mark.parametrize("norm", ["inf", 1, 2])
def test_searches_with_many_inputs_pass_a_kink_through_the_centre(norm: str | int) -> None:
    result = ircert.certify(kinks(3.0, -0.5), np.zeros(SIZE), norm=norm, engine="boxes", max_radius=1.0, time_limit=60)
    assert result.verdict == "certified"
    assert "secant" in result.radius.certified.evidence


def nearly_singular(least: float, outputs: int = SIZE) -> ircert.Graph:
    """A matrix with such a least singular value, about, and neurons that switch 1 away from 0."""
    rng = np.random.default_rng(2)
    left, values, right = np.linalg.svd(rng.standard_normal((outputs, SIZE)), full_matrices=False)
    values[-1] = least
    build = ircert.Builder(SIZE)
    bent = build.relu(build.affine(build.input, np.eye(2, SIZE), np.full(2, -1.0)))
    return build.graph(
        build.add(build.affine(build.input, left * values @ right), build.affine(bent, np.eye(outputs, 2)))
    )


@pytest.mark.rule("E-2")
@pytest.mark.parametrize("least", [1e-6, 1e-13, 1e-17])
@pytest.mark.parametrize("outputs", [SIZE, SIZE + 2])
def test_integers_decide_about_matrices_that_floats_take_for_singular(least: float, outputs: int) -> None:
    """What rounding leaves of a rank is a rank."""
    assert closed_by_secants(tools_of(setting_of(nearly_singular(least, outputs), np.zeros(SIZE))), 0.5)


def test_matrices_without_a_rank_have_none() -> None:
    build = ircert.Builder(SIZE)
    matrix = np.random.default_rng(0).integers(-4, 5, (SIZE, SIZE)) / 4.0
    matrix[-1] = matrix[0] - matrix[1]
    graph = build.graph(build.affine(build.input, matrix))
    assert not closed_by_secants(tools_of(setting_of(graph, np.zeros(SIZE))), 0.5)


def test_signs_that_floats_do_not_tell_are_told_by_integers() -> None:
    """1 + 2^-60 - 1 beside a kink: det is 2^-60 on one side, and 2^-60 + a on the other."""
    for factor, good in ((1.0, True), (-1.0, False)):
        build = ircert.Builder(9)
        start = np.eye(1, 9)
        tiny = build.affine(build.affine(build.input, start * 2.0**-30), [[2.0**-30]])
        bent = build.relu(build.affine(build.input, start))
        first = build.affine(build.concat(tiny, bent), [[1.0, factor]])
        rest = build.affine(build.input, np.eye(9)[1:])
        graph = build.graph(build.affine(build.concat(first, rest), np.tril(np.ones((9, 9)))))
        assert closed_by_secants(tools_of(setting_of(graph, np.zeros(9))), 0.5) is good


def test_networks_without_a_neuron() -> None:
    result = ircert.certify([(np.eye(12) + 1.0, None)], np.zeros(12), engine="boxes", time_limit=60)
    assert result.verdict == "certified"


@pytest.mark.rule("E-2")
@pytest.mark.parametrize("outputs", [SIZE, SIZE + 2])
@pytest.mark.parametrize("neurons", [2, 18, 30])
def test_a_region_that_is_flat_is_not_closed(neurons: int, outputs: int) -> None:
    """Only x1 + x2 is seen, but by neurons that switch 1 away from 0: none is free in the ball."""
    rng = np.random.default_rng(3)
    build = ircert.Builder(SIZE)
    bent = build.relu(build.affine(build.input, np.sign(rng.standard_normal((neurons, SIZE))), np.full(neurons, -SIZE)))
    linear = rng.integers(-4, 5, (outputs, SIZE)).astype(float)
    linear[:, 0] = linear[:, 1]
    graph = build.graph(
        build.add(build.affine(build.input, linear), build.affine(bent, rng.standard_normal((outputs, neurons))))
    )
    assert not closed_by_secants(tools_of(setting_of(graph, np.zeros(SIZE))), 0.5)


@pytest.mark.rule("E-21")
@pytest.mark.parametrize("outputs", [8, 10])
def test_transform_of_a_coordinate_that_is_not_seen_near_the_centre(outputs: int) -> None:
    """The given outputs know x1 from 1 on, and no neuron of theirs switches in the ball; the other one from 0.3 on."""
    size, neurons, rng = 8, 18, np.random.default_rng(4)
    build = ircert.Builder(size)
    rows = rng.integers(-3, 4, (neurons, size)).astype(float)
    rows[:, 0], rows[0], rows[1] = 0.0, np.eye(size)[0], -np.eye(size)[0]
    bent = build.relu(build.affine(build.input, rows, np.r_[-1.0, -1.0, np.full(neurons - 2, -60.0)]))
    mixed = np.concatenate([np.eye(1, neurons) - np.eye(2, neurons)[1:], np.full((size - 1, neurons), 2.0**-10)])
    mixed[1:, :2] = 0.0
    whole = build.add(build.affine(build.input, np.diag(np.arange(size) > 0).astype(float)), build.affine(bent, mixed))
    graph = build.graph(build.affine(whole, rng.integers(-4, 5, (outputs, size)).astype(float)))
    other = ircert.Builder(size)
    late = other.graph(other.relu(other.affine(other.input, np.eye(1, size), [-0.3])))
    result = ircert.certify(graph, np.zeros(size), "transform", late, radius=0.5, time_limit=60)
    assert result.verdict == "refuted"
