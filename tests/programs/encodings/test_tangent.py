"""A network and its derivative along a direction, with slopes that are free at kinks."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.bounds.slopes import slope_bounds
from ircert.errors import QueryError
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.ir.graph import Graph
from ircert.programs.build import ProgramBuilder
from ircert.programs.encodings.analyse import analyse
from ircert.programs.encodings.ball import point_of_ball
from ircert.programs.encodings.network import NetworkCopy
from ircert.programs.encodings.tangent import DirectionCopy, KinkedCopy, direction, unit_directions
from ircert.programs.program import Origin, Program
from tests.programs.encodings.points import extremes, fixed, optimum


def bent() -> Graph:
    """x - 3 relu(x) + relu(x + 4)."""
    build = ircert.Builder(1)
    relus = build.relu(build.affine(build.input, np.ones((2, 1)), [0.0, 4.0]))
    return build.graph(build.affine(build.concat(build.input, relus), [[1.0, -3.0, 1.0]]))


def tangents(graph: Graph, thickness: float = 0.0) -> Program:
    """The derivative of a network of one input along v = 1, as the variable o."""
    build = ProgramBuilder()
    ball = Ball(np.zeros(1), 1.0, Norm.INF, np.full(1, -np.inf), np.full(1, np.inf))
    bounds = analyse(graph, ball)
    slopes = slope_bounds(bounds, unit_directions(ball, 0))
    x = point_of_ball(build, ball, "x", Origin(graph.input, "x"))
    at = (NetworkCopy if thickness else KinkedCopy)(build, bounds, x, "x")
    copy = DirectionCopy(build, slopes, direction(build, slopes, 0), at, thickness)
    o = build.variables("o", 1, -99.0, 99.0)
    copy.output.rows(build, "out", "=", np.zeros(1), (o, -1.0))
    return build.program()


@pytest.mark.rule("PR-10")
@pytest.mark.parametrize(("x", "least", "most"), [(-1.0, 2, 2), (-0.125, 2, 2), (0.0, -1, 2), (0.5, -1, -1)])
def test_derivatives_and_all_slopes_between_at_the_kink(x: float, least: float, most: float) -> None:
    assert extremes(fixed(tangents(bent()), x=[x]), "o") == pytest.approx((least, most), abs=1e-6)


@pytest.mark.rule("PR-11")
@pytest.mark.parametrize(("x", "free"), [(0.0, True), (0.0625, True), (-0.0625, True), (0.25, False), (-0.25, False)])
def test_near_the_kink_differences_may_have_any_slope(x: float, free: bool) -> None:
    """Pairs up to 1/4 apart around a middle that is at most 1/8 from the kink."""
    least, most = extremes(fixed(tangents(bent(), thickness=0.25), x=[x]), "o") or (0.0, 0.0)
    assert (most - least > 2.9) is free


def square_box(low: float, high: float) -> Ball:
    return Ball(np.zeros(2), 1.0, Norm.TWO, np.array([-np.inf, low]), np.array([np.inf, high]))


def test_directions_are_a_box_with_one_full_coordinate() -> None:
    low, high = unit_directions(square_box(-1.0, 1.0), 1).box
    assert low.tolist() == [-1.0, 1.0]
    assert high.tolist() == [1.0, 1.0]
    pinned = unit_directions(square_box(0.0, 0.0))
    assert pinned.box[1].tolist() == [1.0, 0.0]
    with pytest.raises(QueryError, match="does not vary"):
        unit_directions(square_box(0.0, 0.0), 1)
    with pytest.raises(QueryError, match="is none"):
        unit_directions(square_box(-1.0, 1.0), 2)


@pytest.mark.parametrize(
    ("v", "good"), [((1.0, 0.0), True), ((-1.0, 1.0), True), ((0.5, 0.5), False), ((-1, 0), False)]
)
def test_some_coordinate_is_1(v: tuple[float, float], good: bool) -> None:
    build = ircert.Builder(2)
    graph = build.graph(build.affine(build.input, np.eye(2)))
    ball = square_box(-1.0, 1.0)
    program = ProgramBuilder()
    direction(program, slope_bounds(analyse(graph, ball), unit_directions(ball)), None)
    assert (optimum(fixed(program.program(), v=v)) is not None) is good
