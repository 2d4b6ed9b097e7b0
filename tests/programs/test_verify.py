"""The rules of programs: broken ones are named."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from ircert.errors import ProgramError
from ircert.programs.build import ProgramBuilder
from ircert.programs.program import BINARIES, CONVEX_OBJECTIVE, CONVEX_ROWS, NONCONVEX_OBJECTIVE
from tests.programs.test_program import small


@pytest.mark.rule("PR-4")
def test_features_follow_from_the_quadratic_forms() -> None:
    program = small()
    square = csr_array(np.diag([1.0, 1.0, 0.0]))
    assert replace(program, quadratic=square).features == {BINARIES, NONCONVEX_OBJECTIVE}
    assert replace(program, quadratic=-square).features == {BINARIES, CONVEX_OBJECTIVE}
    assert replace(program, quadratic=square, maximise=False).features == {BINARIES, CONVEX_OBJECTIVE}
    build = ProgramBuilder()
    v = build.variables("v", 2, -1.0, 1.0)
    build.squares_at_most("disc", v, 1.0)
    assert build.program().features == {CONVEX_ROWS}


@pytest.mark.rule("PR-3")
@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"lower": np.array([0.0, 6.0, 0.0])}, "variable `x_1` has bounds"),
        ({"lower": np.array([0.0, np.nan, 0.0])}, "variable `x_1` has bounds"),
        ({"upper": np.array([5.0, 5.0, np.inf])}, "integer variable `t_0` is unbounded"),
        ({"rhs": np.array([np.inf, 0.0])}, "right-hand sides must be finite"),
        ({"rhs": np.array([1.0])}, "`rhs` has shape"),
        ({"objective": np.array([np.nan, 0.0, 0.0])}, "the objective must be finite"),
        ({"senses": np.array(["<=", "<"])}, "a row is `<=`, `>=` or `=`"),
        ({"matrix": csr_array((3, 3))}, "`matrix` has shape"),
        ({"quadratic": csr_array(np.array([[0.0, 1, 0], [0, 0, 0], [0, 0, 0]]))}, "symmetric"),
    ],
)
def test_broken_programs_are_refused(change: dict[str, Any], says: str) -> None:
    with pytest.raises(ProgramError) as caught:
        replace(small(), **change)
    assert says in str(caught.value)


@pytest.mark.rule("PR-2")
@pytest.mark.parametrize("name", ["e1", "inf", "free", "1x", "a b", "x-y", "St", "nan_0", "maximise", "obj", "one", ""])
def test_names_that_solvers_misread_are_refused(name: str) -> None:
    build = ProgramBuilder()
    build.variables(name, 1, 0.0, 1.0)
    with pytest.raises(ProgramError, match="cannot name a block"):
        build.program()


@pytest.mark.rule("PR-2")
def test_names_are_unique() -> None:
    for first, second in (("x", "x"), ("x", "x_1")):
        build = ProgramBuilder()
        build.variables(first, 12, 0.0, 1.0)
        build.variables(second, 2, 0.0, 1.0)
        if (first, second) == ("x", "x_1"):
            build.program()  # x_1 and x_1_0 differ
            continue
        with pytest.raises(ProgramError, match="called `x`"):
            build.program()
