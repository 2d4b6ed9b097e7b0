"""Programs without small coefficients hold the programs they come from, in exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ircert.errors import ProgramError
from ircert.programs.program import Program
from ircert.programs.relaxation import Relaxation, relaxed
from ircert.testing import small_program

SMALLEST, LARGEST = 1e-9, 1e15
NUMBERS = st.one_of(
    st.floats(-4, 4),
    st.builds(lambda m, e: math.ldexp(m, e), st.floats(-2, 2), st.integers(-1074, 300)),
    st.sampled_from([0.0, 5e-324, -5e-324, 1e-61, 1e-9, -1e-9, 1.1e-9, 1e15, 1e16, -1e300]),
)


def exactly(program: Program, row: int, point: list[Fraction]) -> Fraction:
    values = program.matrix[[row], :].toarray()[0].tolist()
    return sum((Fraction(a) * x for a, x in zip(values, point, strict=True)), Fraction(0))


def holds(program: Program, point: list[Fraction]) -> bool:
    """Whether a point satisfies bounds and linear rows, exactly."""
    bounds = zip(point, program.lower.tolist(), program.upper.tolist(), strict=True)
    inside = all(low <= x <= high for x, low, high in bounds)
    for i, (sense, right) in enumerate(zip(program.senses.tolist(), program.rhs.tolist(), strict=True)):
        left = exactly(program, i, point)
        inside &= {"<=": left <= right, ">=": left >= right, "=": left == right}[sense]
    return inside


def objective(program: Program, point: list[Fraction]) -> Fraction:
    terms = (Fraction(c) * x for c, x in zip(program.objective.tolist(), point, strict=True))
    return sum(terms, Fraction(program.constant))


@st.composite
def programs_with_a_point(draw: st.DrawFn) -> tuple[Program, list[float]]:
    """A program and a point of it: right-hand sides come from the point, rounded to where it lies inside."""
    n = draw(st.integers(1, 4))
    point = draw(st.lists(st.floats(-100, 100), min_size=n, max_size=n))
    room = draw(st.lists(st.sampled_from([0.0, 0.5, 2.0**40]), min_size=n, max_size=n))
    rows: list[Any] = []
    for _ in range(draw(st.integers(1, 4))):
        values = draw(st.lists(NUMBERS, min_size=n, max_size=n))
        left = sum((Fraction(a) * Fraction(x) for a, x in zip(values, point, strict=True)), Fraction(0))
        near = float(left)
        if Fraction(near) == left:
            rows.append((values, draw(st.sampled_from(["<=", ">=", "="])), near))
        else:
            sense = "<=" if Fraction(near) > left else ">="
            rows.append((values, sense, near))
    cost = draw(st.lists(NUMBERS.filter(lambda v: abs(v) <= LARGEST), min_size=n, max_size=n))
    program = small_program(
        cost,
        rows,
        lower=[x - r for x, r in zip(point, room, strict=True)],
        upper=[x + r for x, r in zip(point, room, strict=True)],
        maximise=draw(st.booleans()),
        constant=draw(st.floats(-2, 2)),
    )
    return program, point


def check(found: Relaxation, point: list[float]) -> None:
    source, made = found.source, found.program
    exact = [Fraction(x) for x in point]
    assert holds(source, exact)
    moved = [x / Fraction(unit) for x, unit in zip(exact, found.units.tolist(), strict=True)]
    assert holds(made, moved)
    gain = objective(made, moved) - objective(source, exact)
    assert gain >= 0 if source.maximise else gain <= 0
    sizes = np.abs(np.concatenate([made.matrix.data, made.objective]))
    assert (sizes[sizes > 0] > found.smallest).all()


@pytest.mark.rule("PR-16")
@given(programs_with_a_point(), st.booleans(), st.booleans())
def test_every_point_of_the_program_stays_with_an_objective_no_worse(
    given_: tuple[Program, list[float]], normal: bool, keep_units: bool
) -> None:
    program, point = given_
    found = relaxed(program, SMALLEST, LARGEST, normal=normal, keep=None if keep_units else ())
    check(found, point)
    assert np.abs(found.program.matrix.data).max(initial=0.0) <= LARGEST


@pytest.mark.rule("PR-16")
def test_an_ordinary_program_is_left_alone() -> None:
    program = small_program([1.0, 1e-8], [([1.0, 2e-9], "<=", 4.0)], upper=3)
    found = relaxed(program, SMALLEST, LARGEST)
    assert found.program is program
    assert (found.dropped, found.note()) == (0, "")


@pytest.mark.rule("PR-16")
def test_powers_of_two_leave_nothing_out() -> None:
    """A row of small numbers is a row; so is a wide variable in units of its own."""
    small = small_program([1.0, 1.0], [([2.0**-60, 3 * 2.0**-60], "=", 2.0**-61)], upper=1)
    found = relaxed(small, SMALLEST, LARGEST)
    assert found.dropped == 0
    assert found.program.matrix.toarray().tolist() == [[0.5, 1.5]]
    assert found.program.rhs.tolist() == [0.25]
    assert found.program.senses.tolist() == ["="]
    wide = small_program([1.0, 0.0], [([1.0, -(2.0**-40)], "<=", 0.0)], upper=[10.0, 2.0**40])
    found = relaxed(wide, SMALLEST, LARGEST)
    assert found.dropped == 0
    assert found.units.tolist() == [1.0, 2.0**41]
    assert found.program.matrix.toarray().tolist() == [[1.0, -2.0]]
    assert found.program.upper.tolist() == [10.0, 0.5]


@pytest.mark.rule("PR-16")
def test_an_equation_becomes_two_rows() -> None:
    program = small_program([1.0, 0.0], [([1.0, 1e-61], "=", 2.0), ([1.0, 1e-3], "=", 2.0)], lower=-3.0, upper=5.0)
    found = relaxed(program, SMALLEST, LARGEST)
    made = found.program
    assert found.dropped == 1
    assert "1 coefficients up to 1e-09" in found.note()
    assert made.senses.tolist() == ["<=", "=", ">="]
    assert made.matrix.toarray().tolist() == [[1.0, 0.0], [1.0, 1e-3], [1.0, 0.0]]
    assert 2 < made.rhs[0] < 2 + 1e-13
    assert 2 - 1e-13 < made.rhs[2] < 2
    twice = relaxed(made, 1e-2, LARGEST, keep=None)  # the names of rows stay apart
    assert (twice.dropped, twice.program.senses.tolist()) == (1, ["<=", "<=", ">=", ">="])


@pytest.mark.rule("PR-16")
def test_a_variable_without_bounds_is_refused_by_name() -> None:
    for row, cost in (([1.0, 1e-61], [1.0, 0.0]), ([1.0, 1.0], [1.0, 1e-61])):
        with pytest.raises(ProgramError, match=r"`x_1` has no bounds"):
            relaxed(small_program(cost, [(row, "<=", 2.0)], upper=[1.0, np.inf]), SMALLEST, LARGEST)


@pytest.mark.rule("PR-16")
def test_linear_parts_of_quadratic_rows() -> None:
    disc = [(np.eye(2), [1.0, -1e-61], 1.0)]
    program = small_program([1.0, 0.0], lower=-2.0, upper=2.0, balls=disc)
    found = relaxed(program, SMALLEST, LARGEST)
    (row,) = found.program.quadratic_rows
    assert found.dropped == 1
    assert row.linear.tolist() == [1.0, 0.0]
    assert 1.0 < row.bound < 1 + 1e-13
