"""Output that may fail: characters that the encoding lacks, readers that have gone, streams that are closed or full."""

from __future__ import annotations

import codecs
import json
import os
import sys
import unicodedata
from typing import TextIO

from ircert.cli.verbosity import LEVEL, QUIET

HANDLER = "ircert.readable"
LOSSY = ("strict", "surrogateescape")
"""Ways to treat such characters that end in an error; others were asked for."""
PLAIN = {"…": "...", "–": "-", "−": "-", "‘": "'", "’": "'", "“": '"', "”": '"', "×": "x", "→": "->", "∞": "inf"}


def make_readable() -> None:
    """From here on nothing that is printed fails for want of a character."""
    codecs.register_error(HANDLER, _replaced)
    for stream in (sys.stdout, sys.stderr):
        # None where the caller closed it; something else where a program took its place
        if getattr(stream, "errors", None) in LOSSY and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=HANDLER)


def say(text: str) -> None:
    """Print for people, unless they want it quiet."""
    if LEVEL.get() != QUIET:
        put(text + "\n")


def put(text: str) -> None:
    """Print; a reader that has gone (`| head`) changes no verdict."""
    try:
        print(text, end="", flush=True)
    except BrokenPipeError:
        drop(sys.stdout)


def complain(text: str) -> None:
    """One line on stderr, if anybody can read it; the exit code says the same."""
    if sys.stderr is None:
        return
    try:
        print(f"ircert: {text}", file=sys.stderr, flush=True)
    except OSError:
        drop(sys.stderr)


def drop(stream: TextIO | None) -> None:
    """What is left to write there goes nowhere: Python would try once more at exit, and change the exit code."""
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def print_json(text: str) -> None:
    """JSON on standard output; its readers expect UTF-8, and so it is ASCII in any other encoding."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    put(encodable(text) if codecs.lookup(encoding).name == "utf-8" else _escaped(text))


def encodable(text: str) -> str:
    """JSON as it is, unless it has halves of characters, as names have that are not UTF-8; then in ASCII."""
    return _escaped(text) if any("\ud800" <= character <= "\udfff" for character in text) else text


def _escaped(text: str) -> str:
    """The same JSON in ASCII: other characters stand in strings alone."""
    return "".join(character if character.isascii() else json.dumps(character)[1:-1] for character in text)


def _replaced(error: UnicodeError) -> tuple[str, int]:
    """A codec's error handler: similar characters where there are some, else their number."""
    assert isinstance(error, UnicodeEncodeError)
    lost = error.object[error.start : error.end]
    return "".join(_similar(character) for character in lost), error.end


def _similar(character: str) -> str:
    if character in PLAIN:
        return PLAIN[character]
    plain = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return plain or character.encode("ascii", "backslashreplace").decode()
