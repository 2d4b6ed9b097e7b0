"""The conformance suite on writers: ours pass, and broken ones are caught; writers are found by their suffix."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest

from ircert import backends
from ircert.backends.base import Backend, Writer
from ircert.backends.lp import Lp
from ircert.backends.mps import Mps
from ircert.errors import BackendError, FileError
from ircert.programs.program import BINARIES, INTEGERS, Program
from ircert.testing import CASES, check_backend, same_program, small_program


@pytest.mark.rule("PR-17")
@pytest.mark.parametrize("writer", [Lp(), Mps(), Mps(minimise=True)], ids=["lp", "mps", "minimising"])
def test_the_whole_suite(writer: Writer) -> None:
    report = check_backend(writer)
    assert set(report.answered) == {case.name for case in CASES}
    assert report.refused == ()


class Broken(Lp):
    """A writer of .lp files that gets something wrong, as the suite must notice."""

    fault = ""

    def emit(self, program: Program, path: Any) -> None:
        if self.fault == "anywhere":
            Path(path).parent.mkdir(exist_ok=True)
            Path(path).write_bytes(b"anything")
        elif self.fault == "leaves":
            Path(path).with_suffix(".tmp").write_bytes(b"")
        super().emit(program, path)

    def _write(self, program: Program, file: IO[bytes]) -> None:
        if self.fault == "crashes":
            raise ZeroDivisionError
        if self.fault == "refuses":
            raise BackendError("not today", backend=self.name)
        if self.fault == "prints":
            print("writing")
        if self.fault == "moody":
            file.write(f"\\ {np.random.default_rng().integers(2**60)}\n".encode())
        if self.fault == "empty":
            return
        super()._write(_doubled(program) if self.fault == "wrong" else program, file)


def _doubled(program: Program) -> Program:
    return replace(program, objective=2 * program.objective)


@pytest.mark.rule("PR-17")
@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("crashes", "crashed or refused"),
        ("refuses", "not today"),
        ("prints", "prints"),
        ("moody", "gives two files"),
        ("empty", "is empty"),
        ("wrong", "optimum is"),
        ("leaves", "other files are left"),
        ("anywhere", "did not refuse|a file is left|folder"),
    ],
)
def test_a_broken_writer_does_not_pass(fault: str, says: str) -> None:
    writer = Broken()
    writer.fault = fault
    with pytest.raises((AssertionError, FileError), match=says):
        check_backend(writer)


@pytest.mark.parametrize("suffixes", [(), ("lp",), (".LP",), (".",), (" .lp",)])
def test_suffixes_are_declared(suffixes: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Broken, "suffixes", suffixes)
    with pytest.raises(AssertionError, match="suffix"):
        check_backend(Broken())


def test_what_is_not_offered_is_refused_by_the_base_class(tmp_path: Path) -> None:
    class Small(Lp):
        offers = frozenset({BINARIES, INTEGERS})

    report = check_backend(Small())
    assert set(report.answered) < {case.name for case in CASES}
    ball = small_program([1, 1], upper=2, balls=[(np.eye(2), [0, 0], 1.0)])
    with pytest.raises(BackendError, match="it cannot handle: convex quadratic rows; writers that can: lp"):
        Small().emit(ball, tmp_path / "q.lp")


def test_reading_back() -> None:
    program = small_program([1, 2], [([1, 1], "<=", 3)], upper=4)
    assert same_program(program, small_program([1, 2], [([1, 1], "<=", 3)], upper=4))
    for other in (
        small_program([1, 3], [([1, 1], "<=", 3)], upper=4),
        small_program([1, 2], [([1, 1], ">=", 3)], upper=4),
        small_program([1, 2], [([1, 1], "<=", 3)], upper=5),
        small_program([1, 2], [([1, 1], "<=", 3)], upper=4, maximise=False),
        small_program([1, 2], [([1, 1], "<=", 3)], upper=4, constant=1.0),
        small_program([1, 2], [([1, 1], "<=", 3)], upper=4, squares=np.eye(2)),
    ):
        assert not same_program(program, other)
    with pytest.raises(AssertionError, match="is read as another program"):
        check_backend(Lp(), read=lambda path: program)


def test_something_else_is_no_backend() -> None:
    class Neither(Backend):
        name = "neither"
        offers = frozenset()

    with pytest.raises(AssertionError, match="neither from Solver nor from Writer"):
        check_backend(Neither())


# --- found by suffix -------------------------------------------------------------------------------------------------


class Other(Lp):
    """Of another package."""

    name = "other"
    suffixes = (".other", ".lp")  # type: ignore[assignment]


class Another(Other):
    """Of a third one."""

    name = "another"


class Point:
    """An entry point."""

    dist = None

    def __init__(self, kind: Any) -> None:
        self.name = "gone" if isinstance(kind, Exception) else kind.name
        self.value, self.kind = "somewhere:else", kind

    def load(self) -> Any:
        if isinstance(self.kind, Exception):
            raise self.kind
        return self.kind


def plug(monkeypatch: pytest.MonkeyPatch, *kinds: Any) -> None:
    monkeypatch.setattr(type(backends.REGISTRY), "plugins", lambda _: tuple(Point(kind) for kind in kinds))


@pytest.mark.rule("PR-17")
def test_writers_are_found_by_suffix(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(backends.writer_for("q.lp"), Lp)
    assert isinstance(backends.writer_for(Path("folder.lp/Q.MPS")), Mps)
    kinds = [backends.REGISTRY.get(name) for name in backends.BUILT_IN]
    known = sorted({suffix for kind in kinds if issubclass(kind, Writer) for suffix in kind.suffixes})
    assert {".lp", ".mps"} <= set(known)
    with pytest.raises(FileError) as caught:
        backends.writer_for("q.other")
    assert str(caught.value) == f"q.other: unknown kind of file; use a name ending in {' or '.join(known)}"
    plug(monkeypatch, Other)
    assert backends.writer_for("q.other").name == "other"
    assert backends.writer_for("q.lp").name == "lp"
    plug(monkeypatch, Other, Another)
    with pytest.raises(FileError, match="written by `another` and `other`; uninstall one"):
        backends.writer_for("q.other")


@pytest.mark.rule("PR-17")
def test_a_writer_that_cannot_be_loaded_is_named_and_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    class Half(Writer):
        """`_write` is missing."""

        name = "half"
        offers = frozenset()

    for kind, says in ((ImportError("no such module"), "no such module"), (Half, "not whole: it has no `_write`")):
        plug(monkeypatch, kind)
        with pytest.warns(UserWarning, match=says):
            assert backends.writer_for("q.lp").name == "lp"
