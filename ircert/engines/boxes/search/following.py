"""The largest good radii around many centres that lie close together: the same violations and matrices, mostly.

A first violation is hunted for at one centre, unless a search has found one. The nearest violation of a neighbour lies
in two linear regions; the descent that starts there finds the nearest pair of them, and of regions next to it, for
another centre. Points of the ball just below that pair are looked at: those beyond a fold lead to a nearer violation.
A violation that is met around one centre is tried around all others whose balls hold it. Then balls are covered by
matrices that covered others, many at once where they are boxes (`many_balls`), and one that no matrix covers gets a new
one, which is tried on all others. A ball for which that takes long waits, with all that was learned, for what the
others show. Where there is no matrix, degree or a tree of phases may prove it. What is left is said to be open.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from ircert.engines.base import Answer, Points, Question, farthest
from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.boxes.falsification.hunt import Hunt
from ircert.engines.boxes.falsification.pair_memory import PairMemory
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.engines.boxes.problem.setting import Phases
from ircert.engines.boxes.search.followed_ball import Ball, Known, Patterns, cover_all, setting_of
from ircert.limits import Deadline, OutOfTime, until

KEPT = 8
"""Pairs of regions that are remembered, the latest ones."""
EFFORTS = (10_000, 40_000, 160_000)
"""What new matrices of a ball may take (`Counts.effort`): hard ones wait for what the others show …"""
VAIN = 2
"""… and are left to searches when that many took all of it in vain."""


@dataclass
class Following:
    """What centres have shown: where violations were, and matrices C that covered balls; the latest come last."""

    regions: list[Patterns] = field(default_factory=list)
    matrices: list[Known] = field(default_factory=list)
    _memory: PairMemory = field(default_factory=PairMemory)
    _was_hunted: bool = False
    _corners: set[bytes] = field(default_factory=set)
    _balls: dict[bytes, Ball] = field(default_factory=dict)

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
        self._remember(ExactMaps(setting_of(question)), pair)

    def answers(self, questions: list[Question], deadline: Deadline) -> list[Answer | None]:
        """What is found about some centres, mostly closed brackets; None where a search has to find all.

        Asked again about the same centres, it goes on, where something new is known.
        """
        balls: list[Ball] = []
        with suppress(OutOfTime), until(deadline), np.errstate(all="ignore"):
            for question in questions:
                balls.append(self._approached(question, deadline))
            self._exchange(balls, balls)
            self._cover(balls)
        return [ball.answer() for ball in balls] + [None] * (len(questions) - len(balls))

    def _approached(self, question: Question, deadline: Deadline) -> Ball:
        """The ball around a centre."""
        key = question.center.tobytes()
        if key not in self._balls:
            self._balls[key] = Ball(question, deadline, self._memory)
            self._approach(self._balls[key])
            return self._balls[key]
        ball, best = self._balls[key], self._balls[key].descent.best
        ball.deadline = deadline
        self._descend(ball.descent)
        if ball.descent.best is not best:
            ball.gave_up, ball.spent = False, 0
        return ball

    # --- violations --------------------------------------------------------------------------------------------------

    def _hunt(self, ball: Ball) -> None:
        """Look for a first violation, once, as a search begins."""
        if self.regions or self._was_hunted:
            return
        self._was_hunted = True
        question = ball.question
        reach = min(question.reach, farthest(question.center, question.norm))
        Hunt(ball.setting, ball.descent, question.seed, reach).begin()

    def _remember(self, maps: ExactMaps, pair: Points) -> Patterns | None:
        first, second = (_phases(maps, point) for point in pair)
        if first is None or second is None:
            return None
        others = (known for known in self.regions if not all(map(np.array_equal, known, (first, second))))
        self.regions = [*others, (first, second)][-KEPT:]
        return first, second

    def _approach(self, ball: Ball) -> None:
        """Find the nearest violation, as far as regions of earlier ones and points of the ball lead to it."""
        with ball.given_up_on_trouble():
            self._hunt(ball)
            self._descend(ball.descent)
            self._go_further(ball.descent)
            ball.look()
        self._keep(ball)

    def _keep(self, ball: Ball) -> None:
        """Remember the regions of the violation around a centre."""
        if ball.descent.best is not None and not ball.descent.infimum_is_zero:
            ball.regions = self._remember(ball.maps, ball.pair)

    def _descend(self, descent: Descent) -> None:
        """Look at the regions of earlier violations, those first that may be nearest."""
        memory, setting = self._memory, descent.setting
        bounds = [memory.least(first.tobytes() + second.tobytes(), setting) for first, second in self.regions]
        for k in np.argsort(bounds, kind="stable").tolist():
            descent.improve(*self.regions[k], onward=False)

    def _go_further(self, descent: Descent) -> None:
        """Look beside the nearest pair, unless that led nowhere at the same place of another centre's violation."""
        corner = descent.corner()
        if corner not in self._corners and not descent.further():
            self._corners.add(corner)

    def _exchange(self, balls: list[Ball], found: list[Ball]) -> None:
        """Look at the regions of violations found around some centres where these lie in the balls of others."""
        found = [ball for ball in found if ball.regions is not None]
        if not found:
            return
        x, y = (np.array([[float(v) for v in ball.pair[k]] for ball in found]) for k in range(2))
        for ball in balls:
            if ball.is_open:
                away = ball.distances(x, y)
                near = np.argsort(away, kind="stable")[: int((away < ball.radius).sum())]
                for other in (found[k] for k in near.tolist()):
                    assert other.regions is not None
                    if ball.descent.improve(*other.regions):
                        ball.consider(self.matrices)

    # --- covers ------------------------------------------------------------------------------------------------------

    def _cover(self, balls: list[Ball]) -> None:
        """Cover all balls that can be: by matrices that are known, then the first that is left by a new one."""
        for ball in balls:
            ball.consider(self.matrices)
        efforts, vain = list(EFFORTS), 0
        while left := [ball for ball in balls if ball.is_open]:
            tried = [ball for ball in left if ball.untried]
            if tried:
                self._try(tried, balls)
                continue
            waiting = [ball for ball in left if ball.spent < efforts[0]]
            if not waiting and len(efforts) > 1:
                efforts.pop(0)
                continue
            if not waiting or vain >= VAIN:
                return
            # what covers a large ball covers most of the smaller ones beside it
            first = max(waiting, key=lambda ball: ball.radius)
            if first.deadline.passed():  # covers end at once then, and nothing is spent: it would be asked for ever
                return
            self._cover_anew(first, efforts[0], balls)
            vain += first.is_open and first.spent >= EFFORTS[-1]

    def _cover_anew(self, ball: Ball, effort: int, balls: list[Ball]) -> None:
        """Find a matrix for a ball, which is tried on all others, or a nearer violation."""
        best = ball.descent.best
        with ball.given_up_on_trouble():
            found = ball.by_another(effort)
            if found is not None:
                self.matrices.append(found)
                for other in balls:
                    other.consider([found])
            elif ball.descent.best is not best:
                self._spread(ball, balls)

    def _spread(self, ball: Ball, balls: list[Ball]) -> None:
        """A nearer violation was met in a ball: it may be one for others, and the ball is smaller."""
        ball.consider(self.matrices)
        self._keep(ball)
        self._exchange(balls, [ball])

    def _try(self, tried: list[Ball], balls: list[Ball]) -> None:
        """Try on each ball the matrix that suits it best; balls with the same one together."""
        groups: dict[int, list[Ball]] = {}
        for ball in tried:
            groups.setdefault(id(ball.untried[0]), []).append(ball)
        for group in groups.values():
            known = group[0].untried[0]
            for ball in group:
                ball.untried.pop(0)
            cover_all(group, known)
            for ball in group:
                with ball.given_up_on_trouble():
                    if ball.is_open and ball.look_further():
                        self._spread(ball, balls)


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
