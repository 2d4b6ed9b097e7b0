"""L2 balls through tangent planes: the same optimum as a solver that knows quadratic rows."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert import backends
from ircert.backends.base import Solver, Status
from ircert.errors import BackendError
from ircert.programs.build import ProgramBuilder
from ircert.programs.program import CONVEX_ROWS, NONCONVEX_ROWS, Program


def solver(name: str) -> Solver:
    found = backends.get(name)
    assert isinstance(found, Solver)
    return found


def disc(size: int, goal: list[float], radius: float = 1.0) -> Program:
    build = ProgramBuilder()
    v = build.variables("v", size, -radius, radius)
    build.squares_at_most("disc", v, radius * radius)
    build.maximise(v, goal)
    return build.program()


@pytest.mark.rule("PR-6")
@pytest.mark.parametrize("name", ["highs", "mip"])
@pytest.mark.parametrize("goal", [[1.0, 1.0], [1.0, 0.3], [0.0, 1.0], [1.0, -2.0, 0.7]])
def test_a_linear_goal_on_a_ball(name: str, goal: list[float]) -> None:
    outcome = solver(name).solve(disc(len(goal), goal, 2.0))
    wanted = 2.0 * float(np.linalg.norm(goal))
    assert outcome.status is Status.OPTIMAL
    assert outcome.bound is not None
    assert outcome.bound >= wanted - 1e-9
    assert outcome.value == pytest.approx(wanted, rel=1e-5)
    assert outcome.point is not None
    assert outcome.point @ outcome.point <= 4.0 * (1 + 8e-6 / 2.0)


@pytest.mark.rule("PR-6")
def test_the_ball_of_a_network() -> None:
    rng = np.random.default_rng(3)
    layers = [(rng.standard_normal((5, 2)), rng.standard_normal(5)), (rng.standard_normal((2, 5)), None)]
    program = ircert.program(ircert.load(layers), ircert.Query("local", [0.1, 0.2], 1.0, 2, objective_norm="inf"))
    highs, scip = (solver(name).solve(program, time_limit=60, gap=0.0) for name in ("highs", "scip"))
    assert highs.value == pytest.approx(scip.value, abs=1e-4)


def test_a_limit_gives_a_bound_without_a_point() -> None:
    outcome = solver("highs").solve(disc(3, [1.0, 0.2, 0.1]), progress=lambda _: True, time_limit=1e-4)
    assert outcome.status in (Status.TIME_LIMIT, Status.INTERRUPTED, Status.UNKNOWN)
    assert outcome.value is None


def test_other_quadratic_rows_are_refused() -> None:
    build = ProgramBuilder()
    v = build.variables("v", 2, -1.0, 1.0)
    build.squares_at_most("ellipse", v, 1.0)
    program = build.program()
    from dataclasses import replace

    row = program.quadratic_rows[0]
    scaled = replace(program, quadratic_rows=(replace(row, quadratic=row.quadratic * 2.0),))
    with pytest.raises(BackendError, match="is not a ball or cone"):
        solver("highs").solve(scaled)


@pytest.mark.rule("PR-6")
@pytest.mark.parametrize("name", ["highs", "mip", "scip"])
@pytest.mark.parametrize("point", [[1.0, 2.0], [-3.0, 0.1], [0.5, -0.25, 2.0], [1.0]])
def test_the_distance_to_a_line_through_a_cone(name: str, point: list[float]) -> None:
    """min h with |v| <= h and point·v = 1 is 1 / |point|."""
    build = ProgramBuilder()
    v = build.variables("v", len(point), -9.0, 9.0)
    h = build.variables("h", 1, 0.0, 9.0)
    build.rows("line", [(v, np.array([point]))], "=", 1.0)
    build.length_at_most("cone", v, h)
    build.minimise(h)
    program = build.program(maximise=False)
    assert program.features == {CONVEX_ROWS}
    outcome = solver(name).solve(program)
    wanted = 1 / float(np.linalg.norm(point))
    assert outcome.value == pytest.approx(wanted, rel=1e-4)
    assert outcome.bound is not None
    assert outcome.bound <= wanted * (1 + 1e-6) + 1e-6


def test_a_height_that_may_be_negative_is_no_cone() -> None:
    build = ProgramBuilder()
    v = build.variables("v", 2, -9.0, 9.0)
    build.length_at_most("cone", v, build.variables("h", 1, -1.0, 9.0))
    assert build.program().features == {NONCONVEX_ROWS}


def test_small_balls_end_too() -> None:
    """A solver may violate a bound by 1e-6, which is much for a ball of radius 1/4."""
    graph = ircert.load([([[1.0], [-1.0]], [0.0, 0.1]), ([[1.0, 0.5]], None)])
    program = ircert.program(graph, ircert.Query("local", [0.3], 0.25, 2, objective_norm="inf"))
    assert solver("highs").solve(program, time_limit=60).status is Status.OPTIMAL
