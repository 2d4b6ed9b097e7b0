"""Progress on a terminal: one line on stderr, where the package rich is installed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ircert.engines.base import Progress


@contextmanager
def shown() -> Iterator[Callable[[Progress], None] | None]:
    """A function to report a search to, or None where nobody would read it."""
    with working("certifying") as say:
        yield None if say is None else lambda progress: say(described(progress))


@contextmanager
def working(text: str) -> Iterator[Callable[[str], None] | None]:
    """A function that replaces the words of the line, or None where nobody would read it."""
    if sys.stderr is None or not sys.stderr.isatty() or not find_spec("rich"):
        yield None
        return
    from rich.console import Console

    with Console(stderr=True).status(text) as line:
        yield line.update


def described(progress: Progress) -> str:
    """The bracket so far as a few words."""
    upper = "?" if progress.refuted is None else f"{progress.refuted:.9g}"
    return f"radius between {progress.certified:.9g} and {upper}  {progress.text}".rstrip()
