"""Solvers in a process of their own, which is killed where they do not stop when they should.

Solvers overrun their time limits: HiGHS asks the clock neither in presolve nor in the factorisations of the first
relaxation, which take a second from 100,000 nonzeros on; CBC hears nothing at all during a run. No callback comes at
those moments, and a thread cannot be ended from outside. So large programs are solved in another process. It tells the
bound and the points it finds, so that a run that is killed still has its last bound. One process serves a whole
question: it takes about 0.3 s to start.
"""

from __future__ import annotations

import math
import pickle
import queue
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

from ircert import backends
from ircert.backends.answers import judged
from ircert.backends.base import Limits, Outcome, Progress, Solver, Status
from ircert.backends.solver_worker import READY, STOP, Job
from ircert.errors import BackendError, IrcertError, ProcessError
from ircert.ir.arrays import Array
from ircert.limits import is_over
from ircert.processes import code_of, ended, ended_by_itself, send, started, unless_failed
from ircert.programs.program import Program

START = code_of("ircert.backends.solver_worker")
LARGE = 20_000
"""Programs with fewer nonzeros stay here, where a solver can be told to stop: HiGHS overruns such a limit by 0.1 s."""
TICK = 0.05
"""Seconds between two looks at the clock, and at what else may end a run."""
GRACE, SHARE = 0.2, 0.05
"""Seconds, and part of the time limit, after which a solver that should have stopped is killed."""

EARLIER = 0.9
"""A solver that tells nothing before its end gets this part of the time: what it knows would be lost with it."""


@dataclass
class _Known:
    """What a run has told, and what it is asked for; `tells`: whether it tells anything before its end."""

    job: Job
    tells: bool
    started: float
    value: float | None = None
    bound: float | None = None
    nodes: int = 0
    point: Array | None = None

    def note(self, told: Progress) -> None:
        """Later words are better, but for those that are missing."""
        self.value = self.value if told.value is None else told.value
        self.bound = self.bound if told.bound is None else told.bound
        self.point = self.point if told.point is None else told.point
        self.nodes = max(self.nodes, told.nodes)

    @property
    def seconds(self) -> float:
        """Since it was asked."""
        return time.monotonic() - self.started

    def progress(self) -> Progress:
        """For whoever watches."""
        return Progress(self.seconds, self.value, self.bound, self.nodes)

    def outcome(self, status: Status, message: str) -> Outcome:
        """What is left of a run that was killed."""
        known: dict[str, Any] = {"point": self.point, "value": None, "bound": self.bound, "nodes": self.nodes}
        return judged(self.job.program, self.job.backend, status, **known, seconds=self.seconds, message=message)


class SolverProcess:
    """A process that solves programs, started with the first one."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._words: queue.Queue[Any] = queue.Queue()
        self._ready = False

    def start(self) -> None:
        """Begin to start, unless it runs; whoever knows that a program will come does it before."""
        if self._process is not None:
            return
        self._ready, self._words = False, queue.Queue()
        self._process = started(START)
        threading.Thread(target=_listen, args=(self._process, self._words), daemon=True).start()

    def close(self) -> None:
        """End the process, whatever it does."""
        if self._process is not None:
            ended([self._process])
            self._process = None

    def solve(self, solver: Solver, program: Program, limits: Limits) -> Outcome:
        """The outcome of a run, or what is known of it when time is over; `limits.progress` says whether to stop."""
        known = _Known(Job(solver.name, program, replace(limits, progress=None)), solver.stops, time.monotonic())
        try:
            self.start()
            return self._run(known, limits)
        except ProcessError as error:
            self.close()
            raise BackendError(error.problem, backend=solver.name, remedy="try another backend") from error
        except IrcertError:  # the solver's own, after which the process is as before
            raise
        except BaseException:
            self.close()
            raise

    def _run(self, known: _Known, limits: Limits) -> Outcome:
        end = math.inf if limits.time_limit is None else known.started + limits.time_limit
        if not self._is_given(known, limits, end):
            return known.outcome(Status.TIME_LIMIT, "there was no time to start it")
        grace = GRACE if limits.time_limit is None else max(GRACE, SHARE * limits.time_limit)
        status = Status.TIME_LIMIT
        while time.monotonic() < end + grace:
            word = self._word(end + grace)
            if isinstance(word, Outcome):
                return replace(word, seconds=known.seconds)
            if isinstance(word, Progress):
                known.note(word)
            if status is Status.TIME_LIMIT and _should_stop(known, limits):
                status, end, grace = Status.INTERRUPTED, min(end, time.monotonic()), GRACE
                send(self._alive, STOP)
        self.close()
        return known.outcome(status, "it did not stop in time and was ended")

    def _is_given(self, known: _Known, limits: Limits, end: float) -> bool:
        """Give the job to the process as soon as it listens; False where time is over before."""
        while not self._ready:
            if time.monotonic() >= end or _should_stop(known, limits):
                return False
            self._ready = self._word(end) == READY
        left = None if end == math.inf else max(0.0, end - time.monotonic()) * (1.0 if known.tells else EARLIER)
        send(self._alive, replace(known.job, limits=replace(known.job.limits, time_limit=left)))
        return True

    @property
    def _alive(self) -> subprocess.Popen[bytes]:
        assert self._process is not None
        return self._process

    def _word(self, end: float) -> Any:
        """What the process said, or None after a tick without a word."""
        try:
            word = self._words.get(timeout=max(0.0, min(TICK, end - time.monotonic())))
        except queue.Empty:
            return None
        if word is _END:
            raise ended_by_itself(self._alive)
        return unless_failed(word)


_END = object()


def _listen(process: subprocess.Popen[bytes], words: queue.Queue[Any]) -> None:
    """Read what a process says until it ends; in a thread, because pipes have no time limits everywhere."""
    assert process.stdout is not None
    try:
        while True:
            words.put(pickle.load(process.stdout))
    except (EOFError, OSError, ValueError, pickle.UnpicklingError):
        words.put(_END)


def _should_stop(known: _Known, limits: Limits) -> bool:
    return is_over() or (limits.progress is not None and bool(limits.progress(known.progress())))


# --- where it is used ------------------------------------------------------------------------------------------------

_current: ContextVar[SolverProcess | None] = ContextVar("solver_process", default=None)


@contextmanager
def one_process() -> Iterator[None]:
    """Large programs inside are solved in another process, which ends with the block."""
    process = SolverProcess()
    token = _current.set(process)
    try:
        yield
    finally:
        _current.reset(token)
        process.close()


def expect(nonzeros: int) -> None:
    """A program of about this size will come: where it will be solved in another process, that one begins to start."""
    process = _current.get()
    if process is not None and nonzeros >= LARGE:
        process.start()


def process_for(solver: Solver, program: Program) -> SolverProcess | None:
    """Where to solve a program, if not here."""
    process = _current.get()
    deaf = not solver.stops and bool(program.integer.any())
    if process is None or not (deaf or program.matrix.nnz >= LARGE):
        return None
    # another process knows a solver by its name alone
    known = solver.name in backends.names() and type(backends.get(solver.name)) is type(solver)
    return process if known else None
