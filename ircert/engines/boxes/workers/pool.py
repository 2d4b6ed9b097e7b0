"""Several processes for the large frontiers of one question, started when there is enough to do."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ircert.engines.boxes.enclosures.batches import MOST as BATCH
from ircert.engines.boxes.search.divisible import Reply, Share, Subject
from ircert.engines.boxes.workers.worker import KEPT, Failure, Order
from ircert.errors import ProcessError

MOST = 64
"""More processes than this wait for the one that deals out."""
ENOUGH = 100_000
"""Effort before processes are started, in boxes: seconds, because starting them takes one."""
FEWEST = 128
"""Pieces for each process that a round needs."""
LOT = BATCH // 2
"""Pieces for each process in a round, at most."""
EFFORT = 10_000
"""What a process does in a round: much more than dealing out takes, and little enough to share evenly."""
START = (
    "import signal; [signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)]; "
    "import sys; sys.path[:] = sys.argv[1:]; from ircert.engines.boxes.workers.worker import main; main()"
)
"""Not `multiprocessing`: it would run the script that asks, again, in every process."""
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}


@dataclass
class Crew:
    """Processes that work on shares; without a deadline their replies depend on the questions alone.

    threads: how many there are
    left:    the seconds until time is over
    rounds:  how often shares were dealt out
    busiest: processor time of the process that had most to do, over all rounds
    """

    threads: int
    left: Callable[[], float]
    rounds: int = 0
    busiest: float = 0.0
    _running: list[subprocess.Popen[bytes]] = field(default_factory=list, repr=False)
    _numbers: dict[Subject, int] = field(default_factory=dict, repr=False)
    _next: int = 0

    def __post_init__(self) -> None:
        self.threads = min(self.threads, MOST)

    @property
    def lot(self) -> int:
        """How many pieces a round takes."""
        return LOT * self.threads

    def wants(self, pieces: int, effort: int) -> bool:
        """Whether a round is worth it with so many pieces, after so much effort."""
        return self.threads > 1 and pieces >= FEWEST * self.threads and (bool(self._running) or effort >= ENOUGH)

    def round(self, subject: Subject, deal: Callable[[int, int], Share]) -> list[Reply]:
        """The replies to all shares; deal(i, k) is the i-th of k. An error of one process is raised here."""
        try:
            if not self._running:
                self._start()
            number, new = self._number(subject)
            for i, process in enumerate(self._running):
                share = deal(i, self.threads)
                _send(process, Order(number, subject if new else None, share, EFFORT, self.left()))
            self.rounds += 1
            # processes that are ready before wait with their reply
            replies = [_received(process) for process in self._running]
            self.busiest += max(reply.seconds for reply in replies)
            return replies
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End all processes."""
        for process in self._running:
            process.kill()
        for process in self._running:
            # waits, and closes the pipes
            process.communicate()
        self._running, self._numbers = [], {}

    def _start(self) -> None:
        command = [sys.executable, "-c", START, *sys.path]
        environment = {**os.environ, **ONE_THREAD}
        try:
            with _blocked_signals():
                for _ in range(self.threads):
                    self._running.append(
                        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
                    )
        except OSError as error:
            raise ProcessError(f"a process could not be started ({error})") from error

    def _number(self, subject: Subject) -> tuple[int, bool]:
        """A number for the search, and whether processes do not know it yet or not any more."""
        if subject in self._numbers:
            return self._numbers[subject], False
        self._next += 1
        self._numbers[subject] = self._next
        while len(self._numbers) > KEPT:
            del self._numbers[next(iter(self._numbers))]
        return self._next, True


@contextmanager
def _blocked_signals() -> Iterator[None]:
    """Processes that start in here never see Ctrl-C and SIGTERM, which may go to all of them: this one ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _send(process: subprocess.Popen[bytes], order: Order) -> None:
    assert process.stdin is not None
    try:
        pickle.dump(order, process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
        process.stdin.flush()
    except OSError as error:
        raise _ended(process) from error


def _received(process: subprocess.Popen[bytes]) -> Reply:
    assert process.stdout is not None
    try:
        found: Reply | Failure = pickle.load(process.stdout)
    except (EOFError, pickle.UnpicklingError) as error:
        raise _ended(process) from error
    if isinstance(found, Reply):
        return found
    failed = found.error or RuntimeError("an error in another process")
    failed.add_note(found.text)
    raise failed


def _ended(process: subprocess.Popen[bytes]) -> ProcessError:
    return ProcessError(f"another process ended by itself (exit code {process.wait()})")
