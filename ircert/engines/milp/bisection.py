"""Which radius is asked about next: larger ones while balls are good, smaller ones until one is, then the middle."""

from __future__ import annotations

import math
from dataclasses import dataclass

FIRST = 0.983
"""Where it starts: round radii are often exactly critical in networks made by hand, which is the hardest case."""
GROWTH = 4.0
SMALLEST = 2.0**-24
"""Balls of less than this part of the first one are not asked about: solvers have absolute tolerances."""
FINEST = 2.0**-14
"""Radii that are closer, relatively, are as good as equal for a solver's tolerances."""


@dataclass
class Bisection:
    """The radii that were asked about.

    reach: the largest one in question; good: one whose ball was certified; bad: one whose ball was refuted, or is open
    """

    reach: float
    good: float = 0.0
    bad: float = math.inf
    tol: float = FINEST

    def next(self) -> float | None:
        """The next radius; None where it ends."""
        if self.good >= min(self.reach, self.bad):
            return None
        if self.bad == math.inf:
            return min(self.reach, max(FIRST, GROWTH * self.good))
        if self.bad - self.good <= max(self.tol, FINEST) * self.bad:
            return None
        if self.good > 0:
            return self.good + (self.bad - self.good) / 2
        return self.bad / GROWTH if self.bad > SMALLEST * min(self.reach, FIRST) else None

    def certified(self, radius: float) -> None:
        """Balls up to this radius are good."""
        self.good = max(self.good, radius)

    def failed(self, radius: float) -> None:
        """The ball of this radius is not good, or open."""
        self.bad = min(self.bad, radius)
