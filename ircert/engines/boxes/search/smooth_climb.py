"""Which ball of a smooth network to prove next: costs grow with the radius without jumps, so that two proofs tell how.

A ball that was not proved says how fast costs grow only while it is the next one; once it is behind, what the last two
proofs took says it better.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ircert.engines.boxes.search.climbing import LEAST_POWER, Climb

APART = 1.001
"""Balls that are closer than that say nothing about each other."""


@dataclass
class SmoothClimb(Climb):
    """The state of a search; `last` is the largest ball that was proved, and what it took."""

    last: tuple[float, float] | None = None

    def proved(self, clear: float, cost: float, *, far: bool) -> None:
        """The last ball was, for some effort."""
        super().proved(clear, cost, far=far)
        before, self.last = self.last, (clear, self.cost)
        if before is not None and clear > APART * before[0] and self.barrier == math.inf and self.power is not None:
            grown = math.log(max(self.cost / before[1], 1.0)) / math.log(clear / before[0])
            self.power = max(LEAST_POWER, grown)
