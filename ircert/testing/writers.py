"""The checks that every writer backend, ours or a third party's, must pass.

>>> from ircert.testing import check_backend
>>> def test_my_writer():
...     check_backend(MyWriter(), read=my_reader)
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import numpy as np

from ircert.backends.base import Status, Writer
from ircert.backends.highs import Highs
from ircert.errors import BackendError, CoefficientWarning, FileError, IrcertError
from ircert.programs.program import Program
from ircert.testing.programs import CASES, Case

Read: TypeAlias = Callable[[Path], Program]
TOLERANCE = 1e-5
SOLVED = (".lp", ".mps")
"""Files with these endings are given to HiGHS, which is always there."""


def check_writer(writer: Writer, read: Read | None = None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Assert that a writer keeps its contract; the cases that it wrote, and those that it refused as it may.

    `read` reads a file back as a program, which must be the one that was written; .lp and .mps files are also solved.
    """
    _check_declaration(writer)
    written: list[str] = []
    refused: list[str] = []
    for case in CASES:
        if case.program.features <= writer.offers:
            (written if _check_case(writer, case, read) else refused).append(case.name)
        else:
            _assert_refuses(writer, case.program, f"file{writer.suffixes[0]}", BackendError, case.name)
    _check_places(writer)
    return tuple(written), tuple(refused)


def same_program(one: Program, other: Program) -> bool:
    """Whether two programs are the same, number for number and name for name; `about` is left out."""
    return _facts(one) == _facts(other)


def _check_declaration(writer: Writer) -> None:
    assert writer.suffixes, f"{writer.name} declares no suffixes, so that nobody finds it"
    for suffix in writer.suffixes:
        plain = suffix.startswith(".") and len(suffix) > 1 and suffix == suffix.lower().strip()
        assert plain, f"{suffix!r} is no suffix: it starts with a dot and has small letters"


def _check_case(writer: Writer, case: Case, read: Read | None) -> bool:
    """Whether the case was written; it may be refused if it says so."""
    for suffix in writer.suffixes:
        with _folder() as folder:
            path = folder / f"file{suffix}"
            try:
                _emitted(writer, case.program, path)
            except BackendError as error:
                if error.__cause__ is not None or not case.may_refuse:
                    raise AssertionError(f"{case.name}: crashed or refused ({error})") from error
                assert not list(folder.iterdir()), f"{case.name}: a refusal left a file behind"
                return False
            _check_file(writer, case, path)
            if read is not None:
                assert same_program(read(path), case.program), f"{case.name}: {suffix} is read as another program"
            if suffix in SOLVED and _is_plain(case):
                _check_solved(case, path)
    return True


def _is_plain(case: Case) -> bool:
    """Whether HiGHS solves the case from a file; of integers it expects bounds that are integers."""
    program = case.program
    ends = np.concatenate([program.lower[program.integer], program.upper[program.integer]])
    whole = bool((np.isinf(ends) | (ends == np.round(ends))).all())
    return whole and program.features <= Highs.offers and not case.may_refuse


def _check_file(writer: Writer, case: Case, path: Path) -> None:
    first = path.read_bytes()
    assert first, f"{case.name}: the file is empty"
    _emitted(writer, case.program, str(path))
    assert path.read_bytes() == first, f"{case.name}: the same program gives two files"
    assert [path.name] == [found.name for found in path.parent.iterdir()], f"{case.name}: other files are left"


def _check_solved(case: Case, path: Path) -> None:
    """HiGHS reads the file, and finds the optimum if it finds one at all."""
    import highspy

    model = highspy.Highs()
    model.silent()
    assert model.readModel(str(path)) != highspy.HighsStatus.kError, f"{case.name}: HiGHS cannot read the file"
    model.run()
    optimal = model.getModelStatus() == highspy.HighsModelStatus.kOptimal
    assert not optimal or Status.OPTIMAL in case.statuses, f"{case.name}: solved, though it has no optimum"
    if optimal and case.value is not None:
        turned = case.program.maximise != (model.getLp().sense_ == highspy.ObjSense.kMaximize)
        found = model.getInfo().objective_function_value * (-1 if turned else 1)
        close = math.isclose(found, case.value, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
        assert close, f"{case.name}: the file's optimum is {found}, expected {case.value}"


def _check_places(writer: Writer) -> None:
    """Names and places where nothing can be written are refused, and nothing is left there."""
    program, suffix = next(c.program for c in CASES if c.program.features <= writer.offers), writer.suffixes[0]
    _assert_refuses(writer, program, "file.no-such-ending", FileError, "an ending of others")
    _assert_refuses(writer, program, f"missing/file{suffix}", FileError, "a folder that is not there")
    with _folder() as folder:
        (folder / f"folder{suffix}").mkdir()
        _assert_raises(writer, program, folder / f"folder{suffix}", FileError, "a folder")
        assert not list((folder / f"folder{suffix}").iterdir())
        (folder / f"old{suffix}").write_bytes(b"older")
        _emitted(writer, program, folder / f"old{suffix}")
        assert (folder / f"old{suffix}").read_bytes() != b"older", "an older file is not replaced"


def _assert_refuses(writer: Writer, program: Program, name: str, kind: type[IrcertError], what: str) -> None:
    with _folder() as folder:
        _assert_raises(writer, program, folder / name, kind, what)
        assert not list(folder.iterdir()), f"{what} was refused, but a file is left"


def _assert_raises(writer: Writer, program: Program, path: Path, kind: type[IrcertError], what: str) -> None:
    try:
        _emitted(writer, program, path)
    except kind:
        return
    raise AssertionError(f"{writer.name} did not refuse {what} by a {kind.__name__}")


def _emitted(writer: Writer, program: Program, path: Path | str) -> None:
    """Write in silence; a warning about numbers is none of our business."""
    printed = io.StringIO()
    with redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore", CoefficientWarning)
        writer.emit(program, path)
    assert not printed.getvalue(), f"{writer.name} prints"


@contextmanager
def _folder() -> Iterator[Path]:
    with TemporaryDirectory() as name:
        yield Path(name)


def _facts(program: Program) -> list[Any]:
    dense = [program.matrix, *([program.quadratic] if program.quadratic is not None and program.quadratic.nnz else [])]
    rows = [
        (row.name, row.quadratic.toarray().tolist(), row.linear.tolist(), row.bound) for row in program.quadratic_rows
    ]
    arrays = (program.lower, program.upper, program.integer, program.senses, program.rhs, program.objective)
    facts = [np.asarray(array).tolist() for array in (*arrays, *(matrix.toarray() for matrix in dense))]
    return [program.column_names, program.row_names, program.maximise, program.constant, rows, facts]
