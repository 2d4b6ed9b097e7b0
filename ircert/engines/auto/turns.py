"""Whom `auto` asks in which order, by what engines declare: a cheap trial, a predicted effort, or no end in sight.

Few linear regions are enumerated faster than anything is proved by boxes; with thousands of them it is the other way
round, because a box may close many at once. No way always ends, so each engine goes on from what others have proved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count

from ircert.engines.base import Effort, Question
from ircert.limits import Deadline

SHARE = 0.5
"""The part of the time left for a turn that another one follows."""
FIRST = 4.0
"""Where several engines have no end in sight, each gets work for about this many seconds, then for twice as many …"""


@dataclass(frozen=True)
class Turn:
    """An engine that is asked, what it may do, and the part of the time left that it may take."""

    engine: str
    budget: int | None = None
    share: float = 1.0

    def of(self, question: Question) -> Question:
        """The question for this turn."""
        deadline = question.deadline if self.share == 1.0 else Deadline(self.share * question.deadline.left())
        return replace(question, budget=self.budget, deadline=deadline)


@dataclass(frozen=True)
class Plan:
    """One turn after the other, until one of them answers.

    able:  what the engines that do not refuse declare
    left:  seconds until time is over
    tired: engines that have nothing more to say, however much they may do; it grows from turn to turn
    """

    able: Mapping[str, Effort]
    left: Callable[[], float]
    tired: Collection[str] = ()

    def __iter__(self) -> Iterator[Turn]:
        return (turn for turn in self._turns() if turn.engine not in self.tired)

    def _turns(self) -> Iterator[Turn]:
        if len(self.able) == 1:
            yield from map(Turn, self.able)
            return
        for name in self._sorted(lambda effort: effort.trial or math.inf):
            # they grow outward: however much there is in all, what comes before the first violation may be little
            yield Turn(name, self.able[name].trial)
        whole = {name: effort.whole() for name, effort in self.able.items() if effort.whole is not None}
        near = {name: units for name, units in whole.items() if self._is_affordable(self.able[name], units)}
        endless = [name for name in self.able if name not in whole]
        for name in sorted(near, key=lambda name: near[name] / self.able[name].rate):
            seconds = max(near[name], self.able[name].trial) / self.able[name].rate
            yield from (Turn(other, int(seconds * self.able[other].rate), SHARE) for other in endless)
            yield Turn(name)
        # what is beyond reach is tried where nothing else is left
        yield from self._growing(endless) if endless else map(Turn, sorted(whole, key=whole.__getitem__))

    def _sorted(self, units: Callable[[Effort], float]) -> list[str]:
        """The engines for which this is finite, by the time it takes."""
        costs = {name: units(effort) / effort.rate for name, effort in self.able.items()}
        return sorted((name for name, cost in costs.items() if cost < math.inf), key=costs.__getitem__)

    def _is_affordable(self, effort: Effort, units: float) -> bool:
        return units < math.inf and units <= min(effort.most, effort.rate * SHARE * self.left())

    def _growing(self, endless: list[str]) -> Iterator[Turn]:
        """Turns of growing budgets, so that none waits for ever for another; the last one has all that is left."""
        for doubled in count():
            seconds = FIRST * 2**doubled
            going = [name for name in endless if name not in self.tired]
            for name in going:
                if len(going) == 1 or seconds > self.left():
                    yield Turn(name)
                    return
                yield Turn(name, int(seconds * self.able[name].rate), SHARE)
            if not going:
                return
