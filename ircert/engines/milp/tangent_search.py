"""The formulation `tangent`: radii minimised by a solver over parts of the ball, collisions exact as always."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

from ircert.engines.base import Answer, Cause, Progress, Question, Stop
from ircert.engines.judge import NOTHING
from ircert.engines.milp.answers import of_a_ball, of_a_search
from ircert.engines.milp.ball import Ball, optimum_of
from ircert.engines.milp.bisection import FIRST
from ircert.engines.milp.collisions import Collisions
from ircert.engines.milp.near_diagonal import WIDER
from ircert.engines.milp.part_search import FEW_INPUTS
from ircert.engines.milp.tangent import Tangents, tangents
from ircert.engines.optimum.far_pairs import FarPairs
from ircert.engines.sharing import good_radius
from ircert.limits import Deadline, OutOfTime, until
from ircert.result.radius import End

GROWTH = 2.0
BETWEEN = 6
"""So many radii are tried between one that was reached and one that was not."""
SMALLEST = 1 / 16
"""With many inputs growing starts from this part of the first radius."""
LONGEST = 60.0
"""Seconds without a time limit."""
EVIDENCE = "the programs of tangents and of pairs further apart: no violation is nearer if the solver"
UNASKED = "bounds in floats exclude every tangent and every pair further apart; no program was left for a solver"
"""Its trust is still that of a solver: the search adds up parts and distances without rounding all of them outward."""


@dataclass
class TangentSearch:
    """Radii by the programs of `ircert.engines.milp.tangent`; certified ends have the trust of a solver."""

    question: Question
    found: Tangents | None = None
    stop: Stop | None = None
    solved: int = 0
    seconds: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.collisions = Collisions(self.question)
        self.clear = good_radius(self.question)

    def answer(self) -> Answer:
        """Minimise radii up to larger and larger ones, until something is in the way."""
        left = self.question.deadline.left()
        limit = Deadline(left if left < math.inf else LONGEST)
        try:
            with until(limit):
                self._grow(limit)
        except KeyboardInterrupt:
            self.stop = Stop(Cause.INTERRUPTED, work=self._work)
        except OutOfTime:
            pass  # what was found before counts
        except ArithmeticError as error:
            self.stop = Stop(Cause.RANGE, str(error), self._work)
        return replace(self._answered(), backend=self.backend, formulation="tangent")

    @property
    def backend(self) -> str | None:
        """The solver that answered, None where none did."""
        return None if self.found is None or not self.solved else self.found.backend

    def _grow(self, limit: Deadline) -> None:
        """Larger radii while everything up to them is closed, then some between what is and what is not."""
        reach = self.question.reach * WIDER
        first = FIRST if len(self.question.center) <= FEW_INPUTS else SMALLEST * FIRST
        upper = reach if self.question.radius is not None else min(reach, max(first, GROWTH * self.clear))
        between = 0
        while not limit.passed() and not self._is_spent:
            found = self._asked(upper, limit.left())
            self.clear = max(self.clear, found.certified)
            short = found.certified < upper * (1 - 2.0**-14)
            done = upper >= reach if not short else self.question.radius is not None
            if done or self._has_collision or between >= BETWEEN or self._is_interrupted:
                return
            if short:
                reach = upper
            if short or between:
                between += 1
                upper = (self.clear + reach) / 2
            else:
                upper = min(reach, GROWTH * upper)

    def _asked(self, upper: float, seconds: float) -> Tangents:
        found = tangents(
            self.question, upper, self.clear, seconds, lambda what, at: self._report(f"{what}: {at:g} of {upper:g}")
        )
        self.found, self.solved = found, self.solved + found.solved
        for name, spent in found.seconds.items():
            self.seconds[name] = self.seconds.get(name, 0.0) + spent
        self.stop = None if found.stop is None else replace(found.stop, work=self._work)
        self.collisions.look(reversed(found.candidates), upper)
        return found

    def _answered(self) -> Answer:
        radius = self.question.radius
        clear = min(self.clear, self.question.reach)
        evidence = UNASKED if self.backend is None else f"{EVIDENCE} ({self.backend}) is right"
        if radius is None:
            certified = End(clear, evidence) if clear > 0 else End(0.0, NOTHING)
            return of_a_search(self.question, self.collisions, certified, self._why(), self._stats())
        pair = self.collisions.within(radius)
        ball = Ball(radius, clear, pair, optimum_of(self.question, radius, FarPairs(None, None), pair))
        return of_a_ball(self.question, ball, evidence, self._why(), self._stats())

    def _why(self) -> Stop:
        if self.stop is not None:
            return self.stop
        cut = self.found is not None and self.found.cut and self.question.deadline.left() < math.inf
        if cut or self.question.deadline.passed():
            return Stop(Cause.TIME, work=self._work)
        if self._is_spent:
            return Stop(Cause.BUDGET, work=self._work)
        if self._has_collision:
            return Stop(Cause.UNDECIDED, "the bounds of the programs fall short of the collision", self._work)
        return Stop(Cause.UNDECIDED, f"the programs reached the radius {self.clear:g}", self._work)

    @property
    def _work(self) -> dict[str, int]:
        return {"programs": self.solved}

    @property
    def _is_spent(self) -> bool:
        return self.question.budget is not None and self.solved >= self.question.budget

    @property
    def _is_interrupted(self) -> bool:
        return self.stop is not None and self.stop.cause is Cause.INTERRUPTED

    @property
    def _has_collision(self) -> bool:
        """Whether one is known in the ball in question, and not only a little beyond it."""
        return self.collisions.is_zero or self.collisions.within(self.question.reach) is not None

    def _report(self, text: str) -> None:
        distance = self.collisions.distance
        self.question.report(Progress(self.clear, None if math.isinf(distance) else distance, text))

    def _stats(self) -> dict[str, Any]:
        stats: dict[str, Any] = {"neurons": self.collisions.setting.neurons, "solved": self.solved}
        stats["seconds"] = dict(self.seconds)
        if self.found is not None and math.isfinite(self.found.j0_lower):
            stats["j0_lower"] = self.found.j0_lower
        return stats
