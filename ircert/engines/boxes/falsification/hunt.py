"""One search for violations, in turns: at folds and in flat regions, and among pairs that are far apart."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ircert.engines.boxes.enclosures.secants import Secants
from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.boxes.falsification.pair_sampling import PairSampler
from ircert.engines.boxes.falsification.sampling import FoldSampler
from ircert.engines.boxes.problem.setting import Setting
from ircert.ir.arrays import Array

TURN = 25
"""Work that one way does at a time."""
FIRST, IN_VAIN, FIRST_AT_ALL = 100, 60, 600
"""Work before proofs begin; at most, where so much of it found nothing nearer than before, and where nothing is known.
It is little, so that a search with a longer limit does the same at first as one with a short limit."""
LEAST, MOST, BOXES = 5, 4_000, 96
"""Work beside every proof: at least and at most so much, and how many boxes of a small network are worth one …"""
EARLY = 12
"""… and at least as long as nothing is found, or the hunt is young …"""
YOUNG = 300
"""… which it is up to so much work …"""
TIRED, PATIENCE = 8, 80
"""… or so many times that, after so much work, and as much as came before it, that found nothing nearer: most
violations are found early, or met by proofs …"""
WIDE, BOXES_IF_WIDE, PATIENCE_IF_WIDE = 1.25, 24, 8_000
"""… but where the nearest violation is farther away than the good ball reaches by this factor, fewer boxes are worth
one, for longer: what a ball takes grows with a high power of its radius, so that less work on proofs hardly makes it
smaller, and the nearest folds of wide layers are found late."""
DEAR = 50_000
"""Boxes take twice as long where a Jacobian takes that many products, three times with four times as many, and so on:
large products are quicker."""
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
        self._fresh, self._best, self._due = 0, self.descent.best, 0.0
        self._begun: set[int] = set()
        self._products = Secants(self.setting).products
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
        before, most = -1, FIRST_AT_ALL
        while before < self.work < most and (self.descent.best is None or self.work - self._fresh < IN_VAIN):
            before = self.work
            self.advance(min(TURN, most - before))
            if self.descent.best is not None:
                most = max(FIRST, self._fresh + IN_VAIN)
        self._due = self.work

    def beside(self, effort: int, points: list[Array], clear: float, *, is_last: bool = False) -> None:
        """A turn beside a proof that took some effort, in boxes, and met points that may lie beyond a fold.

        clear:   the radius of the largest ball that is good
        is_last: the proof is of the ball just below the nearest violation known; if it holds, nothing is nearer
        """
        self._folds.knows(clear)
        for part in points:
            self.suggest(part)
        if self.descent.best is not self._best:  # a proof met it, and what is near it was not looked at
            self._best, self._fresh = self.descent.best, self.work
        wide = not (is_last or self.descent.has_within(min(WIDE * clear, self.reach)))
        patience = PATIENCE_IF_WIDE if wide else PATIENCE
        tired = is_last or self.work > 2 * self._fresh + patience
        worth = (BOXES_IF_WIDE if wide else BOXES) * (TIRED if tired else 1)
        dearness = 1 + math.sqrt(self._products / DEAR)
        least = EARLY if self.descent.best is None or (self.work < YOUNG and not is_last) else LEAST
        self._due += min(least + dearness * effort / worth, MOST)
        if self.work < self._due:  # else a turn before took longer than it should: steps in large networks do
            self.advance(math.ceil(self._due - self.work))

    def suggest(self, points: Array) -> None:
        """Follow up points that may lie beyond a fold."""
        self._folds.suggest(points)

    def advance(self, work: int) -> bool:
        """Go on for about so much work; whether the descent's best violation got nearer."""
        self._ready()  # what it takes to begin is no part of the first turn
        end, before = self.work + work, self.work
        while self.work < end and (ready := self._ready()):
            # nor does it count before: else those would go first that get least
            spent = {k: self._ways[k][0].work if k in self._begun else 0 for k in ready}
            chosen = min(ready, key=lambda k: (1 + spent[k]) / self._ways[k][1])
            self._begun.add(chosen)
            self._ways[chosen][0].advance(min(TURN, end - self.work))
            if self.descent.best is not self._best:
                self._best, self._fresh = self.descent.best, self.work
        return self._fresh > before

    def _ready(self) -> list[int]:
        """The ways that have something to look for."""
        return [k for k, (way, _) in enumerate(self._ways) if not way.idle]
