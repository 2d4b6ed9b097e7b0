"""What the tests of both file writers share."""

from __future__ import annotations

import re
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import random_array

from ircert.backends.base import Writer
from ircert.errors import BackendError, CoefficientWarning, FileError
from ircert.programs.build import ProgramBuilder
from ircert.programs.program import Program

GOLDEN = Path(__file__).parent / "golden"


def assert_golden(writer: Writer, program: Program, name: str, folder: Path, update: bool) -> None:
    """The file is the golden one; with `update`, write that instead."""
    writer.emit(program, folder / name)
    text = (folder / name).read_text()
    if update:
        (GOLDEN / name).write_text(text)
    assert (GOLDEN / name).read_text() == text


def emitted(writer: Writer, program: Program, folder: Path) -> str:
    """The text that is written."""
    path = folder / f"file.{writer.name}"
    writer.emit(program, path)
    return path.read_text()


def one_row(coefficient: float, rhs: float = 1.0, upper: float = 1.0) -> Program:
    """coefficient * x_0 <= rhs"""
    builder = ProgramBuilder()
    x = builder.variables("x", 1, 0.0, upper)
    builder.rows("r", [(x, np.array([[coefficient]]))], "<=", rhs)
    return builder.program()


def assert_warns_of_numbers(writer: Writer, folder: Path) -> None:
    """Numbers that readers change are written exactly, and counted in one warning."""
    for program, number, says in (
        (
            one_row(5e-324),
            "5e-324",
            "1 coefficients up to 1e-09 in size, which HiGHS and SCIP drop; 1 up to 1e-10, which COPT drops too; "
            "1 up to 1e-13, which",
        ),
        (one_row(1e-9), "1e-09", "1 coefficients up to 1e-09 in size, which HiGHS and SCIP drop$"),
        (one_row(1e22), "1e+22", "1 coefficients from 1e\\+15 on, which HiGHS refuses"),
        (one_row(1.0, upper=1e-9), "1e-09", "1 bounds up to 1e-09 in size, which SCIP takes for 0"),
        (one_row(1.0, rhs=1e22), "1e+22", "1 finite bounds or right-hand sides from 1e\\+20"),
        (one_row(1.0, upper=1e20), "1e+20", "1 finite bounds"),
    ):
        with pytest.warns(CoefficientWarning, match=says) as caught:
            text = emitted(writer, program, folder)
        assert f" {number}" in text
        comment = re.sub(r"\n[\\*] ", "", text)  # long comments are cut into lines
        note = says.partition(";")[0]
        assert re.search(rf"note: this file is exact, but its readers change {note}", comment, flags=re.M)
        assert len(caught) == 1
        assert caught[0].filename == __file__


def assert_refuses_bad_places(writer: Writer, folder: Path) -> None:
    """FileError, and nothing is left behind."""
    ending = f".{writer.name}"
    (folder / f"folder{ending}").mkdir()
    for place, says in (
        (f"missing/file{ending}", "cannot be written"),
        (f"folder{ending}", "folder, not a file"),
        ("file.txt", f"must end in {ending}"),
        (f"file{ending}.gz", f"must end in {ending}"),
        (f"{'n' * 300}{ending}", "cannot be written|too long"),
    ):
        with pytest.raises(FileError, match=says):
            writer.emit(one_row(1.0), folder / place)
    with pytest.raises(FileError):
        writer.emit(one_row(1.0), f"/proc/file{ending}")
    assert [path.name for path in folder.iterdir()] == [f"folder{ending}"]


def assert_leaves_the_old_file(writer: Writer, folder: Path, monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    """A failure in the middle keeps what was there."""
    path = folder / f"file.{writer.name}"
    path.write_text("old")

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(f"{module}._bounds", fail)
    with pytest.raises(KeyboardInterrupt):
        writer.emit(one_row(1.0), path)
    assert [p.name for p in folder.iterdir()] == [path.name]
    assert path.read_text() == "old"


def assert_memory_is_bounded(writer: Writer, folder: Path, share: float) -> None:
    """Writing 300 000 nonzeros takes less memory than this share of the file's size."""
    rng = np.random.default_rng(0)
    matrix = random_array((3000, 1000), density=0.1, rng=rng, data_sampler=lambda size: rng.standard_normal(size))
    builder = ProgramBuilder()
    x = builder.variables("relu.h1.x", 1000, -1.0, 1.0)
    builder.rows("relu.h1.upper", [(x, matrix.tocsr())], "<=", 1.0)
    program = builder.program()
    path = folder / f"file.{writer.name}"
    tracemalloc.start()
    writer.emit(program, path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert path.stat().st_size > 9e6
    assert peak < share * path.stat().st_size


def assert_refuses_huge_quadratics(writer: Writer, program: Program, folder: Path) -> None:
    """A coefficient that overflows when it is doubled is an error, not an infinity in a file."""
    with pytest.raises(BackendError, match="too large to be written"):
        emitted(writer, program, folder)
    assert not list(folder.iterdir())
