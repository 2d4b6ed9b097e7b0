"""Ctrl-C and SIGTERM: both end a command early, with what is known until then.

Where a command has a bracket to give, the first signal raises KeyboardInterrupt, which a search answers with what it
reached; elsewhere it ends the command, which no search may take for its own affair. SIGTERM counts once: schedulers and
`timeout` send it several times, and the bracket is still to be written. Ctrl-C, pressed again, ends the command at
once. Signals wait while a command holds them back, and while modules are imported, because those written in C turn an
interrupt in the middle of their import into other errors.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

SIGNALS = (signal.SIGINT, signal.SIGTERM)
AGAIN = 0.01
"""Seconds until a signal that came during an import is tried again."""


class Ended(BaseException):
    """The command was ended from outside; nobody but the command line catches it."""


class Interrupts:
    """The state of a process: whether a signal came, whether it still has to be raised, and whether it must wait."""

    def __init__(self) -> None:
        self._came = self._insists = False
        self._waits: int | None = None  # the signal that is still to be raised
        self._resent = False
        self._raises: type[BaseException] | None = None  # None while signals are held back

    def install(self) -> None:
        """Take over the signals that are not ignored (as a shell does for `&`); they are held back at first."""
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._receive)
        if hasattr(signal, "setitimer"):
            signal.signal(signal.SIGALRM, self._resend)
        sys.unraisablehook = self._unraisable

    def close(self) -> None:
        """From here on signals change nothing: the exit code is known."""
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, signal.SIG_IGN)
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)

    @contextmanager
    def open(self, raises: type[BaseException] = Ended) -> Iterator[None]:
        """In here signals raise something; one that waited does so at once."""
        self._raises = raises
        try:
            self._deliver(None)
            yield
        finally:
            self._raises = None

    def _receive(self, number: int, frame: FrameType | None) -> None:
        resent, self._resent = self._resent, False
        if self._came and not resent:
            if number != signal.SIGINT:
                return
            self._insists = True
        if not resent:
            self._came, self._waits = True, number
        self._deliver(frame)

    def _deliver(self, frame: FrameType | None) -> None:
        raises = Ended if self._insists else self._raises
        if self._waits is None or raises is None:
            return
        if _is_importing(frame) and hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, AGAIN)
            return
        self._waits = None
        raise raises

    def _resend(self, number: int, frame: FrameType | None) -> None:
        # as a signal, because whoever watches a solver's run has put a handler of its own there
        if self._waits is not None:
            self._resent = True
            signal.raise_signal(self._waits)

    def _unraisable(self, lost: UnraisableHookArgs) -> None:
        """An interrupt that met a destructor or a callback, where Python drops exceptions: it is raised again."""
        if lost.exc_type not in (KeyboardInterrupt, Ended):
            sys.__unraisablehook__(lost)
        elif hasattr(signal, "setitimer"):
            self._waits = signal.SIGINT
            signal.setitimer(signal.ITIMER_REAL, AGAIN)


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None and not frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    return frame is not None


INTERRUPTS = Interrupts()
