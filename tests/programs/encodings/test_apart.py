"""Two copies and their difference: the extra rows say nothing that is not true of every pair."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.bounds.slopes import slope_bounds
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.ir.graph import Graph
from ircert.programs.build import ProgramBuilder
from ircert.programs.encodings.analyse import analyse
from ircert.programs.encodings.apart import DifferenceCopy, difference_of_points, differences, keep_apart
from ircert.programs.encodings.ball import point_of_ball
from ircert.programs.encodings.form import Form
from ircert.programs.encodings.network import NetworkCopy
from ircert.programs.program import Origin, Program
from tests.programs.encodings.points import extremes, fixed, optimum


def interval(low: float, high: float, radius: float = 1.0) -> Ball:
    return Ball(np.zeros(1), radius, Norm.INF, np.array([low]), np.array([high]))


def kinks() -> Graph:
    """relu(x) - 2 relu(x - 1/2) + relu(x + 4), which has a neuron that is on everywhere."""
    build = ircert.Builder(1)
    relus = build.relu(build.affine(build.input, np.ones((3, 1)), [0.0, -0.5, 4.0]))
    return build.graph(build.affine(relus, [[1.0, -2.0, 1.0]]))


def paired(graph: Graph) -> Program:
    """Copies at x and y, their difference, and o = f(x) - f(y) as the difference has it."""
    build, ball = ProgramBuilder(), interval(-np.inf, np.inf)
    bounds = analyse(graph, ball)
    x, y = (point_of_ball(build, ball, tag, Origin(graph.input, tag)) for tag in "xy")
    copies = NetworkCopy(build, bounds, x, "x"), NetworkCopy(build, bounds, y, "y")
    apart = differences(ball, ball)
    d = difference_of_points(build, apart, x, y, Origin(graph.input, "d"))
    copy = DifferenceCopy(build, slope_bounds(bounds, apart), d, copies)
    o = build.variables("o", 1, -99.0, 99.0)
    copy.output.rows(build, "out", "=", np.zeros(1), (o, -1.0))
    return build.program()


@pytest.mark.rule("PR-12")
@pytest.mark.parametrize(("x", "y"), [(1.0, -1.0), (-1.0, 1.0), (0.75, 0.25), (0.0, 0.0), (0.25, -0.5), (1.0, 0.75)])
def test_every_pair_keeps_its_difference(x: float, y: float) -> None:
    wanted = (kinks()([x]) - kinks()([y])).item()
    assert extremes(fixed(paired(kinks()), x=[x], y=[y]), "o") == pytest.approx((wanted, wanted), abs=1e-6)


def test_differences_of_two_balls() -> None:
    found = differences(interval(-0.5, 2.0), interval(-1.0, 0.25))
    low, high = found.box
    assert low[0] <= -0.75 < -0.74
    assert high[0] >= 2.0
    assert high[0] < 2.0 + 1e-9
    still = differences(interval(0.5, 0.5), interval(0.5, 0.5)).box
    assert [side[0] for side in still] == [0.0, 0.0]


def separated(*, both_signs: bool, low: float = -1.0, high: float = 2.0) -> Program:
    build = ProgramBuilder()
    d = build.variables("d", 2, low, high)
    keep_apart(build, Form.of(d), np.full(2, low), np.full(2, high), 0.5, both_signs=both_signs)
    return build.program()


@pytest.mark.rule("PR-12")
@pytest.mark.parametrize(
    ("d", "one", "both"),
    [
        ((0.5, 0.0), True, True),
        ((0.0, 2.0), True, True),
        ((0.25, 0.49), False, False),
        ((-0.75, 0.0), False, True),
        ((-0.5, -0.5), False, True),
        ((0.0, 0.0), False, False),
    ],
)
def test_some_entry_is_that_large(d: tuple[float, float], one: bool, both: bool) -> None:
    assert (optimum(fixed(separated(both_signs=False), d=d)) is not None) is one
    assert (optimum(fixed(separated(both_signs=True), d=d)) is not None) is both


def test_entries_that_cannot_be_that_large_are_not_picked() -> None:
    assert optimum(separated(both_signs=False, high=0.25)) is None
    assert optimum(separated(both_signs=True, high=0.25)) is not None
