"""Several ways to the same answer, side by side: which one is short is not known before.

Each way gets a part of the effort in turn, twice as much in every round, so that no more is lost than a factor. Efforts
are counted, not timed: the same question is answered in the same way on any machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from ircert.proofs.outcome import Counts, Outcome

Stop: TypeAlias = Callable[[], bool]
Way: TypeAlias = Callable[[Stop], Outcome]
"""Goes on until it is told to stop, each time from where it was; stopping of its own accord, it has given up."""

FIRST = 1_000
"""The effort of a first turn, in boxes."""
LAST = 2
"""How many times as much the last way gets."""


@dataclass
class Portfolio:
    """Ways in the order of their turns: those that find violations first, then those that need none."""

    counts: Counts
    ways: list[Way]
    turn: int = 0
    effort: int = FIRST

    def advance(self, stop: Stop) -> Outcome:
        """Go on until a way has an answer, or none is left."""
        while self.ways:
            way = self.ways[self.turn]
            until = stop if len(self.ways) == 1 else self._until(stop)
            outcome = way(until)
            if outcome != "stopped" or stop():
                return outcome
            if until():
                self.turn += 1
            else:
                self.ways.pop(self.turn)
            if self.turn >= len(self.ways):
                self.turn, self.effort = 0, 2 * self.effort
        return "stopped"

    def _until(self, stop: Stop) -> Stop:
        end = self.counts.effort + self.effort * (LAST if self.turn == len(self.ways) - 1 else 1)
        return lambda: stop() or self.counts.effort > end
