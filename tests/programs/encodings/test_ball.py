"""Points of a ball as variables: the ball, and no more than its rounding."""

from __future__ import annotations

import numpy as np
import pytest

from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.programs.build import ProgramBuilder
from ircert.programs.encodings.ball import point_of_ball
from ircert.programs.encodings.radius import point_within, variable_radius
from ircert.programs.program import Origin, Program
from tests.programs.encodings.points import fixed, holds, optimum

CENTER = np.array([1.0, -2.0])
NORMS = tuple(Norm)


def ball(norm: Norm, high: float = np.inf) -> Ball:
    return Ball(CENTER, 0.5, norm, np.full(2, -np.inf), np.array([np.inf, high]))


def program_of(norm: Norm, high: float = np.inf) -> Program:
    build = ProgramBuilder()
    point_of_ball(build, ball(norm, high), "x", Origin("input", "x"))
    return build.program()


def inside(program: Program, point: np.ndarray) -> bool:
    offset = point - CENTER
    return holds(program, x=point, a_x=np.abs(offset), delta_x=offset)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(
    "offset", [(0.0, 0.0), (0.5, 0.0), (0.0, -0.5), (0.25, 0.25), (0.4, 0.4), (0.5, 0.5), (0.6, 0)]
)
def test_the_ball_and_nothing_else(norm: Norm, offset: tuple[float, float]) -> None:
    wanted = norm.lengths(np.array(offset)) <= 0.5
    assert inside(program_of(norm), CENTER + offset) == wanted


def test_the_domain_is_in_the_bounds() -> None:
    for norm in NORMS:
        assert not inside(program_of(norm, high=-2.25), CENTER)
        assert inside(program_of(norm, high=-2.25), CENTER - np.array([0.0, 0.25]))


@pytest.mark.parametrize(("norm", "wanted"), [(Norm.INF, 0.25), (Norm.ONE, 0.375)])
def test_the_least_radius_that_holds_a_point(norm: Norm, wanted: float) -> None:
    build = ProgramBuilder()
    r = variable_radius(build, ball(norm))
    point_within(build, ball(norm), r, "x", Origin("input", "x"))
    program = build.program(maximise=False)
    assert optimum(fixed(program, x=CENTER + np.array([0.25, -0.125]))) == pytest.approx(wanted)
    assert optimum(program) == pytest.approx(0.0)


def test_the_radius_of_norm_2_is_a_cone() -> None:
    build = ProgramBuilder()
    r = variable_radius(build, ball(Norm.TWO), least=0.125)
    point_within(build, ball(Norm.TWO), r, "x", Origin("input", "x"))
    program = build.program(maximise=False)
    offset = np.array([0.3, 0.4])
    for radius, good in ((0.5, True), (0.49, False)):
        assert holds(program, r=[radius], x=CENTER + offset, delta_x=offset) is good
    assert program.lower[0] == 0.125
