"""One matrix for a ball: which one, and covers with it.

A few matrices are tried on random ways down the tree of a cover each (`probe`): what fails there makes the next one
better, and how long a cover will take is known before. The best one goes on, the boxes nearest to the centre first, so
that a smaller ball is proved on the way. When that has taken several times as long as expected, other matrices are
tried, and the best one goes on again. Processes share what the best one has left; matrices are tried in one.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from typing import TypeAlias, TypeVar

import numpy as np

from ircert.engines.boxes.effort.divisible import Processes
from ircert.engines.boxes.enclosures.batches import MOST as MOST_AT_ONCE
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.one_matrix.cover import Cover, Frontier, MatrixFails, least_at
from ircert.engines.boxes.one_matrix.cuts import FEW_INPUTS
from ircert.engines.boxes.one_matrix.domination import OneMatrix
from ircert.engines.boxes.one_matrix.finding import Finder
from ircert.engines.boxes.one_matrix.points import Points
from ircert.engines.boxes.one_matrix.probe import expected_boxes
from ircert.engines.boxes.problem.boxes import Boxes
from ircert.engines.boxes.problem.outcome import SLOPES, Counts, Outcome, Stopped
from ircert.ir.arrays import Array
from ircert.limits import OutOfTime

WAYS, LEAST_WAYS = 192, 16
"""Down the tree of a cover of a small network, and at least, which say how many boxes it takes."""
MANY = 10.0
"""How many times the boxes of a cheap cover one takes for all ways to be gone, and not a quarter of them."""
CHEAP, LEAST_CHEAP = 300, 40
"""Boxes of a small network, and at least, that are spent on a matrix before anything is expected of it."""
TRY = 5.0
"""With more than few inputs, how many times as many a cover takes for another matrix to be worth what that takes."""
LITTLE = 0.01
"""The part of a ball that they leave open where these say how many boxes a cover takes, and not random points."""
LATER, LEAST_RUN = 1.5, 5.0
"""A cover that has taken so many times what was expected of it, and of a cheap one, is compared with others."""
MATRICES, WORSE = 6, 2
"""How many are tried, and how many in a row of which none …"""
BETTER = 0.8
"""… takes at most this part of the best one's boxes …"""
DEAR, MOST_PATIENT = 40, 4
"""… and how many times as many where a cover is expected to take so many times the boxes of a cheap one; at most …"""
HOPELESS = 4.0
"""… and as the best one may come to take no more than the effort: not if it is that much more."""
BEYOND = 1_000.0
"""Covers that are expected to take so many times the effort are all alike: no matrix is that much better."""
KEPT = 1.0
"""A matrix is kept for a larger ball that takes at most so many times the boxes that all inside of it took."""
WRONG = 40
"""How often a matrix may turn out to be wrong somewhere in one ball."""
STRESSES, DESCENT, MOST_KNOWN, FRESH = 4, 8, 1_000, 0.3
"""How often a new matrix is tried where it is worst, how many steps from there on to where it is worse, from how many
points that are kept, and from new ones (a part of those that a ball is looked at first)."""
RENEWAL = 40
"""What a new matrix takes, in boxes whose slopes are cut."""

T = TypeVar("T")
Steps: TypeAlias = Generator[bool, None, T]
"""Work that can be left after every step; what it yields is whether time ended inside the step."""


@dataclass
class Covering:
    """The search; `reached` is the radius of the largest ball that was proved, with whatever matrix.

    matrix:  C of the cover that was worked on last
    spent:   … and how many boxes that one has looked at
    turned:  points whose regions have another orientation than most, if there are any
    gave_up: from this radius on there is no matrix, as far as floats say
    effort:  what a cover may be expected to take (`Counts.effort`); else it is not begun
    expected: how many that was of the last cover that was not
    guess:   … as far as is known of the ball that was asked about last, whether one was begun or not; 0 before
    left:    what the cover that is worked on was expected to take when it was begun; infinite where none is
    processes: who shares large frontiers, if anyone does
    draws:   who draws points of balls
    covers:  the kind of covers
    roots:   the boxes that covers begin with; by default the one around the ball
    """

    network: Batches
    counts: Counts
    report: Callable[[], None]
    seed: int = 0
    reached: float = 0.0
    matrix: Array | None = None
    spent: int = 0
    gave_up: float = np.inf
    effort: float = np.inf
    expected: float = 0.0
    guess: float = 0.0
    left: float = np.inf
    draws: type[Points] = Points
    covers: type[Cover] = Cover
    roots: Boxes | None = None
    turned: list[Array] = field(default_factory=list, repr=False)
    processes: Processes | None = None
    _finder: Finder | None = field(default=None, repr=False)
    _best: Cover | None = field(default=None, repr=False)
    _farthest: Cover | None = field(default=None, repr=False)
    """The one that proved the largest ball."""
    _work: Steps[Outcome] | None = field(default=None, repr=False)
    _radius: float = 0.0
    _looked: float = field(default=0.0, repr=False)
    _end: float = field(default=np.inf, repr=False)
    """What is counted when the effort is used up."""
    _dearness: float = field(default=1.0, repr=False)
    """The effort of a box, with what cutting slopes takes."""

    def __post_init__(self) -> None:
        self.points = self.draws(self.network.setting, self.seed)
        self._known = np.zeros((0, self.network.size))
        self._met: dict[bytes, float] = {}

    @property
    def too_long(self) -> float | None:
        """What the last cover is expected to take, if that is more than its effort: it was not begun."""
        return self.expected if self.expected > self.effort else None

    def advance(self, radius: float, stop: Callable[[], bool]) -> Outcome:
        """Go on until the ball is covered; stops of its own accord where no matrix is left."""
        if radius <= self.reached:
            return "closed"
        if radius >= self.gave_up:
            return "stopped"
        if radius != self._radius or self._work is None:
            self._work, self._radius, self.guess = self._steps(radius), radius, 0.0
        self.expected, self._end = 0.0, self.counts.effort + self.effort
        try:
            with np.errstate(all="ignore"):
                while not stop():
                    if next(self._work):
                        break
        except StopIteration as end:
            self._work = None
            return "closed" if end.value == "closed" else "stopped"
        except np.linalg.LinAlgError:
            self.gave_up, self._work = min(self.gave_up, radius), None
        return "stopped"

    # --- a ball ------------------------------------------------------------------------------------------------------

    def _steps(self, radius: float) -> Steps[Outcome]:
        if self._looked != radius:
            yield from _patient(lambda: self.look_around(radius))
        best = self._best if self._best is not None and self._best.holds(radius) else None
        expected = best.left_of(radius) if best is not None else np.inf
        wrong, most = 0, MATRICES
        if best is None:
            best, expected = yield from self._grown(radius)
            self._note(expected)
            if best is not None and expected <= KEPT * best.inner:
                most = 0
        hard: tuple[Frontier, float] | None = None
        while wrong < WRONG:
            worse = tried = 0
            while self._goes_on(expected, worse, tried, most):
                dear = self.network.size > FEW_INPUTS or MANY * self._cheap < expected < np.inf
                cover = yield from self._another(radius, DESCENT if dear else 1)
                if cover is None:
                    self.gave_up = min(self.gave_up, radius)
                    return "stopped"
                if best is not None and np.array_equal(best.matrix.matrix, cover.matrix.matrix):
                    break  # what failed taught nothing
                outcome = yield from self._run(cover, radius, int(self._cheap))
                if outcome == "closed":
                    return outcome
                boxes = None if outcome == "violated" else (yield from self._expected(cover, radius, hard))
                if boxes is None:
                    wrong += 1
                    if wrong >= WRONG:
                        break
                    continue
                tried, worse = tried + 1, 0 if boxes < BETTER * expected else worse + 1
                if boxes < expected:
                    best, expected = cover, boxes
                    self._note(expected)
                if tried > 1 and expected * self._dearness > HOPELESS * self.effort:
                    break
            if best is None:
                continue
            self._best = best
            while expected * self._dearness > self.effort:
                self.expected = expected * self._dearness
                yield True
            self.left = expected * self._dearness
            outcome = yield from self._run(
                best, radius, best.spent + int(max(LATER * expected, LEAST_RUN * self._cheap))
            )
            self.left = np.inf
            if outcome == "closed" or best.is_full:
                return outcome
            if outcome != "violated":  # it takes longer than was expected
                hard = best.some_open(radius, self._ways)
                left = yield from self._probed(best, radius, *hard)
            if outcome == "violated" or left is None:  # a matrix that knows better will take about as long
                best, expected, wrong, most, hard = None, np.inf, wrong + 1, 1, None
            else:
                expected, most = left, MATRICES
        return "stopped"

    def _note(self, expected: float) -> None:
        """How many boxes the best cover so far is expected to take."""
        self.guess = expected * self._dearness if expected < np.inf else 0.0

    def _grown(self, radius: float) -> Steps[tuple[Cover | None, float]]:
        """The cover that proved the largest ball so far, for what a larger one adds, and how many boxes that takes."""
        cover = None if self._farthest is None else self._farthest.for_larger()
        if cover is None or cover.inner < self._cheap:  # a matrix is found as soon as it is known to serve
            return None, np.inf
        if (yield from _patient(lambda: self._fails_near_the_worst(cover.matrix.matrix, radius, DESCENT))):
            return None, np.inf
        boxes = yield from self._probed(cover, radius)
        return (None, np.inf) if boxes is None else (cover, boxes)

    def _expected(self, cover: Cover, radius: float, hard: tuple[Frontier, float] | None) -> Steps[float | None]:
        """How many boxes a cover that was begun is expected to take; None where C is wrong.

        hard: boxes that random ways hardly meet, which another cover could not close, and how many each stands for
        """
        if cover.open_share(radius) < LITTLE:  # random points hardly meet what is left
            boxes: float | None = cover.left_of(radius)
        else:
            boxes = yield from self._probed(cover, radius)
        if hard is None or boxes is None:
            return boxes
        more = yield from self._probed(cover, radius, *hard)
        return None if more is None else boxes + more

    def _goes_on(self, expected: float, worse: int, tried: int, most: int) -> bool:
        """Whether another matrix is worth while, when some were tried, the last ones in vain."""
        takes, left = expected * self._dearness, self._end - self.counts.effort
        if takes <= left < LATER * takes + TRY * self._cheap:  # it is now or never
            return False
        patience = 1 if expected == np.inf else min(MOST_PATIENT, max(1, int(expected / (DEAR * self._cheap))))
        worth = self._cheap * (TRY if self.network.size > FEW_INPUTS else 1.0)
        return expected > worth and worse < WORSE * patience and tried < most * patience

    @property
    def _cheap(self) -> float:
        """Boxes that show what a matrix is worth, if they do not cover the ball."""
        return max(LEAST_CHEAP, CHEAP * self.network.batch / MOST_AT_ONCE)

    @property
    def _ways(self) -> int:
        return max(LEAST_WAYS, WAYS * self.network.batch // MOST_AT_ONCE)

    def _probed(
        self, cover: Cover, radius: float, roots: Frontier | None = None, each: float = 1.0
    ) -> Steps[float | None]:
        """How many boxes a cover is expected to take; None where C is wrong. What fails is learned.

        roots: where it begins, if not with the ball, and for how many such boxes each stands
        """
        if roots is not None and not len(roots.keys):  # all is closed, and the next step says so
            return 0.0
        shares = np.random.default_rng(self.seed).random((self._ways, self.network.size))
        most, few = BEYOND * self.effort / each, len(shares) if roots is not None else max(LEAST_WAYS, self._ways // 4)
        self.matrix = cover.matrix.matrix
        before = replace(self.counts)
        boxes: float | None
        try:
            boxes = yield from _patient(lambda: each * expected_boxes(cover, radius, shares[:few], roots, most))
            if few < len(shares) and boxes > MANY * self._cheap:
                more = yield from _patient(lambda: expected_boxes(cover, radius, shares[few:], None, most))
                boxes += (more - boxes) * (len(shares) - few) / len(shares)
        except MatrixFails:
            boxes = None
        since = self.counts.since(before)
        self._dearness = 1.0 + SLOPES * since.slopes / max(1, since.boxes)
        yield from _patient(lambda: self._learn_from(cover, radius))
        return None if cover.failing else boxes

    def _run(self, cover: Cover, radius: float, boxes: int) -> Steps[Outcome]:
        """Work until so many boxes were spent in all; "stopped" then. What fails is learned."""
        self.matrix, cover.processes = cover.matrix.matrix, self.processes
        cover.begin(radius)
        outcome: Outcome | None = None
        while outcome is None and cover.spent < boxes:
            outcome = yield from _patient(lambda: cover.step(radius, _never))
            self.reached, self.spent = max(self.reached, min(cover.reached, radius)), cover.spent
        if self._farthest is None or cover.reached > self._farthest.reached:
            self._farthest = cover
        if outcome != "closed":
            yield from _patient(lambda: self._learn_from(cover, radius))
        return "violated" if cover.failing and outcome != "closed" else outcome or "stopped"

    def _learn_from(self, cover: Cover, radius: float) -> None:
        """Points where a matrix is wrong, or corners where it may be."""
        assert self._finder is not None
        if cover.failing:
            failing = np.concatenate(cover.failing)
            self._learn(np.concatenate([failing, self.points.around(failing, radius)]), radius)
        else:
            for slopes, radii in cover.corners:
                self._finder.learn_corners(self.points.at_slopes(slopes), radii)
            cover.corners = []

    # --- matrices ----------------------------------------------------------------------------------------------------

    def misfit(self, matrix: Array, radius: float) -> float:
        """How badly a matrix suits the points of a ball that was looked at: infinite where it fails at one."""
        assert self._finder is not None
        return self._finder.misfit(matrix, radius)

    def look_around(self, radius: float) -> None:
        """Learn about the regions of the ball."""
        if self._finder is None:
            self._finder = Finder(self.points.reference(radius))
        self._looked = radius
        points = self.points.sampled(radius)
        if not self._learn(points, radius):  # else there is no matrix
            self._learn(self.points.crossings(points, radius), radius)

    def _learn(self, points: Array, radius: float) -> bool:
        """Take points of a ball into account whose regions are not known to meet it; whether some are turned."""
        assert self._finder is not None
        points = self._new(points, radius)
        jacobians = self.points.jacobians(points)
        turned = self._finder.turned(jacobians)
        if turned.any():
            self.turned.append(points[turned])
        self._finder.learn(jacobians, self.points.radii(points))
        self._known = np.concatenate([self._known, points])[-MOST_KNOWN:]
        return bool(turned.any())

    def _new(self, points: Array, radius: float) -> Array:
        new = []
        distances = self.points.radii(points).tolist()
        for i, pattern in enumerate(self.points.patterns(points)):
            if not self._met.get(pattern, np.inf) < radius:
                new.append(i)
                self._met[pattern] = distances[i]
        return points[new]

    def _fails_near_the_worst(self, matrix: Array, radius: float, steps: int) -> bool:
        """Whether a matrix is wrong near regions where it is worst, among those that are known and others."""
        points, count = self.points, self.points.starts
        known = self._known[points.radii(self._known) < radius]
        parts = known, points.sampled(radius, FRESH)
        starts = [part[np.argsort(least_at(points, matrix, part), kind="stable")[:count]] for part in parts]
        return self._fails_nearby(matrix, np.concatenate(starts), radius, steps)

    def _fails_nearby(self, matrix: Array, here: Array, radius: float, steps: int) -> bool:
        """Whether a matrix is wrong near some points: followed step by step to where it is worse, which is learned."""
        points, least = self.points, np.zeros(0)
        for _ in range(steps):
            tried = np.concatenate([here[:, None], points.near(here, radius)], axis=1)
            values = least_at(points, matrix, tried.reshape(-1, here.shape[1])).reshape(tried.shape[:2])
            here, least = tried[np.arange(len(here)), np.argmin(values, axis=1)], values.min(axis=1)
        self._learn(points.of_different_regions(here), radius)
        return bool((least <= 0).any())

    def _another(self, radius: float, steps: int) -> Steps[Cover | None]:
        """A cover to begin with a matrix that knows all that failed; None where there is no matrix.

        steps: from where it is worst to where it is worse
        """
        finder = self._finder
        assert finder is not None
        self.counts.slopes += RENEWAL
        for _ in range(STRESSES):
            if not (yield from _patient(lambda: finder.find(radius))):
                return None
            if not (yield from _patient(lambda: self._fails_near_the_worst(finder.matrix, radius, steps))):
                break
        given = OneMatrix(self.network, finder.matrix), self.points, self.counts, self.report
        return self.covers(*given, roots=self.roots)


def _never() -> bool:
    """Whether to stop is asked between steps."""
    return False


def _patient(work: Callable[[], T]) -> Steps[T]:
    """Do something; where time ends in the middle of it, it is done anew the next time."""
    while True:
        try:
            result = work()
        except (Stopped, OutOfTime):
            yield True
            continue
        yield False
        return result
