"""The formulation `tangent`: radii minimised by a solver over parts of the ball, collisions exact as always."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

import numpy as np

from ircert.engines.asking import nothing_known
from ircert.engines.base import Answer, Cause, Stop
from ircert.engines.boxes.falsification.falsifier import sides
from ircert.engines.boxes.search.search import FIRST, SMALLEST, Search
from ircert.engines.judge import NOTHING
from ircert.engines.milp.part_search import FEW_INPUTS
from ircert.engines.milp.tangent import Tangents, tangents
from ircert.result.radius import End
from ircert.result.result import Optimum

GROWTH = 2.0
BETWEEN = 6
"""So many radii are tried between one that was reached and one that was not."""
WIDER = 1 + 2.0**-12
"""The largest ball is asked about with a radius this much larger, because bounds fall short of it by a margin."""
LONGEST = 60.0
"""Seconds without a time limit."""
EVIDENCE = "the programs of tangents and of pairs further apart: no violation is nearer if the solver"


@dataclass
class TangentSearch(Search):
    """Radii by the programs of `ircert.engines.milp.tangent`; certified ends have the trust of a solver."""

    found: Tangents | None = None

    @property
    def backend(self) -> str | None:
        """The solver that was asked."""
        return None if self.found is None else self.found.backend

    def _answered(self) -> Answer:
        """Minimise radii up to larger and larger ones, until something is in the way."""
        start = time.monotonic()
        limit = min(LONGEST, self.question.deadline.left())
        with self._ended_by_trouble():
            self._timed("programs", lambda: self._grow(start + limit))
        radius = self.question.radius
        bracket = radius is None and self._has_collision() and self.clear > 0
        short = self.clear < self.question.reach and not bracket
        if short and self.stop is None and not self.question.deadline.passed():
            self._end_by(Cause.UNDECIDED, f"the programs reached the radius {self.clear:g}")
        return self._ends() if radius is None else self._decided(radius)

    def _grow(self, end: float) -> None:
        """Larger radii while everything up to them is closed, then some between what is and what is not."""
        reach = self.question.reach * WIDER
        first = FIRST if len(self.question.center) <= FEW_INPUTS else SMALLEST * FIRST
        upper = reach if self.question.radius is not None else min(reach, first)
        between = 0
        while time.monotonic() < end:
            self.found = self._asked(upper, end - time.monotonic())
            self.clear = max(self.clear, self.found.certified)
            self.stop = None if self.found.stop is None else replace(self.found.stop, work=self._work())
            short = self.found.certified < upper * (1 - 2.0**-14)
            done = upper >= reach if not short else self.question.radius is not None
            if done or self._has_collision() or between >= BETWEEN or self._is_interrupted():
                return
            if short:
                reach = upper
            if short or between:
                between += 1
                upper = (self.clear + reach) / 2
            else:
                upper = min(reach, GROWTH * upper)

    def _asked(self, upper: float, seconds: float) -> Tangents:
        def report(what: str, bound: float) -> None:
            self._report(f"{what}: {bound:g} of {upper:g}")

        found = tangents(self.question, upper, self.clear, seconds, report)
        for pair in reversed(found.candidates):
            first, second = sides(self.setting, np.stack([np.asarray(point) for point in pair]))
            self.descent.improve(first, second)
        return found

    def _decided(self, radius: float) -> Answer:
        if self.descent.has_within(radius):
            return self.with_optimum(self._refuted(), radius)
        if self.clear >= radius:
            bound = self.question.trivial_bound(radius)
            optimum = None if bound is None else Optimum(0.0, bound, "exact")
            return Answer("certified", self._certified(), None, None, "solver", self._stats(), optimum)
        return Answer("unresolved", End(0.0, NOTHING), None, None, "exact", self._stats(), stop=self._why())

    def _refuted(self) -> Answer:
        """By an exact collision; beside it no radius that rests on the solver."""
        return replace(super()._refuted(), certified=End(0.0, NOTHING))

    def _ends(self) -> Answer:
        if self.descent.infimum_is_zero or self.clear <= 0:
            return super()._ends()
        certified = self._certified()
        if not self._has_collision():
            return Answer(None, certified, None, None, "solver", self._stats(), stop=self._why())
        refuted = self._refuted_end()
        if certified >= refuted:
            return nothing_known(self.question, Stop(Cause.SOLVER, "the solver's bound contradicts an exact collision"))
        return Answer(None, certified, refuted, self._witness(), "solver", self._stats(), stop=self._why())

    def _why(self) -> Stop:
        if self.stop is None and not self.question.deadline.passed() and self._has_collision():
            return Stop(Cause.UNDECIDED, "the bounds of the programs fall short of the collision", self._work())
        return super()._why()

    def _work(self) -> dict[str, int]:
        return {"programs": 0 if self.found is None else self.found.solved}

    def _is_interrupted(self) -> bool:
        return self.stop is not None and self.stop.cause is Cause.INTERRUPTED

    def _has_collision(self) -> bool:
        """Whether one is known in the ball in question, and not only a little beyond it."""
        return self.descent.has_within(self.question.reach)

    def _certified(self) -> End:
        return End(min(self.clear, self.question.reach), f"{EVIDENCE} ({self.backend}) is right")

    def _stats(self) -> dict[str, object]:
        stats = super()._stats()
        if self.found is not None and math.isfinite(self.found.j0_lower):
            stats["j0_lower"] = self.found.j0_lower
            stats["solved"] = self.found.solved
        return stats
