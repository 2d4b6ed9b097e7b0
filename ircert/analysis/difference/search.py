"""The search for the largest difference of two networks: values by climbing, bounds by boxes or by phases."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ircert.analysis.difference.attained import Attained, Evaluation
from ircert.errors import ProgramError
from ircert.geometry.ball import Ball
from ircert.ir.arrays import Array
from ircert.limits import Deadline, OutOfTime, is_over, until
from ircert.relational.climbing import climbed
from ircert.relational.differential_bounds import Pair
from ircert.relational.input_branching import InputBranching
from ircert.relational.objectives import Length
from ircert.relational.phase_branching import PhaseBranching
from ircert.result.stop import Cause, Stop

INPUTS = 10
"""Up to so many inputs boxes are cut; with more, phases are."""
SEARCHING = 0.9
"""The part of the time for the search: what was found is evaluated exactly after it."""
TURN = 8
"""Batches or relaxations between two looks at the clock and the bracket."""
NEGLIGIBLE = 1e-12
"""A bound this small beside the outputs is as good as 0: bounds have room for rounding."""
BOXES = "boxes cut until linear bounds on the difference close them"
PHASES = "linear programs over phases, with checked multipliers"
ROOT = "linear bounds on the difference"
FULL = "there are too many parts to go on"
NO_MORE = "nothing is left to be cut"


@dataclass(frozen=True)
class Step:
    """What is known so far: the largest difference lies between both."""

    value: float
    bound: float
    text: str

    def __str__(self) -> str:
        return f"largest difference in [{self.value:.6g}, {self.bound:.6g}], {self.text}"


Report = Callable[[Step], None]


class DifferenceSearch:
    """max |f(x) - g(x)| over a ball.

    epsilon: the search ends as soon as it is known whether the maximum is above it
    """

    def __init__(
        self,
        pair: Pair,
        evaluation: Evaluation,
        length: Length,
        *,
        tol: float,
        epsilon: float | None,
        seed: int,
        report: Report | None,
    ) -> None:
        self.pair, self.evaluation, self.length = pair, evaluation, length
        self.ball: Ball = evaluation.ball
        self.tol, self.epsilon, self.seed, self.report = tol, epsilon, seed, report
        # parts that are good enough for a bracket may still be above epsilon
        self.narrow = tol if epsilon is None else 0.0
        self.best: Attained = evaluation.at(self.ball.center)
        self.values = self.best.outputs
        self._evaluated = self.ball.center
        self._seconds = 0.0  # that the last evaluation took
        self.negligible = NEGLIGIBLE * self._size()
        self.bound, self.outputs = math.inf, np.full(pair.first.output_dim, math.inf)
        self.evidence = ROOT
        self.work: dict[str, int] = {}
        self.stop: Stop | None = None
        self._boxes: InputBranching | None = None
        self._phases: PhaseBranching | None = None

    def _size(self) -> float:
        """About how large the outputs are at the centre."""
        with np.errstate(all="ignore"):
            ends = [np.abs(graph(self.ball.center)).max() for graph in (self.pair.first, self.pair.second)]
        return float(max(ends)) if np.isfinite(ends).all() else 0.0

    def run(self, limit: Deadline) -> None:
        """Search until the bracket is closed, epsilon is decided or the time is over; Ctrl-C keeps what is known."""
        deadline = Deadline(SEARCHING * limit.left())
        try:
            with until(deadline):
                self._run()
        except OutOfTime:
            pass
        except KeyboardInterrupt:
            self.stop = Stop(Cause.INTERRUPTED)
        self._evaluate_best()
        self._evaluate_peaks(limit)
        if self.stop is None and not self.decided:
            self.stop = Stop(Cause.TIME, work=self.work) if deadline.passed() else Stop(Cause.UNDECIDED, NO_MORE)

    @property
    def decided(self) -> bool:
        """Whether nothing more is asked for."""
        if self.epsilon is not None:
            return self.bound <= self.epsilon or self.best.value > self.epsilon
        return self.bound <= max(self.best.value * (1 + self.tol), self.negligible)

    def _run(self) -> None:
        boxes = InputBranching(self.pair, self.ball, self.length, tol=self.narrow)
        self._boxes = boxes
        self._found(boxes.bound, boxes.outputs, ROOT)
        boxes.offer(*climbed(self.pair, self.ball, self.length, self.seed))
        self._turn(f"{boxes.boxes:,} boxes")
        if self.pair.first.input_dim > INPUTS and not self.pair.has_curves and not self.decided:
            self._by_phases(boxes)
        if self.stop is None:
            self._by_boxes(boxes)

    def _by_boxes(self, boxes: InputBranching) -> None:
        boxes.enough = self.negligible if self.epsilon is None else self.epsilon
        while not self.decided and not boxes.done and not boxes.full:
            before = boxes.value
            boxes.run(TURN)
            if boxes.value > before:
                boxes.offer(*climbed(self.pair, self.ball, self.length, self.seed, start=boxes.point))
            self._found(boxes.bound, None, BOXES)
            self._turn(f"{boxes.boxes:,} boxes")
            self.work["boxes"] = boxes.boxes
            if is_over():
                break
        self._found(boxes.bound, boxes.outputs, BOXES)
        if boxes.full:
            self.stop = Stop(Cause.MEMORY, FULL)

    def _by_phases(self, boxes: InputBranching) -> None:
        try:
            phases = PhaseBranching(self.pair, self.ball, self.length, self._value_at, tol=self.narrow)
        except ProgramError:
            return
        self._phases = phases
        phases.learn(boxes.value)
        while not self.decided and not phases.done:
            phases.run(TURN)
            self._found(phases.bound, None, PHASES)
            self._turn(f"{phases.nodes:,} linear programs")
            self.work["programs"] = phases.nodes
            if is_over() or phases.full:
                break
        self._found(phases.bound, phases.outputs, PHASES)
        if phases.full:
            self.stop = Stop(Cause.MEMORY, FULL)

    def offer(self, x: Array) -> None:
        """A point that somebody else found."""
        self._evaluate(x)

    def _value_at(self, x: Array) -> float:
        assert self._boxes is not None
        before = self._boxes.value
        self._boxes.try_points(x[None])
        if self._boxes.value > before:
            self._boxes.offer(*climbed(self.pair, self.ball, self.length, self.seed, start=self._boxes.point))
        return self._boxes.value

    def _turn(self, text: str) -> None:
        """Evaluate what is better, and report."""
        self._evaluate_best()
        if self.report is not None:
            self.report(Step(self.best.value, max(self.bound, self.best.value), text))

    def _evaluate_best(self) -> None:
        if self._boxes is not None and self._boxes.point is not self._evaluated:
            self._evaluated = self._boxes.point
            self._evaluate(self._evaluated)

    def _evaluate_peaks(self, limit: Deadline) -> None:
        """The points where single outputs differ most, as long as there is time for one more."""
        if self._boxes is None:
            return
        for j, (value, point) in enumerate(zip(*self._boxes.peaks, strict=True)):
            if value > self.values[j] and limit.left() > self._seconds:
                self._evaluate(point)

    def _evaluate(self, point: Array) -> None:
        begin = time.perf_counter()
        found = self.evaluation.at(point)
        self._seconds = time.perf_counter() - begin
        self.values = np.maximum(self.values, found.outputs)
        if found.value > self.best.value:
            self.best = found

    def _found(self, bound: float, outputs: Array | None, evidence: str) -> None:
        if bound < self.bound:
            self.bound, self.evidence = bound, evidence
        if outputs is not None:
            self.outputs = np.minimum(self.outputs, outputs)
