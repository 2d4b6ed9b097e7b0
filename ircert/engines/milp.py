"""The engine `milp`: pairs of points by their phases, for any number of inputs.

Proofs come from trees over parts of the ball and phases of the points (`ircert.proofs`), which need no solver's word; the
paper's mixed-integer program gives p* of a fixed ball, and takes over the pairs that are far apart where a tree is too
large.
"""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from ircert.engines.base import Answer, Engine, Progress, Question
from ircert.engines.instant import instant
from ircert.engines.judge import NOTHING
from ircert.engines.pinned import unpinned, without_pinned
from ircert.errors import ProgramError
from ircert.ir.compose import stack
from ircert.ir.graph import Graph
from ircert.passes.product import canonical
from ircert.proofs.descent import Descent
from ircert.proofs.exact_map import ExactMaps
from ircert.proofs.hunt import hunt
from ircert.proofs.merge import merged
from ircert.proofs.phase_tree import Counts
from ircert.proofs.setting import Setting
from ircert.proofs.space_tree import SpaceTree
from ircert.result.radius import End, rounded_down
from ircert.result.result import Optimum, Verdict

CLEAR = "every pair of phases of two points in this ball was excluded by proofs in exact or safely rounded arithmetic"
COLLISION = "the nearest collision of its linear regions, found by exact linear programs"
GROWTH = 4.0


class Milp(Engine):
    """Trees of phases, and the paper's mixed-integer program."""

    name = "milp"

    def refusal(self, question: Question) -> str | None:
        """It takes every question in the paper's formulation."""
        if question.formulation not in (None, "paper"):
            return f"the formulation `{question.formulation}` is not available"
        return None

    def answer(self, question: Question) -> Answer:
        """What can be said at once; else a search."""
        refusal = self.refusal(question)
        if refusal is not None:
            return _nothing(question, refusal)
        found = instant(question)
        if found is not None:
            return replace(found, formulation="paper")
        smaller = without_pinned(question)
        answer = _Search(smaller).answer()
        return replace(unpinned(answer, question), formulation="paper")


def _nothing(question: Question, reason: str) -> Answer:
    verdict: Verdict | None = None if question.radius is None else "unresolved"
    return Answer(verdict, End(0.0, NOTHING), None, None, "exact", reason=reason)


@dataclass
class _Search:
    """One question being answered; `clear` is the largest radius whose closed ball was proved."""

    question: Question
    clear: float = 0.0
    reason: str | None = None
    counts: Counts = field(default_factory=Counts)
    seconds: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        question = self.question
        graph = question.graph if question.other is None else stack(question.graph, question.other)
        self.setting = self._setting(graph, question.problem)
        self.injective = None
        if question.other is not None and question.graph.output_dim >= len(question.center):
            self.injective = self._setting(question.graph, "local")
        self.descent = Descent(self.setting, ExactMaps(self.setting), lambda: not question.deadline.passed())

    def _setting(self, graph: Graph, problem: str) -> Setting:
        question = self.question
        return Setting(
            merged(canonical(graph)),
            problem,
            question.graph.output_dim,
            question.norm if len(question.center) > 1 else "inf",  # on a line all norms are one
            question.center,
            question.low,
            question.high,
        )

    def answer(self) -> Answer:
        """The bracket, or what is known of it when time is up."""
        try:
            self._report(f"{self.setting.neurons} neurons, {self.setting.size} inputs")
            self._timed("hunt", lambda: hunt(self.setting, self.descent, self.question.reach, self.question.seed))
            if self.question.radius is not None:
                return self._fixed(self.question.radius)
            self._bracket()
        except KeyboardInterrupt:
            self.reason = "interrupted"
        except ProgramError as error:
            self.reason = str(error)
        if self.question.radius is not None:
            return self._stopped()
        return self._ends()

    # --- one ball ----------------------------------------------------------------------------------------------------

    def _fixed(self, radius: float) -> Answer:
        if not self._refutes(radius):
            outcome = self._tree(radius, shrinking=False)
            if outcome == "closed":
                optimum = Optimum(0.0, 0.0)
                return Answer("certified", End(radius, CLEAR), None, None, "exact", self._stats(), optimum)
            if outcome != "violated":
                return self._stopped()
        return Answer("refuted", End(self.clear, CLEAR if self.clear else NOTHING), None, self._witness(), "exact", self._stats())

    def _refutes(self, radius: float) -> bool:
        best = self.descent.best
        return best is not None and best[0] <= Fraction(radius) ** (2 if self.setting.norm == "2" else 1)

    def _stopped(self) -> Answer:
        if self.question.radius is not None and self._refutes(self.question.radius):
            return Answer("refuted", End(0.0, NOTHING), None, self._witness(), "exact", self._stats())
        return replace(_nothing(self.question, self._why()), stats=self._stats())

    # --- the largest radius ------------------------------------------------------------------------------------------

    def _bracket(self) -> None:
        """Grow until something is found, then prove the ball just below it."""
        reach, deadline = self.question.reach, self.question.deadline
        radius = min(reach, 1.0)
        while not deadline.passed():
            if self.descent.infimum_is_zero:
                return
            target = self._below_best()
            if target is not None:
                if target <= self.clear:
                    return
                for share in (0.25, 0.5):
                    if share * target > self.clear:
                        self._tree(share * target, shrinking=True, seconds=deadline.left() / 10)
                target = self._below_best() or target
                if self._tree(target, shrinking=True, seconds=deadline.left() * 0.6) == "closed":
                    return
                return self._bisect()
            outcome = self._tree(radius, shrinking=True, seconds=deadline.left() / 2)
            if outcome == "stopped":
                return self._bisect()
            if outcome == "closed" and self.descent.best is None:
                if radius >= reach:
                    return
                radius = min(reach, radius * GROWTH)

    def _bisect(self) -> None:
        """Radii between what is proved and what is refuted, while there is time."""
        deadline, tol = self.question.deadline, self.question.tol
        top = self._below_best() or self.question.reach
        for _ in range(12):
            if deadline.passed() or top - self.clear <= tol * top / 4:
                return
            middle = (self.clear + top) / 2 if self.clear > 0 else top / 8
            if self._tree(middle, shrinking=True, seconds=deadline.left() / 4) != "closed":
                top = min(middle, self._below_best() or middle)

    def _below_best(self) -> float | None:
        """A radius just below the best collision's: within half the tolerance."""
        best = self.descent.best
        return None if best is None else self._just_below(best[0])

    def _just_below(self, measure: Fraction) -> float:
        root = math.sqrt(measure) if self.setting.norm == "2" else float(measure)
        return min(root * (1 - max(self.question.tol / 2, 1e-12)), self.question.reach)

    def _tree(self, radius: float, *, shrinking: bool, seconds: float = math.inf) -> str:
        """Prove a ball (or the part of it below the collisions found on the way)."""
        if radius <= 0:
            return "stopped"
        end = time.monotonic() + seconds
        deadline = self.question.deadline
        tree = SpaceTree(
            self.setting,
            self.descent,
            radius,
            lambda: deadline.passed() or time.monotonic() > end,
            self._just_below if shrinking else None,
            self.injective,
            self._report,
            self.counts,
        )
        undecided = self.counts.undecided
        outcome = self._timed("trees", tree.run)
        self.counts.undecided = undecided
        if outcome == "closed":
            self.clear = max(self.clear, tree.radius)
        self._report(f"radius {tree.radius:g}: {outcome}")
        return str(outcome)

    def _ends(self) -> Answer:
        whole = self.clear >= self.question.reach
        certified = End(self.clear, CLEAR if self.clear else NOTHING)
        best = self.descent.best
        reason = None if whole else self._why()
        if best is None:
            return Answer(None, certified, None, None, "exact", self._stats(), reason=reason)
        if self.descent.infimum_is_zero:
            zero = End(0.0, "collisions come as close to the centre as one likes")
            return Answer(None, End(0.0, NOTHING), zero, self._witness(), "exact", self._stats())
        root = End.root_above if self.setting.norm == "2" else End.above
        return Answer(None, certified, root(best[0], COLLISION), self._witness(), "exact", self._stats(), reason=reason)

    # --- small things ------------------------------------------------------------------------------------------------

    def _why(self) -> str:
        if self.reason is not None:
            return self.reason
        if self.question.deadline.passed():
            return f"the time limit was reached after {self.counts.nodes} nodes"
        return f"the trees stopped after {self.counts.nodes} nodes"

    def _witness(self) -> tuple[list[Fraction], list[Fraction]]:
        assert self.descent.best is not None
        pair, center = self.descent.best[1], self.setting.exact_center
        x, y = ([c + t for c, t in zip(center, w, strict=True)] for w in (pair.u, pair.v))
        return x, y

    def _report(self, text: str) -> None:
        best = self.descent.best
        upper = None if best is None else math.sqrt(best[0]) if self.setting.norm == "2" else float(best[0])
        self.question.report(Progress(self.clear, upper, text))

    def _timed(self, name: str, work: Any) -> Any:
        start = time.perf_counter()
        try:
            return work()
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

    def _stats(self) -> dict[str, Any]:
        return {"neurons": self.setting.neurons, **asdict(self.counts), "seconds": dict(self.seconds)}
