"""The formulation `paper`: a ball decided by the paper's program, and bisection on the radius where none is given."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from typing import Any

from ircert.engines.base import Answer, Cause, Progress, Question, Stop
from ircert.engines.judge import NOTHING
from ircert.engines.milp.answers import of_a_ball, of_a_search
from ircert.engines.milp.ball import Ball, decided
from ircert.engines.milp.bisection import Bisection
from ircert.engines.milp.collisions import Collisions
from ircert.engines.optimum.far_pairs import NO_TIME
from ircert.engines.sharing import good_radius
from ircert.errors import IrcertError
from ircert.limits import Allowance, Deadline, OutOfTime
from ircert.result.radius import End

LONGEST = 120.0
"""Seconds for one ball without a time limit."""
SHARE = 0.5
"""The part of the time left for one ball of a search."""
HALVES = {
    "local": "tangents with a thickness nearer ones",
    "pseudo": "programs around the centre nearer ones",
    "transform": "of the constrained outputs, tangents with a thickness nearer ones",
}


@dataclass
class PaperSearch:
    """One question being answered by balls; what each gave is kept."""

    question: Question
    balls: list[Ball] = field(default_factory=list)
    trouble: Stop | None = None
    seconds: float = 0.0

    def __post_init__(self) -> None:
        asked = self.question
        if len(asked.center) == 1 and asked.problem != "transform":  # on a line all norms are one
            asked = replace(asked, place=asked.place.simplest)
        self._limit = asked.deadline
        if asked.budget is not None:
            budget = asked.budget
            asked = replace(asked, deadline=Allowance(asked.deadline, lambda: self.solved >= budget))
        self.question = asked
        self.collisions = Collisions(asked)
        self.known = good_radius(asked)
        self.clear = 0.0

    def answer(self) -> Answer:
        """The verdict of the ball, or the bracket of the radius, as far as time allows."""
        try:
            if self.question.radius is None:
                self._bisect()
            else:
                self._ball(self.question.radius, 1.0)
        except KeyboardInterrupt:
            self.trouble = Stop(Cause.INTERRUPTED, work=self._work)
        except OutOfTime:
            pass  # as anywhere else where the limit comes
        except IrcertError as error:
            self.trouble = Stop(Cause.SOLVER, str(error), self._work)
        except ArithmeticError as error:
            self.trouble = Stop(Cause.RANGE, str(error), self._work)
        return replace(self._answered(), backend=self.backend, formulation="paper")

    @property
    def backend(self) -> str | None:
        """The solver that answered, None where none did."""
        return next((ball.backend for ball in self.balls if ball.backend is not None), None)

    @property
    def solved(self) -> int:
        """How many programs were answered."""
        return sum(ball.solved for ball in self.balls)

    def _bisect(self) -> None:
        question = self.question
        steps = Bisection(question.reach, self.known, tol=question.tol)
        steps.failed(self.collisions.distance)
        while not question.deadline.passed() and not self.collisions.is_zero and (radius := steps.next()) is not None:
            ball = self._ball(radius, SHARE)
            steps.certified(ball.reached)
            if not ball.certified:
                steps.failed(radius)
            steps.failed(self.collisions.distance)

    def _ball(self, radius: float, share: float) -> Ball:
        left = self.question.deadline.left()
        start = time.perf_counter()
        try:
            ball = decided(
                self.question, radius, self.collisions, Deadline(share * left if left < math.inf else LONGEST)
            )
        finally:
            self.seconds += time.perf_counter() - start
        self.balls.append(ball)
        self.clear = max(self.clear, ball.reached)
        distance = self.collisions.distance
        text = f"radius {radius:g}: {'refuted' if ball.pair else 'certified' if ball.certified else 'open'}"
        self.question.report(Progress(self.clear, None if math.isinf(distance) else distance, text))
        return ball

    def _answered(self) -> Answer:
        radius = self.question.radius
        if radius is None:
            return of_a_search(self.question, self.collisions, self._certified(), self._stop(), self._stats())
        ball = self.balls[-1] if self.balls else Ball(radius, pair=self.collisions.within(radius))
        return of_a_ball(self.question, ball, self._evidence(), self._stop(), self._stats())

    def _certified(self) -> End:
        clear = min(self.clear, self.question.reach)
        return End(clear, self._evidence()) if clear > 0 else End(0.0, NOTHING)

    def _evidence(self) -> str:
        bound = "the dual bound of the paper's program excludes pairs that are far apart"
        return f"{bound}, {HALVES[self.question.problem]}, if the solver ({self.backend}) is right"

    def _stop(self) -> Stop:
        """Why nothing more is known."""
        reason = next((ball.reason for ball in reversed(self.balls) if ball.reason is not None), "")
        if self.trouble is not None:
            return self.trouble
        if self._limit.passed() or reason.endswith(NO_TIME):  # each ball has a share of the time
            return Stop(Cause.TIME, reason, self._work)
        if self.question.deadline.passed():
            return Stop(Cause.BUDGET, reason, self._work)
        return Stop(Cause.UNDECIDED, reason or "the solver's tolerances allow no narrower bracket", self._work)

    @property
    def _work(self) -> dict[str, int]:
        return {"programs": self.solved}

    def _stats(self) -> dict[str, Any]:
        tried = [
            {"radius": ball.radius, "reached": ball.reached, "refuted": ball.pair is not None} for ball in self.balls
        ]
        neurons = self.collisions.setting.neurons
        return {"neurons": neurons, "solved": self.solved, "balls": tried, "seconds": {"programs": self.seconds}}
