"""The line of progress on a terminal."""

from __future__ import annotations

import io
from contextlib import redirect_stderr

import pytest

from ircert.cli import progress
from ircert.engines.base import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal 40 wide, without rich."""
    monkeypatch.setattr(progress, "find_spec", lambda name: None)
    monkeypatch.setenv("COLUMNS", "40")
    return Terminal()


def screen(written: str) -> list[str]:
    """What is left to be seen."""
    return [line.split("\r")[-1] for line in written.split("\n")]


def test_words_replace_each_other(terminal: Terminal) -> None:
    with redirect_stderr(terminal), progress.working("1d") as say:
        assert say is not None
        say("1d: the sketch")
        assert screen(terminal.getvalue()) == ["1d: the sketch"]
        say("x" * 100)
        assert screen(terminal.getvalue()) == ["x" * 39]
    assert screen(terminal.getvalue()) == [""]


def test_the_size_of_a_question_stays(terminal: Terminal) -> None:
    with redirect_stderr(terminal), progress.shown() as report:
        assert report is not None
        report(Progress(0.0, None, "20 neurons"))
        report(Progress(0.5, 1.0))
        assert screen(terminal.getvalue()) == ["20 neurons", "radius between 0.5 and 1"]
    assert screen(terminal.getvalue()) == ["20 neurons", ""]


def test_nothing_where_nobody_reads() -> None:
    with redirect_stderr(io.StringIO()), progress.working("1d") as say:
        assert say is None
