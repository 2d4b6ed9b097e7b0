"""Searches whose state is a frontier of independent pieces: one process works it off in waves, several in rounds.

In a round the next pieces are dealt out, each process works on its share for a while as if there were nothing else,
and what is left comes back. Below the radius `keys` nothing is wrong in a piece: so a share knows by itself what may be
left out of it, and the ball is good up to the least key of all pieces.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, Protocol, Self, TypeAlias

import numpy as np

from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.boxes.problem.outcome import Counts, Outcome, Stopped, Violated
from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.pair import Pair
from ircert.ir.arrays import Array, Indices, Mask
from ircert.limits import OutOfTime

MOST = 3_000_000
"""Pieces that memory should hold."""
Best: TypeAlias = tuple[Fraction, Pair] | None


class Frontier(Protocol):
    """Pieces that are not closed, as arrays."""

    keys: Array

    def take(self, chosen: Indices | Mask) -> Self:
        """Some of them."""
        ...

    def plus(self, *others: Self) -> Self:
        """These and others."""
        ...


@dataclass(frozen=True)
class Subject:
    """What a search is about: all that a process needs to make one like it.

    settings: for `pairs`, those of the trees, from the constrained outputs alone to all that must agree
    descents: where their violations may lie
    matrix:   for `cover`, the rows of C, bit by bit; least: what is taken off sym(C J)
    """

    kind: Literal["inside", "pairs", "cover"]
    settings: tuple[Setting, ...]
    descents: tuple[Setting, ...] = ()
    boundary: bool = False
    nearer: float = np.inf
    matrix: tuple[tuple[float, ...], ...] = ()
    least: float = 0.0


@dataclass(frozen=True, eq=False)
class Share:
    """Pieces for one process, and what is known elsewhere.

    root:  the radius of the ball that all pieces together cover
    clear: a radius that is known to be good
    told:  whatever else a search of this kind should know
    """

    frontier: Any
    radius: float
    root: float
    clear: float
    told: Any


@dataclass(frozen=True, eq=False)
class Reply:
    """What is left of a share, and what was found; without an outcome there is more to do.

    found:   whatever a search of this kind brings back
    seconds: of processor time
    """

    outcome: Outcome | None
    frontier: Any
    found: Any
    counts: Counts
    seconds: float


class Processes(Protocol):
    """Those that shares are dealt out to."""

    @property
    def lot(self) -> int:
        """How many pieces a round takes."""
        ...

    def wants(self, pieces: int, effort: int) -> bool:
        """Whether a round is worth it with so many pieces, after so much effort."""
        ...

    def round(self, subject: Subject, deal: Callable[[int, int], Share]) -> list[Reply]:
        """The replies to all shares; deal(i, k) is the i-th of k."""
        ...


class Divisible(ABC):
    """A search for what is wrong in a ball; `reached` is the radius below which nothing is."""

    counts: Counts
    report: Callable[[], None]
    processes: Processes | None
    reached: float
    _frontier: Any
    _root: float

    @property
    @abstractmethod
    def _batch(self) -> int:
        """Pieces that are worked on at once."""

    @property
    @abstractmethod
    def subject(self) -> Subject:
        """What another process is told."""

    @abstractmethod
    def begin(self, radius: float) -> None:
        """Make the frontier reach as far as the radius."""

    @abstractmethod
    def _popped(self, radius: float, count: int) -> Any:
        """The next pieces below the radius, at most so many: they leave the frontier."""

    @abstractmethod
    def _worked(self, here: Any, radius: float, stop: Callable[[], bool]) -> Any:
        """What is left of some pieces; raises Violated or Stopped."""

    @abstractmethod
    def _told(self) -> Any:
        """What goes with every share, beside its pieces."""

    @abstractmethod
    def _hear(self, told: Any) -> None:
        """Begin a share with what came with it."""

    @abstractmethod
    def _found(self) -> Any:
        """What goes back, beside the pieces that are left."""

    @abstractmethod
    def _learn(self, found: Any) -> None:
        """Take in what another process found."""

    def advance(self, radius: float, stop: Callable[[], bool]) -> Outcome:
        """Go on until everything within the radius is closed."""
        self.begin(radius)
        return self._ended(radius, stop, np.inf) or "stopped"

    def _ended(self, radius: float, stop: Callable[[], bool], effort: float) -> Outcome | None:
        """How the search ended, if it did before so much was counted; time that ends is "stopped"."""
        outcome: Outcome | None = None
        try:
            while outcome is None and self.counts.effort <= effort:
                outcome = self.step(radius, stop)
        except (Stopped, OutOfTime):
            return "stopped"
        return outcome

    def step(self, radius: float, stop: Callable[[], bool]) -> Outcome | None:
        """One wave or round; how the search ended, if it did. Raises Stopped or OutOfTime where time ends inside."""
        keys = self._frontier.keys
        # in this order: what is not a number says nothing
        self.reached = max(self.reached, min(float(keys.min(initial=np.inf)), self._root))
        pieces = int((keys < radius).sum())
        if not pieces:
            return "stopped" if np.isnan(keys).any() else "closed"
        if stop() or len(keys) > MOST:
            return "stopped"
        try:
            if self.processes is not None and self.processes.wants(pieces, self.counts.effort):
                self._round(self.processes, radius)
            else:
                self._wave(radius, stop)
        except Violated:
            return "violated"
        self.report()
        return None

    def _wave(self, radius: float, stop: Callable[[], bool]) -> None:
        here = self._popped(radius, self._batch)
        try:
            left = self._worked(here, radius, stop)
        except BaseException:  # whatever ends a wave leaves its pieces open
            self._frontier = self._frontier.plus(here)
            raise
        self._frontier = self._frontier.plus(left)

    # --- rounds ------------------------------------------------------------------------------------------------------

    def _round(self, processes: Processes, radius: float) -> None:
        before = self._frontier
        here = self._popped(radius, processes.lot)

        def deal(i: int, k: int) -> Share:
            mine = here.take(np.arange(i, len(here.keys), k))
            return Share(mine, radius, self._root, self._clear, self._told())

        try:
            replies = processes.round(self.subject, deal)
        except BaseException:
            self._frontier = before
            raise
        self._frontier = self._frontier.plus(*(reply.frontier for reply in replies))
        for reply in replies:
            self.counts.add(reply.counts)
            self._learn(reply.found)
        outcomes = {reply.outcome for reply in replies}
        if "violated" in outcomes:
            raise Violated
        if "stopped" in outcomes:
            raise Stopped

    @property
    def _clear(self) -> float:
        """A radius that is known to be good."""
        return self.reached

    def work_on(self, share: Share, effort: int, stop: Callable[[], bool]) -> Reply:
        """Work on a share with so much effort, in boxes, unless it ends before."""
        before, started = replace(self.counts), time.process_time()
        # what the last share reached says nothing about this one
        self._frontier, self._root, self.reached = share.frontier, share.root, share.clear
        self._hear(share.told)
        outcome = self._ended(share.radius, stop, before.effort + effort)
        left, self._frontier = self._frontier, None
        seconds = time.process_time() - started
        return Reply(outcome, left, self._found(), self.counts.since(before), seconds)


class ViolationSearch(Divisible):
    """A search for violations, the nearest of which all processes know."""

    @property
    @abstractmethod
    def descent(self) -> Descent:
        """Who has the nearest violation."""

    def _told(self) -> tuple[Best, bool]:
        return self.descent.best, self.descent.infimum_is_zero

    def _hear(self, told: tuple[Best, bool]) -> None:
        self._learn(told)

    def _found(self) -> tuple[Best, bool]:
        return self._told()

    def _learn(self, found: tuple[Best, bool]) -> None:
        descent, (best, infimum_is_zero) = self.descent, found
        if best is not None and (descent.best is None or best[0] < descent.best[0]):
            descent.best = best
        descent.infimum_is_zero |= infimum_is_zero
