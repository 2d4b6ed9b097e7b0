"""Minimising a radius over parts of a ball: boxes, nearest first, each a small mixed-integer program.

Bounds of neurons are far tighter on a small box, and so is the program: a box with many open neurons is halved before a
solver sees it, and one that a solver does not finish in a moment is halved as well. With many inputs it takes very many
boxes until few neurons are open, so that a solver sees the whole ball first. What is known at any time is the least of
the lower bounds of the boxes that are left, which streams; a box beyond the best radius found is dropped.
"""

from __future__ import annotations

import heapq
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TypeAlias

import numpy as np

from ircert.backends.base import Outcome, Solver, Status
from ircert.geometry.ball import Ball
from ircert.ir.arrays import Array
from ircert.limits import Deadline
from ircert.programs.program import Program

MOST_OPEN = 4
"""Boxes with more open neurons than this (for each point) are halved at once, while they can be."""
PATIENCE = 2.0
"""Seconds for one program; then its box is halved."""
FEW_INPUTS = 2
"""With more of them, the whole ball is tried before its parts."""
NARROWEST = 2.0**-20
"""Boxes are not halved below this part of the radius."""
COARSEST = 2.0**-8
"""Boxes are halved for their open neurons down to this part of the radius: where many meet, they all stay open."""
GAP = 1e-9
CLOSE = 1e-7
"""A bound as close to the best radius as this, relatively, is as good as it."""

Candidate: TypeAlias = tuple[Array, Array]

ORDERS = {"inf": np.inf, "1": 1, "2": 2}


class TooDelicate(ArithmeticError):
    """A program whose coefficients are too far apart for a solver's bound to count."""


@dataclass(frozen=True)
class Look:
    """What is known of a part that may hold solutions: how many neurons are open there, and its program."""

    neurons: int
    program: Callable[[], Program]


class Task(ABC):
    """What is looked for: `points` points of the ball at a time, each in a box of its own.

    finest: boxes narrower than this are as good as smaller ones
    """

    points: int
    finest: float

    @abstractmethod
    def look(self, parts: list[Ball]) -> Look | None:
        """The part where each point lies in the ball cut with its box; None if there is surely no solution."""

    @abstractmethod
    def candidates(self, program: Program, point: Array, center: Array) -> list[Candidate]:
        """Pairs of points that a solution suggests."""


@dataclass
class PartSearch:
    """The smallest radius of solutions in a ball.

    bound: no solution is nearer, if the solver is right; best: the radius of the nearest solution found, or that of
    the ball; points: the solutions found, nearest last
    """

    task: Task
    ball: Ball
    solver: Solver
    deadline: Deadline
    report: Callable[[float], None] = lambda bound: None
    least: float = 0.0
    threads: int = 1
    seed: int = 0
    best: float = field(init=False)
    bound: float = field(init=False)
    points: list[tuple[Program, Array]] = field(default_factory=list)
    solved: int = 0
    done: bool = False

    def __post_init__(self) -> None:
        self.best = self.ball.radius
        self.bound = min(self.least, self.best)
        self._floor = math.inf
        self._whole = len(self.ball.center) > FEW_INPUTS
        self._numbers = count()
        self._open: list[tuple[float, int, Array, Array]] = []

    def run(self) -> float:
        """Search until nothing is left or the time is up; the bound."""
        low, high = self.ball.box
        self._push(self.least, np.tile(low, self.task.points), np.tile(high, self.task.points))
        while self._open and not self.deadline.passed():
            key, _, low, high = heapq.heappop(self._open)
            if key >= self.best * (1 - CLOSE):
                self._floor = min(self._floor, key)
                self._open.clear()
                break
            try:
                self._look(key, low, high)
            except TooDelicate:
                self._push(key, low, high)
                raise
            finally:
                self._tell()
        self.done = not self._open
        self._tell()
        return self.bound

    def _push(self, key: float, low: Array, high: Array) -> None:
        shape = (self.task.points, len(self.ball.center))
        center = self.ball.center
        offset = np.maximum(np.maximum(low.reshape(shape) - center, center - high.reshape(shape)), 0.0)
        near = float(np.linalg.norm(offset, ORDERS[self.ball.norm], axis=1).max()) * (1 - 1e-12)
        heapq.heappush(self._open, (max(key, near), next(self._numbers), low, high))

    def _tell(self) -> None:
        nearest = self._open[0][0] if self._open else math.inf
        known = min(nearest, self._floor, self.best)
        if known > self.bound:
            self.bound = known
            self.report(known)

    def _look(self, key: float, low: Array, high: Array) -> None:
        """Close a box, or put its halves back."""
        shape = (self.task.points, len(self.ball.center))
        ends = zip(low.reshape(shape), high.reshape(shape), strict=True)
        parts = [replace(self.ball, radius=self.best, low=a, high=b) for a, b in ends]
        if any((part.box[0] > part.box[1]).any() for part in parts):
            return
        found = self.task.look(parts)
        if found is None:
            return
        many = found.neurons > MOST_OPEN * self.task.points and (high - low).max() > COARSEST * self.ball.radius
        whole, self._whole = self._whole, False
        if many and not whole and self._halve(key, low, high):
            return
        program = found.program()
        wide = self._wide(low, high)
        outcome = self._solved(program, min(PATIENCE, self.deadline.left()) if wide else self.deadline.left())
        if outcome.status is Status.INFEASIBLE:
            return
        if outcome.point is not None and outcome.value is not None and outcome.value < self.best:
            self.best = max(outcome.value, 0.0)
            self.points.append((program, outcome.point))
        reached = key if outcome.bound is None else max(key, outcome.bound)
        if outcome.status is Status.OPTIMAL:
            self._floor = min(self._floor, reached)
        elif not wide or not self._halve(reached, low, high):
            self._push(reached, low, high)

    def _solved(self, program: Program, seconds: float) -> Outcome:
        self.solved += 1
        seconds = None if math.isinf(seconds) else max(seconds, 0.01)  # type: ignore[assignment]
        return self.solver.solve(program, time_limit=seconds, gap=GAP, threads=self.threads, seed=self.seed)

    def _wide(self, low: Array, high: Array) -> bool:
        return bool((high - low).max() > max(NARROWEST * self.ball.radius, self.task.finest))

    def _halve(self, key: float, low: Array, high: Array) -> bool:
        """Put the halves of a box back; whether it could be halved."""
        if not self._wide(low, high):
            return False
        j = int(np.argmax(high - low))
        middle = low[j] + (high[j] - low[j]) / 2
        for side in (0, 1):
            ends = low.copy(), high.copy()
            ends[1 - side][j] = middle
            self._push(key, *ends)
        return True
