"""The largest good radius around one centre after that of another: the same violation and the same matrix, mostly.

The nearest violation of a neighbour lies in two linear regions; the descent that starts there finds the nearest pair of
them, and of regions next to it, for the new centre. If the ball just below that pair is covered by the neighbour's
matrix, or by a new one, the bracket is closed, and nothing had to be hunted for. If not, nothing is said.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from ircert.engines.base import Answer, Points, Question
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.boxes.falsification.falsifier import Falsifier
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.engines.boxes.one_matrix.cover import Cover
from ircert.engines.boxes.one_matrix.covering import Covering
from ircert.engines.boxes.one_matrix.domination import OneMatrix
from ircert.engines.boxes.one_matrix.points import Points as Sampler
from ircert.engines.boxes.problem.outcome import Counts, Outcome, Stopped, Violated
from ircert.engines.boxes.problem.setting import Phases, Setting
from ircert.engines.boxes.search.prover import ONE_MATRIX
from ircert.engines.boxes.search.search import CLEAR, COLLISION
from ircert.geometry.pair import Pair
from ircert.ir.arrays import Array
from ircert.limits import OutOfTime, Undecided, until
from ircert.result.radius import End

ROUNDS = 8
"""How often a proof may meet a nearer violation."""
KEPT = 4
"""Pairs of regions that are remembered, the latest ones."""
BOXES = 1_000
"""For a matrix that was good elsewhere …"""
EFFORT = 8_000
"""… and what a new one may take (`Counts.effort`)."""


@dataclass
class Following:
    """What earlier centres have shown; `matrix` is the C of the last one, `patterns` where violations were."""

    matrix: Array | None = None
    patterns: list[tuple[Phases, Phases]] = field(default_factory=list)

    @staticmethod
    def serves(question: Question) -> bool:
        """Whether the question has linear regions, no pinned inputs, and as many outputs as inputs."""
        return (
            question.problem == "local"
            and question.radius is None
            and not question.is_smooth
            and question.graph.output_dim == len(question.center)
            and bool((question.low < question.high).all())
        )

    def learn(self, question: Question, pair: Points) -> None:
        """Remember the regions of an exact violation."""
        maps = ExactMaps(_setting(question))
        first, second = (_phases(maps, point) for point in pair)
        if first is None or second is None:
            return
        self._remember(first, second)

    def _remember(self, first: Phases, second: Phases) -> None:
        others = [p for p in self.patterns if not (np.array_equal(p[0], first) and np.array_equal(p[1], second))]
        self.patterns = [*others, (first, second)][-KEPT:]

    def answer(self, question: Question) -> Answer | None:
        """The closed bracket around the next centre; None where a search has to find it."""
        if not self.patterns:
            return None
        try:
            with until(question.deadline), np.errstate(all="ignore"):
                return self._answer(question)
        except (OutOfTime, Undecided, ArithmeticError, np.linalg.LinAlgError):
            return None

    def _answer(self, question: Question) -> Answer | None:
        setting = _setting(question)
        maps = ExactMaps(setting)
        descent = Descent(setting, maps, lambda: not question.deadline.passed())
        for first, second in reversed(self.patterns):
            descent.improve(first, second)
        proof = _Proof(setting, descent, question)
        for _ in range(ROUNDS):
            if descent.best is None or descent.infimum_is_zero:
                return None
            best = descent.best
            radius = setting.norm.length(best[0]) * (1 - max(question.tol / 2, 1e-12))
            if not 0 < radius < question.reach:
                return None
            if self._covered(proof, radius):
                return self._closed(setting, maps, radius, *best)
            if not proof.nearer(radius) or descent.best is best:
                return None
        return None

    def _closed(self, setting: Setting, maps: ExactMaps, radius: float, measure: Fraction, pair: Pair) -> Answer:
        """The bracket, after what it teaches about the next one is remembered."""
        x, y = ([c + t for c, t in zip(setting.exact_center, u, strict=True)] for u in (pair.x, pair.y))
        first, second = _phases(maps, x), _phases(maps, y)
        if first is not None and second is not None:
            self._remember(first, second)
        end = End.root_above if setting.norm == "2" else End.above
        return Answer.bracket(End(radius, CLEAR.format(ONE_MATRIX)), end(measure, COLLISION), (x, y))

    def _covered(self, proof: _Proof, radius: float) -> bool:
        """Whether the closed ball is good, by the last matrix or by one that is found for it."""
        if self.matrix is not None and proof.by(self.matrix, radius):
            return True
        found = proof.by_another(radius)
        if found is not None:
            self.matrix = found
        return found is not None


class _Proof:
    """Covers of balls around one centre, and points in them that lie beyond folds."""

    def __init__(self, setting: Setting, descent: Descent, question: Question) -> None:
        self._setting, self._descent, self._question = setting, descent, question
        self._network, self._counts = Batches(setting), Counts()
        self._covering = Covering(self._network, self._counts, _silent, question.seed)
        self._suspects: list[Array] = []

    def by(self, matrix: Array, radius: float) -> bool:
        """Whether a matrix that is given covers a ball with few boxes."""
        points = Sampler(self._setting, self._question.seed)
        cover = Cover(OneMatrix(self._network, matrix), points, self._counts, _silent)
        cover.begin(radius)
        outcome: Outcome | None = None
        with suppress(Stopped):
            while outcome is None and cover.spent < BOXES:
                outcome = cover.step(radius, self._question.deadline.passed)
        self._suspects += cover.failing
        return outcome == "closed"

    def by_another(self, radius: float) -> Array | None:
        """A matrix that covers a ball; None where none is found soon, or a fold is met."""
        end, covering = self._counts.effort + EFFORT, self._covering

        def stop() -> bool:
            return bool(covering.turned) or self._counts.effort > end or self._question.deadline.passed()

        return covering.matrix if covering.advance(radius, stop) == "closed" else None

    def nearer(self, radius: float) -> bool:
        """Whether points that were met lead to a violation in the ball."""
        points = [*self._suspects, *self._covering.turned]
        self._suspects, self._covering.turned = [], []
        if not points:
            return False
        with suppress(Violated):
            self._falsifier.look(np.concatenate(points), radius)
        return self._descent.has_within(radius)

    @cached_property
    def _falsifier(self) -> Falsifier:
        return Falsifier(self._setting, self._descent)


def _setting(question: Question) -> Setting:
    return Setting(question.network.merged, question.problem, question.graph.output_dim, question.place.simplest)


def _phases(maps: ExactMaps, point: list[Fraction]) -> Phases | None:
    """The sides of all neurons at a point, exactly, of which those in a kink have any; None where they do not settle.

    With the sides of earlier layers right, preactivations of the next are: as many rounds as there are layers do.
    """
    setting = maps.setting
    rough = np.array([[float(v) for v in point]])
    phases = np.where(setting.preactivations(rough)[0] < 0, -1, 1).astype(np.int8)
    u = [v - c for v, c in zip(point, setting.exact_center, strict=True)]
    scale = math.lcm(*(v.denominator for v in u))
    whole = [*(v.numerator * (scale // v.denominator) for v in u), scale]
    for _ in range(len(setting.relus) + 1):
        values = [sum(int(a) * b for a, b in zip(row, whole, strict=True)) for row in maps.of(phases).z]
        signs = np.array([(v > 0) - (v < 0) for v in values], dtype=np.int8)
        found = np.where(signs == 0, phases, signs).astype(np.int8)
        if np.array_equal(found, phases):
            return phases
        phases = found
    return None


def _silent() -> None:
    """Nobody is listening."""
