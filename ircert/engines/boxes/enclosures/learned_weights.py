"""Weights of neurons in quadratic forms, learned from boxes that failed: what was too small in one is so in others."""

from __future__ import annotations

import numpy as np

from ircert.ir.arrays import Array, Indices, Mask

FIRST, EACH, OFTEN = 32, 2, 32
"""Forms that may be made better before any is closed by it, and for each that is; one of so many in any case."""
AT_ONCE = 16
"""At first few at a time: the first ones are those of the largest boxes."""
DOUBT = 30
"""As many forms as these count as having taught nothing."""
FAR, FARTHER, FARTHEST = 4.0, 2.0, 64.0
"""How far from closing a box may be for its form to be looked at: at first, beyond the farthest one closed, at most."""


class LearnedWeights:
    """Factors of the first weights of neurons, and how many more forms it pays to learn from."""

    def __init__(self, neurons: int) -> None:
        self.reach = FAR
        """How much too much domination may take away where forms are tried."""
        self._logarithms = np.zeros(neurons)
        self._left = float(FIRST)
        self._at_once = AT_ONCE

    def factors(self, neurons: Indices) -> Array:
        """By what the first weights of some neurons are multiplied."""
        return np.exp(self._logarithms[neurons])

    def affordable(self, forms: int) -> int:
        """How many of some forms that failed to make better."""
        return max(0, min(forms, int(self._left), self._at_once))

    def learn(self, neurons: Indices, factors: Array) -> None:
        """By what each of some neurons' weights was multiplied in a form that was closed by it."""
        count = np.bincount(neurons, minlength=len(self._logarithms))
        total = np.bincount(neurons, np.log(factors), minlength=len(self._logarithms))
        self._logarithms += total / (count + DOUBT)

    def judge(self, tried: int, closed: int) -> None:
        """What came of making forms better."""
        self._left += EACH * closed - tried
        self._at_once = max(AT_ONCE, EACH * closed)

    def looked_at(self, excess: Array, closed: Mask) -> None:
        """What came of forms, by how much domination took away too much."""
        self._left += len(closed) / OFTEN
        farthest = float(excess[closed].max(initial=0.0))
        self.reach = min(FARTHEST, max(self.reach, FARTHER * farthest))
