"""Both ends of a bracket come early, and what a search does first does not depend on its limit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.falsification import work
from ircert.engines.boxes.falsification.hunt import Hunt
from ircert.engines.boxes.falsification.smooth_pairs import SmoothPairs
from ircert.engines.boxes.falsification.turned_points import TurnedPoints
from ircert.engines.boxes.one_matrix.everywhere import Everywhere
from ircert.engines.boxes.search.smooth_hunt import SmoothHunt
from ircert.ir.ops.curves import Tanh
from ircert.limits import left
from tests.engines.boxes.making import residual

NORMS: list[str | int] = ["inf", 1, 2]


def network(outputs: int = 4) -> ircert.Graph:
    return residual(np.random.default_rng(1), 4, 16, scale=4.0, outputs=outputs)


@pytest.mark.rule("E-7")
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("outputs", [4, 6])
def test_a_ball_is_proved_before_violations_are_looked_for(
    norm: str | int, outputs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Time that ends in the first look for them leaves a positive radius."""

    def ended(hunt: Hunt) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Hunt, "begin", ended)
    result = ircert.certify(network(outputs), np.full(4, 0.1), norm=norm, engine="boxes")
    assert result.interrupted
    assert result.radius.certified > 1e-4
    assert result.radius.refuted is None


@pytest.mark.rule("E-3")
def test_the_first_look_for_violations_takes_what_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends by counted work alone: a part of the limit would make longer searches other ones."""
    seen: list[float] = []

    def noted(hunt: Hunt) -> None:
        seen.append(left())
        raise KeyboardInterrupt

    monkeypatch.setattr(Hunt, "begin", noted)
    ircert.certify(network(), np.full(4, 0.1), engine="boxes", time_limit=1000.0)
    assert len(seen) == 1
    assert seen[0] > 500.0


def test_what_is_known_about_switches_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    compute = work._switching_radii

    def noted(setting: Any) -> Any:
        made.append(setting)
        return compute(setting)

    monkeypatch.setattr(work, "_switching_radii", noted)
    result = ircert.certify(network(), np.full(4, 0.1), engine="boxes", time_limit=10)
    assert result.radius.certified > 0
    assert len(made) == len(set(map(id, made)))


def test_the_whole_space_costs_nothing_where_it_is_not_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Everywhere, "__post_init__", lambda _: pytest.fail("not needed"))
    ircert.certify(network(), np.full(4, 0.1), engine="boxes", max_radius=0.01, time_limit=10)


@pytest.mark.rule("E-17")
@pytest.mark.parametrize("problem", ["local", "pseudo"])
def test_smooth_networks_have_a_ball_before_violations_are_looked_for(
    problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ended(hunt: SmoothHunt, *given: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(SmoothHunt, "look_at_stem", ended)
    rng = np.random.default_rng(3)
    layers = [(rng.standard_normal((8, 3)), np.zeros(8)), (rng.standard_normal((3, 8)), np.zeros(3))]
    graph = ircert.load(layers, activation="tanh")
    result = ircert.certify(graph, np.full(3, 0.1), problem, engine="boxes")
    assert result.interrupted
    assert result.radius.certified > 1e-4


def test_products_that_overflow_are_no_warning() -> None:
    """Where weights are as large as floats, the first look for violations meets numbers that none holds."""
    rng = np.random.default_rng(3)
    build, large = ircert.Builder(4), 2.0**1000
    weight = rng.standard_normal((10, 4)) * 2.0 ** rng.integers(-8, 9) * large
    first = build.relu(build.affine(build.input, weight, rng.standard_normal(10)))
    second = build.relu(build.affine(first, 2.0**15 * rng.standard_normal((10, 10)), rng.standard_normal(10)))
    graph = build.graph(build.affine(second, rng.standard_normal((4, 10))))
    radius = ircert.certify(graph, np.full(4, 0.5 / large), time_limit=1).radius
    assert radius is not None


@pytest.mark.rule("E-17")
def test_many_inputs_turned_points_come_before_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """x - 2 tanh(x - 3) in every coordinate, turned by Q, folds where Q x reaches 3 - acosh(sqrt 2)."""
    known: list[float] = []

    def noted(pairs: SmoothPairs, reach: float) -> bool:
        known.append(reach)
        raise KeyboardInterrupt

    monkeypatch.setattr(SmoothPairs, "look", noted)
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((16, 16)))[0]
    build = ircert.Builder(16)
    bent = build.node(Tanh(), build.affine(build.input, turn, np.full(16, -3.0)))
    graph = build.graph(build.add(build.input, build.affine(bent, -2.0 * turn.T)))
    radius = ircert.certify(graph, np.zeros(16), engine="boxes").radius
    fold = (3.0 - math.acosh(math.sqrt(2.0))) / np.abs(turn).sum(axis=1).max()
    assert len(known) == 1
    assert 0.0 < radius.certified < fold
    assert radius.refuted is not None
    assert fold * (1 - 1e-9) <= radius.refuted < 2.0 * fold


@pytest.mark.rule("E-17")
def test_one_ball_with_many_inputs_is_looked_at_once_for_turned_points(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[float] = []
    look = TurnedPoints.look

    def noted(points: TurnedPoints, reach: float, near: Any = None) -> bool:
        looks.append(reach)
        return look(points, reach, near)

    def ended(pairs: SmoothPairs, reach: float) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(TurnedPoints, "look", noted)
    monkeypatch.setattr(SmoothPairs, "look", ended)
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((16, 16)))[0]
    build = ircert.Builder(16)
    bent = build.node(Tanh(), build.affine(build.input, turn, np.full(16, -3.0)))
    graph = build.graph(build.add(build.input, build.affine(bent, -2.0 * turn.T)))
    assert ircert.certify(graph, np.zeros(16), radius=0.25, engine="boxes").interrupted
    assert looks == [0.25]
