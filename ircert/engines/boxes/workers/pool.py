"""Several processes for the large frontiers of one question, started when there is enough to do."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field

from ircert.engines.boxes.effort.divisible import Reply, Share, Subject
from ircert.engines.boxes.enclosures.batches import MOST as BATCH
from ircert.engines.boxes.workers.worker import KEPT, Order
from ircert.processes import code_of, ended, received, send, started

MOST = 64
"""More processes than this wait for the one that deals out."""
ENOUGH = 30_000
"""Effort before processes are started, in boxes: seconds, because starting them takes one."""
FEWEST = 128
"""Pieces for each process that a round needs."""
LOT = BATCH // 2
"""Pieces for each process in a round, at most."""
EFFORT = 10_000
"""What a process does in a round: much more than dealing out takes, and little enough to share evenly."""
START = code_of("ircert.engines.boxes.workers.worker")


@dataclass
class WorkerPool:
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
                send(process, Order(number, subject if new else None, share, EFFORT, self.left()))
            self.rounds += 1
            # processes that are ready before wait with their reply
            replies: list[Reply] = [received(process) for process in self._running]
            self.busiest += max(reply.seconds for reply in replies)
            return replies
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End all processes."""
        ended(self._running)
        self._running, self._numbers = [], {}

    def _start(self) -> None:
        for _ in range(self.threads):
            self._running.append(started(START))

    def _number(self, subject: Subject) -> tuple[int, bool]:
        """A number for the search, and whether processes do not know it yet or not any more."""
        if subject in self._numbers:
            return self._numbers[subject], False
        self._next += 1
        self._numbers[subject] = self._next
        while len(self._numbers) > KEPT:
            del self._numbers[next(iter(self._numbers))]
        return self._next, True
