"""A process that works on shares: it reads them from its input, one after the other, and writes replies to its output.

Its life is that of its input: when the process that started it ends, however it ends, so does this one.
"""

from __future__ import annotations

import os
import pickle
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import BinaryIO

import numpy as np

from ircert.engines.boxes.cutting.orientation import Orientation
from ircert.engines.boxes.cutting.pair_search import PairSearch
from ircert.engines.boxes.effort.divisible import Divisible, Reply, Share, Subject
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.boxes.falsification.falsifier import Falsifier
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.engines.boxes.one_matrix.cover import Cover
from ircert.engines.boxes.one_matrix.domination import OneMatrix
from ircert.engines.boxes.one_matrix.points import Points
from ircert.engines.boxes.problem.outcome import Counts
from ircert.engines.boxes.trees.phase_tree import Tools
from ircert.limits import until
from ircert.processes import Failure, channels, write

KEPT = 4
"""Searches that a process remembers, the latest ones."""


@dataclass(frozen=True, eq=False)
class Order:
    """A share, for so much effort and at most so many seconds; the subject comes with the first share of a search."""

    number: int
    subject: Subject | None
    share: Share
    effort: int
    seconds: float


@dataclass
class Worker:
    """The searches of this process."""

    orphaned: Callable[[], bool]
    counts: Counts = field(default_factory=Counts)
    searches: dict[int, Divisible] = field(default_factory=dict)
    end: float = 0.0

    def answer(self, order: Order) -> Reply:
        """Work on a share."""
        self.end = time.monotonic() + order.seconds
        if order.subject is not None:
            self.searches[order.number] = self._search(order.subject)
            while len(self.searches) > KEPT:
                del self.searches[min(self.searches)]
        with until(self._over), np.errstate(all="ignore"):
            return self.searches[order.number].work_on(order.share, order.effort, self._over)

    def _over(self) -> bool:
        return time.monotonic() > self.end or self.orphaned()

    def _search(self, subject: Subject) -> Divisible:
        network = Batches(subject.settings[-1])
        if subject.kind == "cover":
            matrix = OneMatrix(network, np.array(subject.matrix), subject.least)
            return Cover(matrix, Points(network.setting), self.counts, _silent)
        descents = [Descent(setting, ExactMaps(setting), lambda: not self._over()) for setting in subject.descents]
        if subject.kind == "inside":
            falsifier = Falsifier(subject.settings[-1], descents[-1])
            return Orientation(network, falsifier, self.counts, _silent)
        given = zip(subject.settings, descents, strict=True)
        tools = [Tools.of(setting, descent, self.counts) for setting, descent in given]
        return PairSearch(network, tools, self.counts, _silent, boundary=subject.boundary, nearer=subject.nearer)


def _silent() -> None:
    """Nobody is listening."""


def main() -> None:
    """Work until the input ends."""
    source, target = channels()
    parent = os.getppid()
    worker = Worker(lambda: os.getppid() != parent)
    try:
        while True:
            _serve(worker, source, target)
    except (EOFError, BrokenPipeError):
        os._exit(0)  # nobody is left to flush for


def _serve(worker: Worker, source: BinaryIO, target: BinaryIO) -> None:
    order: Order = pickle.load(source)
    found: Reply | Failure
    try:
        found = worker.answer(order)
    except Exception as error:
        found = Failure.of(error, traceback.format_exc())
    write(target, found)
