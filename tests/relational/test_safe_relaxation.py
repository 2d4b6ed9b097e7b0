"""Bounds of relaxations: they hold whatever the solver says."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from ircert.exact.live_program import LiveProgram
from ircert.programs.build import ProgramBuilder
from ircert.programs.program import Program
from ircert.relational.safe_relaxation import SafeRelaxation


def triangle() -> Program:
    """max over x + y <= 1, 0 <= x, y <= 1."""
    build = ProgramBuilder()
    x = build.variables("x", 2, 0.0, 1.0)
    build.rows("sum", [(x, np.ones((1, 2)))], "<=", 1.0)
    return build.program()


def disc() -> Program:
    build = ProgramBuilder()
    x = build.variables("x", 2, -1.0, 1.0)
    build.squares_at_most("disc", x, 1.0)
    return build.program()


def test_the_bound_is_the_optimum_rounded_up() -> None:
    found = SafeRelaxation(triangle()).bound(np.array([1.0, 3.0]))
    assert 3.0 <= found.bound < 3.0 + 1e-12
    assert found.point == pytest.approx([0.0, 1.0])


def test_no_point_is_proved_by_a_ray() -> None:
    relaxation = SafeRelaxation(triangle())
    found = relaxation.bound(np.ones(2), np.array([0.75, 0.5]), np.ones(2))
    assert found.empty
    assert relaxation.bound(np.ones(2)).bound == pytest.approx(1.0)  # and it goes on
    assert relaxation.bound(np.ones(2), np.ones(2), np.zeros(2)).empty


def test_wrong_multipliers_make_a_weaker_bound_and_no_wrong_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in (np.array([5.0]), np.array([-2.0]), np.array([np.nan]), np.zeros(0)):
        monkeypatch.setattr(LiveProgram, "multipliers", wrong)
        found = SafeRelaxation(triangle()).bound(np.array([1.0, 3.0]))
        assert 3.0 <= found.bound < math.inf


def test_a_solver_that_says_infeasible_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    def lies(self: LiveProgram, cost: Any, **options: Any) -> str:
        return "infeasible"

    monkeypatch.setattr(LiveProgram, "maximise", lies)
    for ray in (np.array([1.0]), None):
        monkeypatch.setattr(LiveProgram, "ray", lambda self, given=ray: given)
        found = SafeRelaxation(triangle()).bound(np.array([1.0, 3.0]))
        assert not found.empty
        assert found.bound >= 3.0


def test_cuts_round_a_square_to_a_disc() -> None:
    for direction in ([1.0, 1.0], [3.0, -4.0], [0.2, 1.0]):
        cost = np.array(direction)
        found = SafeRelaxation(disc()).bound(cost)
        assert np.linalg.norm(cost) <= found.bound < 1.05 * np.linalg.norm(cost)
