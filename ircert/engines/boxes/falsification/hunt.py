"""One search for violations, in turns: at folds and in flat regions, and among pairs that are far apart."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.boxes.falsification.pair_sampling import PairSampler
from ircert.engines.boxes.falsification.sampling import FoldSampler
from ircert.engines.boxes.problem.setting import Setting
from ircert.ir.arrays import Array

TURN = 25
"""Work that one way does at a time."""
FIRST = 300
"""Work before proofs begin …"""
LEAST, MOST, BOXES = 20, 4_000, 64
"""… and after every ball: at least and at most so much, and how many boxes of the proof are worth one."""
FOLDS, PAIRS = 15, 1
"""How much more of the work goes to folds than to pairs, where there are as many outputs as inputs: nearly all
nearest violations are folds then. With more outputs folds are rare, and both get the same."""


@dataclass
class Hunt:
    """Looks for violations of a setting with m >= n that is not `pseudo`; the same in every run for the same work.

    reach: no violation is sought farther away
    """

    setting: Setting
    descent: Descent
    seed: int = 0
    reach: float = math.inf

    def __post_init__(self) -> None:
        given = self.setting, self.descent, self.seed, self.reach
        self._folds = FoldSampler(*given)
        folds = FOLDS if self.setting.constrained == self.setting.size else PAIRS
        self._ways: list[tuple[FoldSampler | PairSampler, int]] = [
            (self._folds, folds),
            (PairSampler(*given), PAIRS),
        ]

    @staticmethod
    def applies(setting: Setting) -> bool:
        """Whether a setting has enough outputs, and two free points."""
        return setting.constrained >= setting.size and not setting.pseudo

    @property
    def work(self) -> int:
        """What was done so far, about a millisecond each."""
        return sum(way.work for way, _ in self._ways)

    def begin(self) -> None:
        """A first turn."""
        self.advance(FIRST)

    def beside(self, effort: int, points: list[Array]) -> None:
        """A turn beside a proof that took some effort, in boxes, and met points that may lie beyond a fold."""
        for part in points:
            self.suggest(part)
        self.advance(min(LEAST + effort // BOXES, MOST))

    def suggest(self, points: Array) -> None:
        """Follow up points that may lie beyond a fold."""
        self._folds.suggest(points)

    def advance(self, work: int) -> bool:
        """Go on for about so much work; whether the descent's best violation got nearer."""
        end, before = self.work + work, self.descent.best
        while self.work < end:
            ways = [(way.work / share, k) for k, (way, share) in enumerate(self._ways) if not way.idle]
            if not ways:
                break
            self._ways[min(ways)[1]][0].advance(min(TURN, end - self.work))
        return self.descent.best is not before
