"""The largest good radii around many centres that lie close together: the same violations and matrices, mostly.

A first violation is hunted for at one centre, unless a search has found one. The nearest violation of a neighbour lies
in two linear regions; the descent that starts there finds the nearest pair of them, and of regions next to it, for
another centre. Points of the ball just below that pair are looked at: those beyond a fold lead to a nearer violation.
Then balls are covered by matrices that covered others, many at once where they are boxes (`many_balls`), and one that
no matrix covers gets a new one, which is tried on all others. A ball that is covered closes its bracket. What is left
is said to be open.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from ircert.engines.base import Answer, Points, Question, farthest
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.boxes.falsification.falsifier import Falsifier
from ircert.engines.boxes.falsification.hunt import Hunt
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
from ircert.engines.boxes.search.prover import ONE_MATRIX
from ircert.engines.boxes.search.search import CLEAR, COLLISION
from ircert.engines.judge import NOTHING
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array
from ircert.limits import Deadline, OutOfTime, Undecided, until
from ircert.result.radius import End

ROUNDS = 12
"""How often a nearer violation may be met in a ball."""
KEPT = 8
"""Pairs of regions that are remembered, the latest ones."""
TRIED = 4
"""Matrices that are tried on a ball, of those that are good at all points that were looked at …"""
BOXES = 300
"""… with that many boxes each …"""
FEW = 16
"""… and once more alone, where no more are left …"""
EFFORT = 40_000
"""… and what a new one may take (`Counts.effort`)."""


@dataclass(eq=False)
class _Regions:
    """Two regions that hold a violation: from where they were looked at last, and how far away that was at least."""

    first: Phases
    second: Phases
    center: Array
    distance: float

    @property
    def key(self) -> bytes:
        return self.first.tobytes() + self.second.tobytes()

    def bound(self, setting: Setting) -> float:
        """How far away they are from another centre at least: distances are 1-Lipschitz."""
        return self.distance - float(setting.norm.lengths(setting.center - self.center))


@dataclass
class Following:
    """What centres have shown: where violations were, and matrices C that covered balls; the latest come last."""

    regions: list[_Regions] = field(default_factory=list)
    matrices: list[Array] = field(default_factory=list)
    _memory: PairMemory = field(default_factory=PairMemory)
    _was_hunted: bool = False
    _corners: set[bytes] = field(default_factory=set)

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
        setting = _setting(question)
        self._remember(setting, ExactMaps(setting), pair, 0.0)

    def answers(self, questions: list[Question], deadline: Deadline) -> list[Answer | None]:
        """What is found about some centres, mostly closed brackets; None where a search has to find all."""
        balls: list[_Ball] = []
        with suppress(OutOfTime), until(deadline), np.errstate(all="ignore"):
            for question in questions:
                balls.append(_Ball(question, deadline, self._memory))
                self._approach(balls[-1])
            self._cover(balls)
        return [ball.answer() for ball in balls] + [None] * (len(questions) - len(balls))

    # --- violations --------------------------------------------------------------------------------------------------

    def _hunt(self, ball: _Ball) -> None:
        """Look for a first violation, once, as a search begins."""
        if self.regions or self._was_hunted:
            return
        self._was_hunted = True
        question = ball.question
        reach = min(question.reach, farthest(question.center, question.norm))
        Hunt(ball.setting, ball.descent, question.seed, reach).begin()

    def _remember(self, setting: Setting, maps: ExactMaps, pair: Points, distance: float) -> None:
        first, second = (_phases(maps, point) for point in pair)
        if first is None or second is None:
            return
        new = _Regions(first, second, setting.center, distance)
        self.regions = [*(known for known in self.regions if known.key != new.key), new][-KEPT:]

    def _approach(self, ball: _Ball) -> None:
        """Find the nearest violation, as far as regions of earlier ones and points of the ball lead to it."""
        with ball.given_up_on_trouble():
            self._hunt(ball)
            self._descend(ball.descent)
            self._go_further(ball.descent)
            ball.look()
        if ball.descent.best is not None and not ball.descent.infimum_is_zero:
            self._remember(ball.setting, ball.maps, ball.pair, ball.distance)

    def _descend(self, descent: Descent) -> None:
        """Look at the regions of earlier violations, but for those that are too far away by where they were."""
        setting = descent.setting
        bounds = [known.bound(setting) for known in self.regions]
        for k in np.argsort(bounds, kind="stable").tolist():
            if descent.best is None or bounds[k] <= setting.norm.length(descent.best[0]):
                descent.improve(self.regions[k].first, self.regions[k].second, onward=False)
        for known in self.regions:
            if known.key in descent.measured:
                measure = descent.measured[known.key]
                known.center = setting.center
                known.distance = math.inf if measure is None else setting.norm.length(measure)

    def _go_further(self, descent: Descent) -> None:
        """Look beside the nearest pair, unless that led nowhere at the same place of another centre's violation."""
        corner = descent.corner()
        if corner not in self._corners and not descent.further():
            self._corners.add(corner)

    # --- covers ------------------------------------------------------------------------------------------------------

    def _cover(self, balls: list[_Ball]) -> None:
        """Cover all balls that can be: by matrices that are known, then the first that is left by a new one."""
        for ball in balls:
            ball.consider(self.matrices)
        while left := [ball for ball in balls if ball.is_open]:
            tried = [ball for ball in left if ball.untried]
            if tried:
                self._try(tried)
                continue
            # what covers a large ball covers most of the smaller ones beside it
            first = max(left, key=lambda ball: ball.radius)
            with first.given_up_on_trouble():
                found = first.by_another()
                if found is None:
                    first.consider(self.matrices)
                    continue
                self.matrices.append(found)
                for ball in left:
                    ball.consider([found])

    def _try(self, balls: list[_Ball]) -> None:
        """Try on each ball the matrix that suits it best; balls with the same one together."""
        groups: dict[int, list[_Ball]] = {}
        for ball in balls:
            groups.setdefault(id(ball.untried[0]), []).append(ball)
        for group in groups.values():
            matrix = group[0].untried[0]
            for ball in group:
                ball.untried.pop(0)
            _cover_all(group, matrix)
            for ball in group:
                with ball.given_up_on_trouble():
                    if ball.is_open and ball.look_further():
                        ball.consider(self.matrices)


def _cover_all(balls: list[_Ball], matrix: Array) -> None:
    """Cover balls by one matrix; points where it is wrong become their suspects."""
    first = balls[0]
    if first.setting.norm != Norm.INF:
        for ball in balls:
            ball.by(matrix)
        return
    roots = joined([around(ball.setting, ball.radius) for ball in balls])
    many = ManyBalls(OneMatrix(first.network, matrix), Sampler(first.setting), first.counts, roots)
    many.advance(BOXES, first.is_over)
    for k, (ball, closed) in enumerate(zip(balls, many.closed.tolist(), strict=True)):
        ball.is_closed = closed
        ball.suspects += [points for points in many.failing_in(k) if len(points)]
        if not closed and not ball.suspects and many.open[k] <= FEW:
            ball.by(matrix, many.left_of(k, ball.setting))


class _Ball:
    """The ball just below the nearest violation that is known around a centre.

    untried:  matrices that may cover it, the best first
    suspects: points where a matrix was wrong: perhaps they lie beyond a fold
    """

    def __init__(self, question: Question, deadline: Deadline, memory: PairMemory) -> None:
        self.question, self._deadline = question, deadline
        self.setting = _setting(question)
        self.maps = ExactMaps(self.setting)
        self.descent = Descent(self.setting, self.maps, lambda: not self.is_over(), memory=memory)
        self.counts = Counts()
        self.is_closed = self.gave_up = False
        self.untried: list[Array] = []
        self.suspects: list[Array] = []
        self._rounds = 0

    def is_over(self) -> bool:
        """Whether time is."""
        return self._deadline.passed()

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

    def consider(self, matrices: list[Array]) -> None:
        """Matrices that are good at all points that were looked at may cover the ball."""
        if not self.is_open:
            return
        misfits = [self._covering.misfit(matrix, self.radius) for matrix in matrices]
        order = sorted((k for k in range(len(matrices)) if misfits[k] < math.inf), key=misfits.__getitem__)
        self.untried = [matrices[k] for k in order[:TRIED]]

    def by(self, matrix: Array, left: Frontier | None = None) -> None:
        """Cover it by a matrix, alone: all of it, or what is left. Trees of phases help here, and not with many."""
        cover = Cover(OneMatrix(self.network, matrix), Sampler(self.setting), self.counts, _silent)
        if left is None:
            cover.begin(self.radius)
        else:
            cover.begin_with(left, self.radius)
        outcome: Outcome | None = None
        with suppress(Stopped):
            while outcome is None and cover.spent < BOXES:
                outcome = cover.step(self.radius, self.is_over)
        self.is_closed = outcome == "closed"
        self.suspects += cover.failing

    def by_another(self) -> Array | None:
        """A new matrix that covers it; None where a nearer violation was met, or it is given up."""
        end, covering = self.counts.effort + EFFORT, self._covering

        def stop() -> bool:
            return bool(covering.turned) or self.counts.effort > end or self.is_over()

        self.is_closed = covering.advance(self.radius, stop) == "closed"
        if self.is_closed:
            return covering.matrix
        self.suspects += covering.turned
        self.gave_up = self.gave_up or not self.look_further()
        return None

    def answer(self) -> Answer | None:
        """The bracket; None where no violation is known."""
        if self.descent.best is None or self.descent.infimum_is_zero or self.distance > self.question.reach:
            return None
        good = End(self.radius, CLEAR.format(ONE_MATRIX)) if self.is_closed else End(0.0, NOTHING)
        end = End.root_above if self.setting.norm == "2" else End.above
        return Answer.bracket(good, end(self.descent.best[0], COLLISION), self.pair)


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
