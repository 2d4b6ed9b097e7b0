"""Watching a run: the user's progress callback, Ctrl-C and SIGTERM, all safe to meet inside a solver's own code."""

from __future__ import annotations

import signal
import threading
import time
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from ircert.limits import is_over

if TYPE_CHECKING:
    from collections.abc import Callable

    from ircert.backends.base import Progress

SIGNALS = (signal.SIGINT, signal.SIGTERM)
PAUSE = 0.05
"""Seconds between two reports, unless a better point was found: solvers call back thousands of times a second."""


class Watch:
    """A progress callback that never raises; what went wrong is raised when the run is over.

    Calling it says whether to stop: because the user's callback said so, because it raised, because the computation
    around the run should end (`ircert.limits`), or because of a signal that Python handles: Ctrl-C, and SIGTERM where
    a program has a handler for it.
    """

    def __init__(self, progress: Callable[[Progress], bool | None] | None) -> None:
        self._progress = progress
        self._error: BaseException | None = None
        self._handlers: dict[int, Any] = {}
        self._noted: list[int] = []
        self._last: float | None = None
        self._value: float | None = None
        self.stopped = False

    @property
    def interrupted(self) -> bool:
        """Whether a signal came."""
        return bool(self._noted)

    def __call__(self, progress: Progress) -> bool:
        """Pass on what is known, and say whether to stop."""
        if not self.stopped and self._is_due(progress):
            self._report(progress)
        return self.stopped or self.interrupted or is_over()

    def __enter__(self) -> Watch:
        # An exception must not be raised inside a solver's frames, so that signals only leave a note meanwhile.
        if threading.current_thread() is threading.main_thread():
            found = {number: signal.getsignal(number) for number in SIGNALS}
            self._handlers = {number: handler for number, handler in found.items() if callable(handler)}
        for number in self._handlers:
            signal.signal(number, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        for number in self._noted:
            self._handlers[number](number, None)  # Python's own for Ctrl-C raises KeyboardInterrupt
        if self._error is not None:
            raise self._error

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._noted.append(number)

    def _is_due(self, progress: Progress) -> bool:
        if self._progress is None:
            return False
        now = time.monotonic()
        if self._last is not None and now - self._last < PAUSE and progress.value == self._value:
            return False
        self._last, self._value = now, progress.value
        return True

    def _report(self, progress: Progress) -> None:
        assert self._progress is not None
        try:
            self.stopped = bool(self._progress(progress))
        except BaseException as error:
            self._error, self.stopped = error, True
