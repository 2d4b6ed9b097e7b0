"""p* of a ball of a smooth network: proved pairs that are moved apart, and boxes of pairs, in turns.

The value is the least distance of two boxes that hold a pair with equal outputs, by Krawczyk's test (R-13); the bound
is the size of the ball or that of `relational.pair_branching`. Both get better the longer it takes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from ircert.engines.base import Answer, Cause, Progress, Question, Stop
from ircert.engines.boxes.problem.setting import Setting
from ircert.engines.boxes.search.smooth_hunt import SmoothHunt
from ircert.engines.optimum.answering import CERTIFIED, LONGEST, LONGEST_UNASKED, WORK
from ircert.engines.optimum.bracket import SIZE, Asked
from ircert.engines.optimum.size import size_of_ball
from ircert.engines.refutation import is_bad_everywhere
from ircert.geometry.norm import Norm
from ircert.ir.boxed_pair import BoxedPair, least_gaps
from ircert.limits import Deadline, OutOfTime, is_over, until
from ircert.relational.pair_branching import PairBranching
from ircert.result.result import Optimum

SHARE, LEAST_SHARE = 0.4, 0.1
"""The part of the time that is spent on pairs, and after as many tries in vain as this:"""
PATIENCE = 40
ROOT = "linear bounds on differences, less what the equal outputs say"
BOXES = "boxes of pairs, cut until linear bounds on differences close them ({} boxes)"


@dataclass(eq=False)
class SmoothOptimum:
    """p* of a question's ball in a norm; `pair` attains `value`."""

    question: Question
    norm: Norm
    pair: BoxedPair | None = None
    value: float = 0.0
    bound: float = math.inf
    evidence: str = SIZE
    seconds: float = 0.0
    vain: int = 0
    interrupted: bool = False
    branching: PairBranching | None = field(default=None, init=False)

    def offer(self, pair: BoxedPair) -> None:
        """Take a proved pair if it is farther apart than that which is known."""
        value = self.norm.length_down(self.norm.measure(least_gaps(pair, self.question.other)))
        self.vain += 1
        if value > self.value:
            self.pair, self.value, self.vain = pair, value, 0

    def run(self, deadline: Deadline) -> None:
        """Values and bounds until both are one number or time is up; Ctrl-C keeps what is known."""
        try:
            with until(deadline), np.errstate(all="ignore"):
                self._run()
        except OutOfTime:
            pass
        except KeyboardInterrupt:
            self.interrupted = True
        self._take_bound()

    @property
    def is_closed(self) -> bool:
        """Whether value and bound are one number, about."""
        return self.bound <= self.value * (1 + self.question.tol)

    def _run(self) -> None:
        query = Asked(self.question, self.norm, lambda value, bound, words: None, self.question.tol).query()
        self.bound = size_of_ball(query)
        if self.is_closed:
            return
        networks = self.question.networks
        other = None if networks.other is None else networks.other.lowered
        center = self.question.problem == "pseudo"
        branching = PairBranching(
            networks.network.lowered, other, query.ball, self.norm, center=center, tol=self.question.tol
        )
        self.branching, begun, pairs = branching, time.monotonic(), self._pairs()
        while not (self.is_closed or is_over() or (branching.done and self.vain > PATIENCE)):
            share = SHARE if self.vain <= PATIENCE else LEAST_SHARE
            if self.seconds <= share * (time.monotonic() - begun) or branching.done or branching.full:
                self._look(pairs)
            else:
                branching.run(1)
            branching.learn(self.value)
            self._take_bound()
            self.question.report(Progress(0.0, None, f"p* in [{self.value:.6g}, {self.bound:.6g}]"))

    def _look(self, pairs: Iterator[BoxedPair]) -> None:
        start = time.monotonic()
        try:
            found = next(pairs, None)
            if found is None:
                self.vain = PATIENCE + 1
            else:
                self.offer(found)
        finally:
            self.seconds += time.monotonic() - start

    def _pairs(self) -> Iterator[BoxedPair]:
        """Proved pairs without an end, as long as some are found."""
        question, graph = self.question, self.question.network.lowered
        assert question.radius is not None
        setting = Setting(graph, "local", graph.output_dim, question.place.simplest, question.radius)
        source = SmoothHunt(question, setting).pairs
        found, first = None, True
        while not source.is_hopeless and (first or found is not None):
            found = None
            for found in source.far_pairs(question.radius, self.norm, self.pair, first=first):
                yield found
            first = False

    def _take_bound(self) -> None:
        if self.branching is not None and self.branching.most < self.bound:
            boxes = self.branching.boxes
            self.bound, self.evidence = self.branching.most, ROOT if boxes == 1 else BOXES.format(boxes)

    def optimum(self) -> Optimum | None:
        """The bracket as a result has it; None where there is no bound."""
        if math.isinf(self.bound):
            return None
        norm = None if self.norm == self.question.norm else self.norm
        return Optimum(self.value, max(self.bound, self.value), "exact", self.evidence, norm)


def with_smooth_optimum(question: Question, answer: Answer, norm: Norm, *, asked_for: bool = True) -> Answer:
    """The answer about a fixed ball with p* in a norm, as far as the time that is left goes."""
    if answer.verdict == "certified" and answer.trust == "exact":
        other = None if norm == question.norm else norm
        return replace(answer, optimum=Optimum(0.0, 0.0, "exact", CERTIFIED, other))
    search, begin, left = SmoothOptimum(question, norm), time.perf_counter(), question.deadline.left()
    if answer.boxes is not None:
        search.offer(answer.boxes)
    longest = LONGEST if asked_for else LONGEST_UNASKED
    if _may_change(question, answer):
        search.run(Deadline(WORK * (longest if left == math.inf else left)))
    seconds = {**answer.stats.get("seconds", {}), "optimum": time.perf_counter() - begin}
    answer = replace(answer, optimum=search.optimum(), stats={**answer.stats, "seconds": seconds})
    stop = Stop(Cause.INTERRUPTED).after(answer.stop) if search.interrupted else None
    if search.pair is None:
        return replace(answer, stop=stop or answer.stop)
    return replace(answer, verdict="refuted", trust="exact", stop=stop, witness=None, boxes=search.pair)


def _may_change(question: Question, answer: Answer) -> bool:
    """Whether another pair shows as much: where the radius is 0 because of one pair that shrinks, none does."""
    return answer.refuted != 0.0 or is_bad_everywhere(question)
