"""Several ways to the same answer, side by side: which one is short is not known before.

Each way gets a part of the effort in turn, twice as much in every round, so that no more is lost than a factor. Efforts
are counted, not timed: the same question is answered in the same way on any machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from ircert.engines.boxes.problem.outcome import Counts, Outcome

Stop: TypeAlias = Callable[[], bool]
Way: TypeAlias = Callable[[Stop], Outcome]
"""Goes on until it is told to stop, each time from where it was; stopping of its own accord, it has given up."""

FIRST = 1_000
"""The effort of a first turn, in boxes."""


@dataclass
class Portfolio:
    """Ways in the order of their turns, each with its share of the effort: one that is expected to win gets more."""

    counts: Counts
    ways: list[tuple[Way, float]]
    turn: int = 0
    effort: int = FIRST
    used: int = 0

    def advance(self, stop: Stop) -> Outcome:
        """Go on until a way has an answer, or none is left."""
        while self.ways:
            start = self.counts.effort
            until = self._until(stop)
            outcome = self.ways[self.turn][0](until)
            if outcome != "stopped":
                return outcome
            # a turn that is interrupted goes on next time
            self.used += self.counts.effort - start
            if not until():
                self.ways.pop(self.turn)
                self._next(self.turn)
            elif self.used > self._allowed:
                self._next(self.turn + 1)
            if stop():
                break
        return "stopped"

    @property
    def _allowed(self) -> float:
        if len(self.ways) == 1:
            return math.inf
        return self.effort * self.ways[self.turn][1]

    def _until(self, stop: Stop) -> Stop:
        end = self.counts.effort + self._allowed - self.used
        return lambda: stop() or self.counts.effort > end

    def _next(self, turn: int) -> None:
        self.turn, self.used = turn, 0
        if turn >= len(self.ways):
            self.turn, self.effort = 0, 2 * self.effort
