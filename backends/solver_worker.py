"""A process that solves programs, one after the other, and tells what it knows meanwhile.

A thread of it reads the input, so that a run hears that it should stop, and ends when nobody is left to hear.
"""

from __future__ import annotations

import os
import pickle
import queue
import threading
import traceback
from dataclasses import dataclass, field
from typing import BinaryIO

from ircert import backends
from ircert.backends.base import Limits, Outcome, Progress, Solver
from ircert.processes import Failure, channels, write
from ircert.programs.program import Program

READY, STOP = "ready", "stop"
"""The first word of the process, and the word to it in the middle of a run."""


@dataclass(frozen=True, eq=False)
class Job:
    """A program for a backend; the limits have no `progress`, which cannot travel."""

    backend: str
    program: Program
    limits: Limits


@dataclass
class Desk:
    """What was asked of this process."""

    source: BinaryIO
    jobs: queue.Queue[Job] = field(default_factory=queue.Queue)
    stop: threading.Event = field(default_factory=threading.Event)

    def listen(self) -> None:
        """Read until the input ends, and end the process then: solvers do not stop by themselves."""
        try:
            while True:
                what = pickle.load(self.source)
                self.stop.set() if what == STOP else self.jobs.put(what)
        finally:
            os._exit(0)


def main() -> None:
    """Solve until the input ends."""
    source, target = channels()
    desk = Desk(source)
    threading.Thread(target=desk.listen, daemon=True).start()
    try:
        write(target, READY)
        while True:
            job = desk.jobs.get()
            desk.stop.clear()
            write(target, _answer(job, desk.stop, target))
    except BrokenPipeError:
        os._exit(0)


def _answer(job: Job, stop: threading.Event, target: BinaryIO) -> Outcome | Failure:
    def tell(progress: Progress) -> bool:
        write(target, progress)
        return stop.is_set()

    try:
        solver = backends.get(job.backend)
        assert isinstance(solver, Solver)
        chosen = {name: getattr(job.limits, name) for name in ("time_limit", "gap", "threads", "seed", "tolerance")}
        return solver.solve(job.program, **chosen, progress=tell)
    except Exception as error:
        return Failure.of(error, traceback.format_exc())
