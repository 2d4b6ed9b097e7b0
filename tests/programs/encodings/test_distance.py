"""The length of a difference as an objective: with the difference fixed, the optimum is its norm."""

from __future__ import annotations

import numpy as np
import pytest

from ircert.geometry.norm import Norm
from ircert.programs.build import ProgramBuilder
from ircert.programs.encodings.distance import maximise_length
from ircert.programs.encodings.form import Form
from ircert.programs.program import Program
from tests.programs.encodings.points import fixed, optimum

REACH = np.array([1.0, 2.0, 0.5])


def program_of(norm: Norm, *, half: bool = False) -> Program:
    build = ProgramBuilder()
    d = build.variables("d", 3, -REACH, REACH)
    maximise_length(build, Form.of(d), REACH, norm, half=half)
    return build.program()


@pytest.mark.parametrize(("norm", "wanted"), [(Norm.INF, 1.5), (Norm.ONE, 2.75)])
@pytest.mark.parametrize("signs", [(1, 1, 1), (-1, 1, -1), (1, -1, -1), (-1, -1, 1)])
def test_it_is_the_norm(norm: Norm, wanted: float, signs: tuple[int, ...]) -> None:
    d = np.array([1.0, 1.5, 0.25]) * signs
    assert optimum(fixed(program_of(norm), d=d)) == pytest.approx(wanted)


@pytest.mark.parametrize(("norm", "wanted"), [(Norm.INF, 2.0), (Norm.ONE, 3.5)])
def test_the_longest_difference(norm: Norm, wanted: float) -> None:
    assert optimum(program_of(norm)) == pytest.approx(wanted)


def test_half_of_the_signs_is_enough_where_both_points_may_be_swapped() -> None:
    up, down = np.array([0.0, 1.5, 0.0]), np.array([0.0, -1.5, 0.0])
    assert optimum(fixed(program_of(Norm.INF, half=True), d=up)) == pytest.approx(1.5)
    assert optimum(fixed(program_of(Norm.INF, half=True), d=down)) is None, "no entry may be the largest"
    assert program_of(Norm.INF).integer.sum() == 2 * program_of(Norm.INF, half=True).integer.sum() == 6


def test_norm_2_maximises_the_square() -> None:
    program = program_of(Norm.TWO)
    assert program.quadratic is not None
    point = np.zeros(program.columns)
    point[program.block("e").where] = [3.0, 0.0, -4.0]
    assert point @ (program.quadratic @ point) == 25.0
