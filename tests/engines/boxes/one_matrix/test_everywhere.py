"""The whole space by one matrix: what it proves, against exact arithmetic and against the linear regions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.engines.boxes.one_matrix.definite_tree import DefiniteTree
from ircert.engines.boxes.one_matrix.domination import OneMatrix
from ircert.engines.boxes.one_matrix.everywhere import Everywhere, homogeneous, rim
from ircert.engines.boxes.one_matrix.points import Points
from ircert.engines.boxes.problem.outcome import Counts
from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.norm import Norm
from tests.effort import some_of
from tests.engines.boxes.making import residual, setting_of
from tests.engines.boxes.test_one_matrix import is_definite

EFFORT = 20_000


def everywhere_of(graph: ircert.Graph, center: Any = None, **more: Any) -> Everywhere:
    center = np.full(graph.input_dim, 0.1) if center is None else center
    return Everywhere(setting_of(graph, center, **more), Counts(), lambda: None)


def advanced(found: Everywhere, effort: int = EFFORT) -> str:
    with np.errstate(all="ignore"):
        return found.advance(lambda: found.counts.effort > effort)


def dyadic_residual(rng: np.random.Generator, n: int, hidden: int, outputs: int) -> ircert.Graph:
    """x + g(x) with few digits: floats hold all its Jacobians exactly."""
    build = ircert.Builder(n)
    weight, bias = rng.integers(-4, 5, (hidden, n)) / 4, rng.integers(-8, 9, hidden) / 4
    change = build.affine(
        build.relu(build.affine(build.input, weight, bias)), rng.integers(-4, 5, (outputs, hidden)) / 8
    )
    skip = build.affine(build.input, np.vstack([np.eye(n), rng.integers(-4, 5, (outputs - n, n)) / 4]))
    return build.graph(build.add(skip, change))


def far_fold(n: int, at: float) -> ircert.Graph:
    """The identity with bends near the centre, and a fold across x1 = at."""
    rng = np.random.default_rng(n)
    build = ircert.Builder(n)
    near = build.relu(build.affine(build.input, rng.standard_normal((4, n)), rng.standard_normal(4)))
    far = build.relu(build.affine(build.input, np.eye(1, n), [-at]))
    change = build.affine(build.concat(near, far), np.hstack([0.02 * rng.standard_normal((n, 4)), -4 * np.eye(n, 1)]))
    return build.graph(build.add(build.input, change))


def hook(n: int) -> ircert.Graph:
    """(x1, 0) for x1 < 0, up to (0, 1), and back to the left, with other inputs as they are: injective, without a C."""
    build = ircert.Builder(n)
    kinks = build.relu(build.affine(build.input, np.tile(np.eye(1, n), (2, 1)), [0.0, -1.0]))
    rows = np.zeros((n + 1, n + 2))
    rows[:2, [0, n, n + 1]] = [[1.0, -1.0, -1.0], [0.0, 1.0, -1.0]]
    rows[2:, 1:n] = np.eye(n - 1)
    return build.graph(build.affine(build.concat(build.input, kinks), rows))


@pytest.mark.rule("E-16")
@pytest.mark.parametrize("n", [1, 2, 3])
def test_every_point_is_on_the_rim(n: int) -> None:
    setting = homogeneous(setting_of(residual(np.random.default_rng(n), n, 4), np.full(n, 0.1)))
    boxes, top = rim(setting), Fraction(float(setting.high[-1]))
    rng = np.random.default_rng(0)
    sides = set()
    for size in (-40, -2, -1, 0, 1, 2, 9, 200):
        for _ in range(20):
            step = [Fraction(v) * Fraction(10) ** size for v in rng.uniform(-1, 1, n).tolist()]
            scale = min(top, 1 / max(map(abs, step)))
            point = [scale * v for v in step] + [scale]
            held = [
                all(Fraction(a) <= v <= Fraction(b) for a, v, b in zip(low, point, high, strict=True))
                for low, high in zip(boxes.low.tolist(), boxes.high.tolist(), strict=True)
            ]
            assert any(held)
            sides.add(held.index(True))
    assert sides == set(range(2 * n + 1))


@pytest.mark.rule("E-16")
@pytest.mark.parametrize(("n", "outputs"), [(1, 1), (1, 2), (2, 2), (2, 4), (3, 3), (4, 4), (3, 5)])
def test_what_is_proved_has_one_matrix_for_all_regions(n: int, outputs: int) -> None:
    """Exactly, at points of all distances."""
    rng = np.random.default_rng(10 * n + outputs)
    proved = 0
    for _ in range(8):
        graph = dyadic_residual(rng, n, 6, outputs)
        found = everywhere_of(graph, rng.integers(-8, 9, n) / 8)
        if advanced(found) != "closed":
            continue
        proved += 1
        matrix = found.matrix
        assert matrix is not None
        points = Points(found.setting)
        for radius in (0.1, 1.0, 3.0, 30.0, 1e4, 1e12):
            for jacobian in points.jacobians(points.sampled(radius, 0.1)):
                product = [
                    [
                        sum((Fraction(a) * Fraction(b) for a, b in zip(row, column, strict=True)), Fraction(0))
                        for column in jacobian.T
                    ]
                    for row in matrix
                ]
                assert is_definite(product)
    assert proved >= 2


@pytest.mark.rule("E-16")
@pytest.mark.parametrize("n", [1, 2])
def test_it_agrees_with_linear_regions(n: int) -> None:
    rng = np.random.default_rng(n)
    proved = refuted = 0
    for index in range(8):
        graph = residual(rng, n, 4, (0.5, 1.0, 4.0, 8.0)[index % 4], n + index // 4 % 2)
        exact = ircert.certify(graph, np.full(n, 0.1), engine="regions", max_radius=math.inf)
        found = everywhere_of(graph)
        outcome = advanced(found, 1_000)
        assert outcome in ("closed", "stopped")
        assert outcome != "closed" or exact.radius.certified == math.inf
        proved, refuted = proved + (outcome == "closed"), refuted + (exact.radius.refuted is not None)
    assert proved >= 2
    assert refuted >= 1


@pytest.mark.rule("E-16")
@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("at", [1e5, -1e5, 1e-5, 1e12])
def test_a_fold_is_seen_at_any_distance(n: int, at: float) -> None:
    found = everywhere_of(far_fold(n, at), np.zeros(n))
    assert advanced(found, 3_000) == "stopped"
    if abs(at) < 1e6:
        assert found.gave_up
        turned = np.concatenate(found.turned())
        assert len(turned)
        assert ((turned[:, 0] > at) == (at > 0)).all()  # beyond the fold


@pytest.mark.rule("E-16")
def test_a_flat_direction_at_infinity_is_none() -> None:
    """min(x, 1000): all slopes but those far away are 1."""
    build = ircert.Builder(1)
    flat = build.graph(
        build.add(build.input, build.affine(build.relu(build.affine(build.input, [[1.0]], [-1e3])), [[-1.0]]))
    )
    found = everywhere_of(flat)
    assert advanced(found) == "stopped"


@pytest.mark.rule("E-16")
@pytest.mark.parametrize("n", [1, 2, 3])
def test_without_a_matrix_nothing_is_said(n: int) -> None:
    found = everywhere_of(hook(n))
    assert advanced(found) == "stopped"
    assert found.gave_up
    assert (
        ircert.certify(hook(n), np.full(n, 0.1), engine="boxes", max_radius=math.inf, time_limit=20).verdict
        == "unresolved"
    )


@pytest.mark.rule("E-16", "E-7")
def test_it_goes_on_where_it_stopped() -> None:
    graph = residual(np.random.default_rng(401), 4, 8, 0.6)
    whole, parts = everywhere_of(graph), everywhere_of(graph)
    assert advanced(whole) == "closed"
    effort, outcome = 0, "stopped"
    while outcome == "stopped":
        effort += 50
        assert effort <= 2 * EFFORT
        outcome = advanced(parts, effort)
    assert parts.counts == whole.counts


def test_where_it_applies() -> None:
    graph = residual(np.random.default_rng(0), 2, 4)
    assert Everywhere.applies(setting_of(graph, [0.0, 0.0], norm=Norm.TWO))
    assert Everywhere.applies(setting_of(graph, [0.0, 0.0], "pseudo"))
    assert not Everywhere.applies(setting_of(graph, [0.0, 0.0], low=[-np.inf, -1.0]))
    wide: Setting = setting_of(ircert.load([(np.ones((1, 2)), None)]), [0.0, 0.0])
    assert not Everywhere.applies(wide)


@pytest.mark.rule("E-16", "E-3")
@pytest.mark.parametrize(
    ("shape", "norm", "problem"), some_of([(3, 3), (3, 5), (4, 4)], ["inf", 1, 2], ["local", "pseudo"])
)
def test_a_search_ends_with_the_whole_space(shape: tuple[int, int], norm: Any, problem: str) -> None:
    n, outputs = shape
    graph = residual(np.random.default_rng(1), n, 14, 0.9, outputs)
    found = ircert.certify(graph, np.full(n, 0.1), problem, norm=norm, engine="boxes", time_limit=20)
    assert (found.verdict, found.trust, found.radius.certified) == ("certified", "exact", math.inf)
    assert "no violation anywhere: one matrix" in found.radius.certified.evidence


@pytest.mark.rule("E-16")
def test_given_outputs_that_tell_all_points_apart() -> None:
    rng = np.random.default_rng(1)
    given, other = residual(rng, 3, 14, 0.9), residual(rng, 3, 5, 3.0)
    found = ircert.certify(
        given, np.full(3, 0.1), "transform", other=other, engine="boxes", max_radius=math.inf, time_limit=20
    )
    assert (found.verdict, found.radius.certified) == ("certified", math.inf)
    assert "the given outputs tell" in found.radius.certified.evidence


@pytest.mark.rule("E-16")
@pytest.mark.parametrize("n", [2, 3])
def test_a_search_finds_a_far_fold_or_says_nothing(n: int) -> None:
    found = ircert.certify(far_fold(n, 1e5), np.zeros(n), engine="boxes", max_radius=math.inf, time_limit=10)
    assert found.radius.certified <= 1e5 * (1 + 1e-9)


@pytest.mark.rule("E-16")
def test_a_limited_ball_is_no_reason_to_look_further() -> None:
    graph = residual(np.random.default_rng(1), 3, 14, 0.9)
    found = ircert.certify(graph, np.full(3, 0.1), engine="boxes", max_radius=2.0, time_limit=20)
    assert (found.verdict, found.radius.certified) == ("certified", 2.0)


@pytest.mark.rule("E-16")
def test_flat_boxes_go_to_no_tree() -> None:
    """A tree leaves out regions without an interior, and no region has one in a side of the rim."""
    around = homogeneous(setting_of(residual(np.random.default_rng(0), 2, 4), np.zeros(2)))
    matrix = OneMatrix(Batches(around), np.eye(2))
    with pytest.raises(TypeError, match="for all inputs"):
        DefiniteTree(matrix, ExactMaps(around), Counts())
