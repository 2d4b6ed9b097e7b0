"""How much commands say: -q (nothing but what is asked for), or -v (what the search does, on stderr) and -vv."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

QUIET, NORMAL = -1, 0
LEVEL: ContextVar[int] = ContextVar("LEVEL", default=NORMAL)
"""QUIET, NORMAL, or how often -v was given."""


def add_verbosity_options(parser: argparse.ArgumentParser) -> None:
    """Those of every command."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "-v", "--verbose", action="count", default=NORMAL, help="say on stderr what is done; -vv: all of it"
    )
    group.add_argument("-q", "--quiet", action="store_true", help="no text but what is asked for: the exit code tells")


@contextmanager
def said(options: argparse.Namespace) -> Iterator[None]:
    """As much is said as the options want."""
    level = QUIET if getattr(options, "quiet", False) else getattr(options, "verbose", NORMAL)
    token = LEVEL.set(level)
    log, handler = logging.getLogger("ircert"), _Lines()
    before = log.level
    if level > NORMAL:
        log.setLevel(logging.INFO if level == 1 else logging.DEBUG)
        log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before)
        LEVEL.reset(token)


class _Lines(logging.Handler):
    """Lines on stderr with the seconds since the program began; a stream that is closed or full ends nothing."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one."""
        try:
            print(f"{record.relativeCreated / 1000:9.3f} s  {record.getMessage()}", file=sys.stderr, flush=True)
        except (OSError, ValueError):
            self.setLevel(logging.CRITICAL + 1)
