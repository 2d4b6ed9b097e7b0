"""Progress on a terminal: one line on stderr, with a spinner where the package rich is installed."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ircert.cli.verbosity import LEVEL, NORMAL

if TYPE_CHECKING:
    from ircert.engines.base import Progress

    Line = tuple[Callable[[str], None], Callable[[str], None]]
    """Functions that print words for good above the line, and that replace its words."""


@contextmanager
def shown() -> Iterator[Callable[[Progress], None] | None]:
    """A function to report a search to, or None where nobody would read it.

    Nobody reads it without a terminal, and where another level of detail was asked for.
    The first report is how large the question is, and stays on the screen.
    """
    with _terminal("certifying") as found:
        if found is None:
            yield None
            return
        keep, say = found
        started: list[Progress] = []

        def report(progress: Progress) -> None:
            if started:
                say(str(progress))
            else:
                started.append(progress)
                keep(progress.text)

        yield report


@contextmanager
def working(text: str) -> Iterator[Callable[[str], None] | None]:
    """A function that replaces the words of the line, or None where nobody would read it."""
    with _terminal(text) as found:
        yield None if found is None else found[1]


@contextmanager
def _terminal(text: str) -> Iterator[Line | None]:
    """A line that begins with a text; None where nobody reads."""
    if sys.stderr is None or not sys.stderr.isatty() or LEVEL.get() != NORMAL:
        yield None
        return
    with _spinning(text) if find_spec("rich") else _plain(text) as line:
        yield line


@contextmanager
def _plain(text: str) -> Iterator[Line]:
    """With nothing but carriage returns; gone at the end."""
    last = ""

    def write(words: str, end: str = "") -> None:
        width = shutil.get_terminal_size().columns - 1
        sys.stderr.write(f"\r{' ' * width}\r{words if end else words[:width]}{end}")
        sys.stderr.flush()

    def say(words: str) -> None:
        nonlocal last
        last = words
        write(words)

    def keep(words: str) -> None:
        write(words, "\n")
        write(last)

    say(text)
    try:
        yield keep, say
    finally:
        write("")


@contextmanager
def _spinning(text: str) -> Iterator[Line]:
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True)
    with console.status(Text(text)) as line:
        yield lambda words: console.print(Text(words)), lambda words: line.update(Text(words))
