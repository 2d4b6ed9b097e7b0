from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from ircert.errors import ProgramError
from ircert.limits import OutOfTime, until
from ircert.programs.build import ProgramBuilder
from ircert.programs.program import BINARIES, CONVEX_OBJECTIVE, CONVEX_ROWS, NONCONVEX_OBJECTIVE, Origin, Program


def small() -> Program:
    build = ProgramBuilder()
    x = build.variables("x", 2, [0.0, -1.0], 5.0, origin=Origin("h1", "x"))
    t = build.binaries("t", 1)
    build.rows("cap", [(x, np.array([[1.0, 2.0]])), (t, -3.0)], "<=", 4.0)
    build.rows("tie", [(x, np.array([[1.0, -1.0]]))], "=", 0.5)
    build.maximise(x, [1.0, 2.0])
    return build.program(about={"problem": "toy"})


@pytest.mark.rule("PR-1", "PR-2")
def test_blocks_become_arrays() -> None:
    program = small()
    assert program.column_names == ["x_0", "x_1", "t_0"]
    assert program.row_names == ["cap_0", "tie_0"]
    assert program.matrix.toarray().tolist() == [[1.0, 2.0, -3.0], [1.0, -1.0, 0.0]]
    assert program.senses.tolist() == ["<=", "="]
    assert program.rhs.tolist() == [4.0, 0.5]
    assert program.lower.tolist() == [0.0, -1.0, 0.0]
    assert program.integer.tolist() == [False, False, True]
    assert program.block("x").origin == Origin("h1", "x")
    assert program.features == {BINARIES}
    assert "x[2]  from node h1, copy x" in program.summary()
    assert "needs: binaries" in program.summary()


@pytest.mark.rule("PR-3")
def test_programs_are_frozen() -> None:
    program = small()
    with pytest.raises(AttributeError):
        program.maximise = False  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        program.rhs[0] = 1.0
    with pytest.raises(TypeError):
        program.about["problem"] = "other"  # type: ignore[index]


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


def test_terms_must_fit() -> None:
    build = ProgramBuilder()
    x = build.variables("x", 2, 0.0, 1.0)
    with pytest.raises(ProgramError, match="multiplies 3 columns with 2 `x`"):
        build.rows("r", [(x, np.ones((1, 3)))], "<=", 1.0)
    with pytest.raises(ProgramError, match=r"have \[1, 2\] rows"):
        build.rows("r", [(x, np.ones((1, 2))), (x, 1.0)], "<=", 1.0)
    with pytest.raises(ProgramError, match="no block of variables `y`"):
        small().block("y")


def test_building_asks_the_deadline() -> None:
    with until(lambda: True), pytest.raises(OutOfTime):
        small()


def test_programs_travel() -> None:
    """… to other processes."""
    program = small()
    there = pickle.loads(pickle.dumps(program))
    assert there.column_names == program.column_names
    assert dict(there.about) == {"problem": "toy"}
    assert there.summary() == program.summary()
