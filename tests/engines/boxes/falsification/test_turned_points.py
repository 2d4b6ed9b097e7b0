"""Turned points lie just beyond the nearest fold, and are proved."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.falsification import turned_points
from ircert.engines.boxes.falsification.fold_seekers import FoldSeekers
from ircert.engines.boxes.falsification.turned_points import FARTHER, LINE, TurnedPoints
from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.ir.arrays import Array
from ircert.ir.enclosure import enclosed_determinant
from ircert.ir.graph import Graph
from ircert.ir.ops.curves import Tanh
from ircert.limits import Deadline, OutOfTime, until


def folded() -> Graph:
    """(x + y - 2 tanh(x + y), y - x): the determinant is 2 (1 - 2 / cosh(x + y)^2), and 0 at |x + y| = FOLD."""
    build = ircert.Builder(2)
    total = build.affine(build.input, [[1.0, 1.0]])
    first = build.add(total, build.affine(build.node(Tanh(), total), [[-2.0]]))
    return build.graph(build.concat(first, build.affine(build.input, [[-1.0, 1.0]])))


FOLD = math.acosh(math.sqrt(2.0))


def hunter(norm: Norm, center: float = 1.5, low: float = -np.inf) -> TurnedPoints:
    place = Place(np.full(2, center), norm, np.full(2, low), np.full(2, np.inf))
    return TurnedPoints(Setting(folded(), "local", 2, place))


@pytest.mark.parametrize(("norm", "nearest"), [(Norm.INF, 0.5), (Norm.TWO, math.sqrt(0.5)), (Norm.ONE, 1.0)])
def test_the_nearest_point_of_a_fold(norm: Norm, nearest: float) -> None:
    found = hunter(norm)
    assert found.look(20.0)
    assert found.best is not None
    assert found.home is not None
    distance, point = found.best
    exact = nearest * (3.0 - FOLD)
    assert exact <= distance <= exact * (1 + 1e-6)
    assert enclosed_determinant(folded(), point.tolist()) < 0
    assert enclosed_determinant(folded(), found.home.tolist()) > 0
    assert not found.look(0.9 * exact)


def test_nothing_outside_the_domain() -> None:
    assert not hunter(Norm.INF, low=1.0).look(20.0)
    at_the_edge = hunter(Norm.INF, low=1.5)
    assert at_the_edge.home is not None
    assert (at_the_edge.home > 1.5).all()


def test_time_that_ends_keeps_what_was_found() -> None:
    found, asked = hunter(Norm.INF), 0

    def over() -> bool:
        nonlocal asked
        asked += 1
        return asked > 800

    with pytest.raises(OutOfTime), until(over):
        found.look(20.0)
    assert found.best is not None


@pytest.mark.rule("E-7")
def test_determinants_in_pieces_look_at_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    points = np.random.default_rng(0).uniform(-2, 2, (40, 2))
    whole = hunter(Norm.INF)._determinants(points)
    monkeypatch.setattr(turned_points, "ENTRIES", 24)
    found, asked = hunter(Norm.INF), 0
    assert (found._determinants(points) == whole).all()

    def over() -> bool:
        nonlocal asked
        asked += 1
        return asked > 2

    with pytest.raises(OutOfTime), until(over):
        found._determinants(points)


@pytest.mark.rule("E-7")
def test_a_proof_that_takes_longer_than_is_left_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Intervals of large matrices cannot be interrupted; with more time they are asked."""
    monkeypatch.setattr(turned_points, "WORK_A_SECOND", 1.0)
    with until(Deadline(10.0)):
        found = hunter(Norm.INF)
        assert found.home is None
        assert not found.look(20.0)
    assert found.look(20.0)
    assert found.home is not None


@pytest.mark.rule("E-7")
def test_what_there_was_no_time_to_prove_is_proved_later(monkeypatch: pytest.MonkeyPatch) -> None:
    found = hunter(Norm.INF)
    monkeypatch.setattr(turned_points, "WORK_A_SECOND", 1.0)
    with until(Deadline(100.0)):
        assert not found.look(20.0)
        assert not found.catch_up()
    assert found.best is None
    assert found.catch_up()
    assert found.best is not None
    assert found.best[0] <= 0.5 * (3.0 - FOLD) * (1 + 1e-6)
    assert not found.catch_up()


@pytest.mark.rule("E-17")
def test_rounds_of_seekers_bring_what_is_known_nearer() -> None:
    found = hunter(Norm.INF)
    assert found.seek(20.0)
    assert found.best is not None
    first = found.best[0]
    while found.seek(20.0):
        assert found.best[0] < first
        first = found.best[0]
    exact = 0.5 * (3.0 - FOLD)
    assert exact <= found.best[0] <= 1.01 * exact
    assert enclosed_determinant(folded(), found.best[1].tolist()) < 0
    assert not found.seek(0.99 * exact)


@pytest.mark.rule("E-7")
def test_time_that_ends_keeps_what_seekers_met() -> None:
    found, asked = hunter(Norm.INF), 0

    def over() -> bool:
        nonlocal asked
        asked += 1
        return asked > 30

    with pytest.raises(OutOfTime), until(over):
        found.seek(20.0)
    assert found.best is not None


@pytest.mark.rule("E-17")
def test_lines_of_rounds_begin_anew_a_little_farther_out(monkeypatch: pytest.MonkeyPatch) -> None:
    found, begun = hunter(Norm.INF), []
    assert found.seek(20.0)
    assert found.best is not None
    advance = FoldSeekers.advance

    def recorded(self: FoldSeekers, limit: float, near: Array) -> None:
        begun.append((limit, len(near)))
        advance(self, limit, near)

    monkeypatch.setattr(FoldSeekers, "advance", recorded)
    for _ in range(4 * LINE):
        found.seek(20.0)
    anew = [limit for limit, near in begun if not near]
    assert len(anew) >= 3
    assert all(found.best[0] < limit for limit in anew)
    assert anew[-1] <= 1.01 * FARTHER * found.best[0]
    assert all(limit <= FARTHER * begun[0][0] for limit, near in begun if near)
