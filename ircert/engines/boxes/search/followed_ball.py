"""A ball just below the nearest violation that is known around its centre: looked at, and covered by a matrix.

Points beyond a fold lead to a nearer violation, and to a smaller ball. A ball that is covered closes its bracket.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from ircert.engines.base import Answer, Points, Question
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.boxes.falsification.falsifier import Falsifier
from ircert.engines.boxes.falsification.pair_memory import PairMemory
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.engines.boxes.one_matrix.cover import Cover, Frontier
from ircert.engines.boxes.one_matrix.covering import Covering
from ircert.engines.boxes.one_matrix.domination import OneMatrix
from ircert.engines.boxes.one_matrix.many_balls import ManyBalls
from ircert.engines.boxes.one_matrix.points import Points as Sampler
from ircert.engines.boxes.problem.boxes import around, joined
from ircert.engines.boxes.problem.outcome import Counts, Outcome, Stopped, Violated
from ircert.engines.boxes.problem.setting import Phases, Setting
from ircert.engines.boxes.search.arguments import ONE_MATRIX
from ircert.engines.boxes.search.ends import CLEAR, COLLISION
from ircert.engines.boxes.search.prover import Prover
from ircert.engines.judge import NOTHING
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array
from ircert.limits import Deadline, OutOfTime, Undecided
from ircert.result.radius import End

Patterns: TypeAlias = tuple[Phases, Phases]

ROUNDS = 12
"""How often a nearer violation may be met in a ball."""
TRIED = 4
"""Matrices that are tried on a ball, of those that are good at all points that were looked at …"""
BOXES, DEARER = 300, 2
"""… with that many boxes each, or so many times what it took for the ball that it was made for …"""
FEW = 16
"""… and once more alone, where no more are left."""


@dataclass(frozen=True, eq=False)
class Known:
    """A matrix C that covered a ball, and with how many boxes."""

    matrix: Array
    boxes: int

    @property
    def most(self) -> int:
        """How many boxes it may take for another ball."""
        return max(BOXES, DEARER * self.boxes)


class Ball:
    """The ball just below the nearest violation that is known around a centre.

    untried:  matrices that may cover it, the best first
    regions:  the patterns of its violation
    spent:    what was spent on matrices of its own (`Counts.effort`)
    suspects: points where a matrix was wrong: perhaps they lie beyond a fold
    """

    def __init__(self, question: Question, deadline: Deadline, memory: PairMemory) -> None:
        self.question, self.deadline = question, deadline
        self.setting = setting_of(question)
        self.maps = ExactMaps(self.setting)
        self.descent = Descent(self.setting, self.maps, lambda: not self.is_over(), memory=memory)
        self.counts = Counts()
        self.is_closed = self.gave_up = False
        self.untried: list[Known] = []
        self.suspects: list[Array] = []
        self.regions: Patterns | None = None
        self.spent = self._rounds = 0
        self._argument = ONE_MATRIX

    def is_over(self) -> bool:
        """Whether time is."""
        return self.deadline.passed()

    @cached_property
    def network(self) -> Batches:
        """For walks."""
        return Batches(self.setting)

    @cached_property
    def _covering(self) -> Covering:
        return Covering(self.network, self.counts, _silent, self.question.seed)

    @cached_property
    def _falsifier(self) -> Falsifier:
        return Falsifier(self.setting, self.descent)

    @property
    def distance(self) -> float:
        """Of the violation, about."""
        assert self.descent.best is not None
        return self.setting.norm.length(self.descent.best[0])

    @property
    def radius(self) -> float:
        """Of the ball: within half the tolerance of the violation."""
        return self.distance * (1 - max(self.question.tol / 2, 1e-12))

    @property
    def pair(self) -> Points:
        """The violation."""
        assert self.descent.best is not None
        pair, center = self.descent.best[1], self.setting.exact_center
        x, y = ([c + t for c, t in zip(center, u, strict=True)] for u in (pair.x, pair.y))
        return x, y

    @property
    def is_open(self) -> bool:
        """Whether something can be done."""
        return not (self.is_closed or self.gave_up)

    @contextmanager
    def given_up_on_trouble(self) -> Iterator[None]:
        """What floats or limits of exact arithmetic do not allow is left to a search."""
        try:
            yield
        except OutOfTime:
            raise
        except (Undecided, ArithmeticError, np.linalg.LinAlgError):
            self.gave_up = True

    def look(self) -> bool:
        """Look at points of the ball for as long as that leads to nearer violations; whether it did."""
        found = False
        while self._is_usable():
            self._covering.look_around(self.radius)
            points = [*self.suspects, *self._covering.turned]
            self.suspects, self._covering.turned = [], []
            if not points or not self._leads_nearer(np.concatenate(points)):
                return found
            found = True
        return found

    def look_further(self) -> bool:
        """Look beside the nearest violation, and follow up suspects; whether there is a nearer one."""
        nearer = self.descent.further()
        return (bool(nearer or self.suspects) and self.look()) or nearer

    def _is_usable(self) -> bool:
        """Whether there is a ball to look at; looking for ever is given up."""
        self._rounds += 1
        best = self.descent.best
        usable = best is not None and not self.descent.infimum_is_zero and self._rounds <= ROUNDS
        self.gave_up = self.gave_up or not usable or not 0 < self.radius < self.question.reach
        return not self.gave_up

    def _leads_nearer(self, points: Array) -> bool:
        best, radius = self.descent.best, self.radius
        with suppress(Violated):
            self._falsifier.look(points, radius)
        return self.descent.best is not best

    def consider(self, matrices: list[Known]) -> None:
        """Matrices that are good at all points that were looked at may cover the ball."""
        if not self.is_open:
            return
        misfits = [self._covering.misfit(known.matrix, self.radius) for known in matrices]
        order = sorted((k for k in range(len(matrices)) if misfits[k] < math.inf), key=misfits.__getitem__)
        self.untried = [matrices[k] for k in order[:TRIED]]

    def by(self, known: Known, left: Frontier | None = None) -> None:
        """Cover it by a matrix, alone: all of it, or what is left. Trees of phases help here, and not with many."""
        cover = Cover(OneMatrix(self.network, known.matrix), Sampler(self.setting), self.counts, _silent)
        if left is None:
            cover.begin(self.radius)
        else:
            cover.begin_with(left, self.radius)
        outcome: Outcome | None = None
        with suppress(Stopped):
            while outcome is None and cover.spent < known.most:
                outcome = cover.step(self.radius, self.is_over)
        self.is_closed = outcome == "closed"
        self.suspects += cover.failing

    def by_another(self, effort: int) -> Known | None:
        """Prove it by a new matrix, or without one where there is none; at most so much effort in all.

        The matrix, if it covers the ball. None also where a nearer violation was met. Asked again, it goes on.
        """
        covering, before = self._covering, self.counts.effort
        end = before + effort - self.spent

        def stop() -> bool:
            return bool(covering.turned) or self.counts.effort > end or self.is_over()

        self.is_closed = covering.advance(self.radius, stop) == "closed"
        found = Known(covering.matrix, covering.spent) if self.is_closed and covering.matrix is not None else None
        has_ended, self.suspects = not stop(), self.suspects + covering.turned
        if not self.is_closed and not self.look_further() and has_ended:
            self._by_other_ways(stop)
        self.spent += self.counts.effort - before
        return found

    def _by_other_ways(self, stop: Callable[[], bool]) -> None:
        """Prove it by degree, or a tree of phases; given up where that leads nowhere."""
        best, radius = self.descent.best, self.radius
        outcome = self._prover.prove(radius, stop=stop)
        if outcome == "closed":
            self.is_closed, self._argument = True, self._prover.argument
        self.gave_up = outcome != "closed" and self.descent.best is best and not stop()

    @cached_property
    def _prover(self) -> Prover:
        prover = Prover(self.setting, self.descent, self.counts, self.is_over, _silent)
        prover.covering = None  # it has had its turn
        return prover

    def distances(self, x: Array, y: Array) -> Array:
        """How far away pairs of points (count, inputs) are, in floats."""
        lengths = self.setting.norm.lengths
        return np.maximum(lengths(x - self.setting.center), lengths(y - self.setting.center))

    def answer(self) -> Answer | None:
        """The bracket; None where no violation is known."""
        if self.descent.best is None or self.descent.infimum_is_zero or self.distance > self.question.reach:
            return None
        good = End(self.radius, CLEAR.format(self._argument)) if self.is_closed else End(0.0, NOTHING)
        end = End.root_above if self.setting.norm == "2" else End.above
        return Answer.bracket(good, end(self.descent.best[0], COLLISION), self.pair)


def cover_all(balls: list[Ball], known: Known) -> None:
    """Cover balls by one matrix; points where it is wrong become their suspects."""
    first = balls[0]
    if first.setting.norm != Norm.INF:
        for ball in balls:
            ball.by(known)
        return
    roots = joined([around(ball.setting, ball.radius) for ball in balls])
    many = ManyBalls(OneMatrix(first.network, known.matrix), Sampler(first.setting), first.counts, roots)
    many.advance(known.most, first.is_over)
    for k, (ball, closed) in enumerate(zip(balls, many.closed.tolist(), strict=True)):
        ball.is_closed = closed
        ball.suspects += [points for points in many.failing_in(k) if len(points)]
        if not closed and not ball.suspects and many.open[k] <= FEW:
            ball.by(known, many.left_of(k, ball.setting))


def setting_of(question: Question) -> Setting:
    """The question as proofs see it."""
    return Setting(question.network.merged, question.problem, question.graph.output_dim, question.place.simplest)


def _silent() -> None:
    """Nobody is listening."""
