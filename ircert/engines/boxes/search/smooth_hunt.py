"""Looking for what refutes a ball of a smooth network: turned points, and pairs that are proved in boxes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from ircert.engines.base import Points, Question
from ircert.engines.boxes.falsification.smooth_pairs import SmoothPairs
from ircert.engines.boxes.falsification.turned_points import FARTHER, TurnedPoints
from ircert.engines.boxes.problem.setting import Setting
from ircert.engines.boxes.search.stem_search import stem_pair
from ircert.engines.refutation import BOXED, TURNED, is_bad_everywhere
from ircert.ir.arrays import Array
from ircert.ir.boxed_pair import BoxedPair, least_gaps
from ircert.result.radius import End
from ircert.result.result import Optimum

GROWTH, LEVELS = 4.0, 9
"""Violations are sought in balls that grow, so often at first."""
MANY_INPUTS = 16
"""From so many inputs on turned points take long as well, and are sought again, with pairs, in balls that have none."""
ROUND = 6_000
"""The effort of proofs, in boxes, that is worth a round of points that follow gradients: a twentieth of the time."""
AGAIN = 2
"""So often pairs are sought again in the ball of the first one."""
BESIDE = 1.01
"""A pair for people lies at most this much farther out than turned points."""
FEWER_OUTPUTS = (
    "outputs are made of {} numbers, which cannot tell {} inputs apart: "
    "no continuous map into a space of less dimension is injective"
)
FLAT = "all that curves read is the same at points arbitrarily close to the centre, and so is the output"
ROOM = "collisions come arbitrarily close to the centre: what its Jacobian leaves free does not vanish"


@dataclass(eq=False)
class SmoothHunt:
    """What was found; `setting` is that of the outputs that must agree."""

    question: Question
    setting: Setting
    _flat: BoxedPair | None = field(default=None, init=False)  # a pair that shows that no ball is good
    _rounds: int = field(default=0, init=False)
    _level: int = field(default=0, init=False)

    @cached_property
    def turned(self) -> TurnedPoints | None:
        """Who looks for turned points, where they say something."""
        if self.question.problem != "local" or self.setting.constrained != self.setting.size:
            return None
        return TurnedPoints(self.setting, self.question.seed)

    @property
    def _turned(self) -> tuple[float, Array] | None:
        """The nearest turned point."""
        made = self.__dict__.get("turned")
        return None if made is None else made.best

    @cached_property
    def pairs(self) -> SmoothPairs:
        """Who looks for violations themselves."""
        other = self.question.networks.other
        told = None
        if other is not None:
            told = Setting(other.lowered, "local", other.lowered.output_dim, self.setting.place)
        return SmoothPairs(self.setting, told, self.question.problem == "pseudo", self.question.seed)

    @cached_property
    def is_bad_everywhere(self) -> bool:
        """Whether no ball is good."""
        return self.setting.constrained < self.setting.size and is_bad_everywhere(self.question)

    # --- looking -----------------------------------------------------------------------------------------------------

    def begin(self, first: float, is_over: Callable[[], bool]) -> None:
        """In balls that grow, until one has a violation; nowhere, where no ball is good."""
        if self.refuted == 0.0:
            return
        most = self.question.reach
        reach = most if self.question.radius is not None else min(most, first)
        if self.turned is not None and self.setting.size < MANY_INPUTS:
            self._growing(self.turned.seek, reach, is_over)
            reach = reach if self.refuted is None else self.refuted
        elif self.turned is not None and reach < most:
            self._growing(self.turned.look, reach, is_over)
        self._growing(self.look, reach, is_over)
        if self.turned is None and not self.is_bad_everywhere and self.question.radius is None:
            for _ in range(AGAIN):  # other starts may lead to nearer pairs
                if not is_over() and self.refuted is not None:
                    self.look(self.refuted)

    def _growing(self, look: Callable[[float], bool], reach: float, is_over: Callable[[], bool]) -> None:
        """Look in balls that grow, until something is found or known in one."""
        most = self.question.reach
        for _ in range(LEVELS):
            if is_over() or look(reach) or reach >= (most if self.refuted is None else self.refuted):
                break
            reach = min(GROWTH * reach, most)

    def beside(self, effort: int, least: float, near: list[Array]) -> None:
        """Rounds of points that follow gradients: as many as the effort of all proofs so far is worth.

        least: the radius of the smallest ball that is worth it; near: points that seem turned over
        """
        while self.turned is not None and self._rounds < effort // ROUND:
            self._rounds += 1
            self.seek(least, near)

    def seek(self, least: float, near: list[Array] | None = None) -> bool:
        """Whether a round of these points found a nearer turned point: about in the ball of the nearest violation, else
        in balls that grow, again and again."""
        if self.turned is None:
            return False
        self._level = (self._level + 1) % LEVELS
        reach = least * GROWTH**self._level if self.refuted is None else FARTHER * self.refuted
        return self.turned.seek(min(reach, self.question.reach), near)

    def catch_up(self) -> None:
        """Prove what was found when there was no time for it."""
        if (made := self.__dict__.get("turned")) is not None:
            made.catch_up()

    def look_at_stem(self) -> None:
        """A pair at which all that curves read is the same: flat regions of relus, and layers that are too narrow."""
        found = None if self.is_bad_everywhere else stem_pair(self.question)
        if found is None:
            return
        norm = self.setting.norm
        reaches = found.boxes.reaches(self.setting.exact_center)
        self.pairs.best = max(norm.length_up(norm.measure(reach)) for reach in reaches), found.boxes
        self._flat = found.boxes if found.everywhere else None

    def look(self, reach: float, near: list[Array] | None = None) -> bool:
        """Whether something nearer was found within the reach; `near` are points that seem turned over."""
        if self.is_bad_everywhere:
            return self.pairs.look_anywhere(reach)
        if self.turned is not None and self.turned.look(reach, near):
            return True
        return self.pairs.look(reach if self.refuted is None else min(reach, self.refuted))

    def finish(self) -> None:
        """A pair for people: far apart, in a ball that holds one, or beside turned points that are nearer."""
        radius, best = self.question.radius, self._turned
        if best is not None and (self.pairs.best is None or self.pairs.best[0] > BESIDE * best[0]):
            self.pairs.look_at_fold(best[1], math.inf if radius is None else radius, near=False)
        if radius is not None:
            self.pairs.spread(radius)
        elif best is not None and self.pairs.best is not None and self.pairs.best[0] >= best[0]:
            self.pairs.spread(BESIDE * best[0])

    # --- what was found ----------------------------------------------------------------------------------------------

    @property
    def refuted(self) -> float | None:
        """The least radius that is known to be too large."""
        end = self.end
        return None if end is None else float(end)

    @property
    def end(self) -> End | None:
        """… with what it rests on."""
        turned, pairs = self._turned, self.pairs.best
        if pairs is not None and self.is_bad_everywhere:
            fewer = FEWER_OUTPUTS.format(self.setting.constrained, self.setting.size)
            return End(0.0, fewer if self.question.problem == "local" else ROOM)
        if pairs is not None and pairs[1] is self._flat:
            return End(0.0, FLAT)
        found = [End(pairs[0], BOXED)] if pairs is not None else []
        if turned is not None:
            found.append(End(float(turned[0]), TURNED))
        return min(found, default=None)

    def holds(self, radius: float) -> bool:
        """Whether a closed ball holds a violation, or its interior both orientations."""
        turned, pairs = self._turned, self.pairs.best
        return (turned is not None and turned[0] < radius) or (pairs is not None and pairs[0] <= radius)

    @property
    def boxes(self) -> BoxedPair | None:
        """The pair that was proved."""
        return None if self.pairs.best is None else self.pairs.best[1]

    @property
    def points(self) -> Points | None:
        """Two points of opposite orientation."""
        if self._turned is None:
            return None
        assert self.turned is not None
        assert self.turned.home is not None
        x, y = ([Fraction(v) for v in point.tolist()] for point in (self.turned.home, self._turned[1]))
        return x, y

    @property
    def optimum(self) -> Optimum | None:
        """p* of a ball, between the pair and a bound that needs no proof, where fewer outputs refute it anyway."""
        radius, pair, norm = self.question.radius, self.boxes, self.question.norm
        if radius is None or pair is None or not self.is_bad_everywhere:
            return None
        bound = self.question.trivial_bound(radius)
        value = norm.length_down(norm.measure(least_gaps(pair, self.question.other)))
        return None if bound is None else Optimum(value, bound, "exact")
