"""Programs built by blocks."""

from __future__ import annotations

import numpy as np
import pytest

from ircert.errors import ProgramError
from ircert.limits import OutOfTime, until
from ircert.programs.build import ProgramBuilder
from ircert.programs.program import BINARIES, Origin
from tests.programs.test_program import small


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
