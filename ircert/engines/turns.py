"""Whom `auto` asks in which order: linear regions where they are few, boxes and trees of phases where they are many.

Few regions are enumerated faster than anything is proved by boxes; with thousands of them it is the other way round,
because a box may close many at once. Neither always ends, so each goes on from what the other has proved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ircert.engines.base import Question
from ircert.engines.prediction import predicted_regions
from ircert.limits import Deadline

FEW = 8192
"""So many linear regions are enumerated before anything else is tried."""
WORK = 8
"""Boxes and pairs that take about as long as one linear region."""
LEAST = FEW
"""`milp` may do at least the work of that many regions."""
MOST = 10**6
"""With more regions predicted, enumerating them would fill the memory …"""
RATE = 2000.0
"""… and with more than this for each second that is left, the time."""
SHARE = 0.5
"""The part of the time left for a turn that another one follows."""


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


def turns(question: Question, able: list[str]) -> Iterator[Turn]:
    """One turn after the other, until one of them answers; `able` are the engines that do not refuse."""
    # the programs of tangents count no boxes, so that only time could end their turn
    if set(able) != {"regions", "milp"} or question.formulation == "tangent":
        yield from (Turn(name) for name in able)
        return
    # they grow outward: however many the ball holds, those before the first violation may be few
    yield Turn("regions", FEW)
    predicted = predicted_regions(question, question.reach)
    if predicted <= min(MOST, RATE * SHARE * question.deadline.left()):
        yield Turn("milp", int(WORK * max(predicted, LEAST)), SHARE)
        yield Turn("regions")
    yield Turn("milp")
