"""What the readers of four solvers see in our files is the program, bit for bit, and they find the same optimum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given

from ircert.backends.base import Writer
from ircert.backends.lp import Lp
from ircert.backends.mps import Mps
from ircert.programs.program import Program
from tests.backends import optima, readers
from tests.backends.file_programs import example, programs, solvable
from tests.effort import examples

WRITERS: dict[str, Writer] = {"file.lp": Lp(), "file.mps": Mps(), "minimising.mps": Mps(minimise=True)}
every_file = pytest.mark.parametrize("file", WRITERS)


def assert_read_as_meant(program: Program, file: str, read: Callable[[Path], readers.Model]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / file
        WRITERS[file].emit(program, path)
        meant = readers.meant(program, minimise=file.startswith("minimising"))
        if read is readers.cbc and path.suffix == ".mps":
            assert readers.almost_equal(read(path), meant), path.read_text()
        else:
            assert read(path) == meant, path.read_text()


@pytest.mark.rule("PR-8")
@every_file
@pytest.mark.parametrize("read", [readers.highs, readers.scip, readers.gurobi, readers.cbc])
@examples(12)
@given(program=programs())
def test_linear_programs(file: str, read: Callable[[Path], readers.Model], program: Program) -> None:
    assert_read_as_meant(program, file, read)


@every_file
@pytest.mark.parametrize("read", [readers.scip, readers.gurobi])
@examples(12)
@given(program=programs(quadratic=True))
def test_quadratic_programs(file: str, read: Callable[[Path], readers.Model], program: Program) -> None:
    assert_read_as_meant(program, file, read)


@every_file
@examples(12)
@given(program=programs(quadratic=True, integer=False).filter(lambda p: not p.quadratic_rows))
def test_quadratic_objectives_in_highs(file: str, program: Program) -> None:
    assert_read_as_meant(program, file, readers.highs)


@every_file
@pytest.mark.parametrize("maximise", [True, False])
@pytest.mark.parametrize("read", [readers.highs, readers.scip, readers.gurobi, readers.cbc])
def test_the_example(file: str, read: Callable[[Path], readers.Model], maximise: bool) -> None:
    assert_read_as_meant(example(maximise=maximise), file, read)


@every_file
@pytest.mark.parametrize("length", [1, 2, 5, 6, 7, 8, 9, 10, 12, 20, 80])
def test_long_names_and_lines(length: int, file: str) -> None:
    """A reader that guesses the layout from the lengths of names would be caught."""
    for read in (readers.highs, readers.scip, readers.cbc):
        assert_read_as_meant(renamed(solvable(0), length), file, read)


def renamed(program: Program, length: int) -> Program:
    letters = "xk"
    blocks = tuple(
        replace(block, name=letter * length) for block, letter in zip(program.variables, letters, strict=True)
    )
    return replace(program, variables=blocks, rows=tuple(replace(block, name="r" * length) for block in program.rows))


@every_file
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("optimum", [optima.scip, optima.gurobi, optima.cbc])
def test_equal_optima(file: str, seed: int, optimum: Callable[[Path], float], tmp_path: Path) -> None:
    program = solvable(seed)
    WRITERS[file].emit(program, tmp_path / file)
    assert optimum(tmp_path / file) == pytest.approx(optima.highs(tmp_path / file), abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("optimum", [optima.scip, optima.gurobi])
def test_equal_quadratic_optima(seed: int, optimum: Callable[[Path], float], tmp_path: Path) -> None:
    found = []
    for file, writer in WRITERS.items():
        writer.emit(solvable(seed, quadratic=True), tmp_path / file)
        found.append(optimum(tmp_path / file) * (-1 if file.startswith("minimising") else 1))
    expected = optima.scip(tmp_path / "file.lp")
    assert found == pytest.approx([expected] * 3, abs=1e-5)


@pytest.mark.parametrize("file", ["file.lp", "minimising.mps"])
@pytest.mark.parametrize("binary", ["cbc", "glpsol"])
def test_equal_optima_of_the_command_line_solvers(binary: str, file: str, tmp_path: Path) -> None:
    program = solvable(1)
    WRITERS[file].emit(program, tmp_path / file)
    found = optima.command_line(binary, tmp_path / file)
    assert found == pytest.approx(optima.highs(tmp_path / file), abs=1e-6)
