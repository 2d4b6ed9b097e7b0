"""Programs are frozen, and travel between processes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from ircert.programs.build import ProgramBuilder
from ircert.programs.program import Origin, Program


def small() -> Program:
    build = ProgramBuilder()
    x = build.variables("x", 2, [0.0, -1.0], 5.0, origin=Origin("h1", "x"))
    t = build.binaries("t", 1)
    build.rows("cap", [(x, np.array([[1.0, 2.0]])), (t, -3.0)], "<=", 4.0)
    build.rows("tie", [(x, np.array([[1.0, -1.0]]))], "=", 0.5)
    build.maximise(x, [1.0, 2.0])
    return build.program(about={"problem": "toy"})


@pytest.mark.rule("PR-3")
def test_programs_are_frozen() -> None:
    program = small()
    with pytest.raises(AttributeError):
        program.maximise = False  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        program.rhs[0] = 1.0
    with pytest.raises(TypeError):
        program.about["problem"] = "other"  # type: ignore[index]


def test_programs_travel() -> None:
    """… to other processes."""
    program = small()
    there = pickle.loads(pickle.dumps(program))
    assert there.column_names == program.column_names
    assert dict(there.about) == {"problem": "toy"}
    assert there.summary() == program.summary()
