"""Which boxes will not be closed as they are: they are cut again before they are looked at.

How much too much domination takes away (`excess`) shrinks with every cut by about the same factor, and boxes with about
the same excess are closed about equally often. Both are learned. Where fewer than half of the boxes with some excess
are closed, two halves are the better guess: they cost one look more if the box would have been closed, and one less if
not. A choice, no part of a proof.
"""

from __future__ import annotations

import numpy as np

from ircert.ir.arrays import Array, Indices, Mask

FINENESS, BINS = 4, 64
"""How many bins double an excess, and how many there are: from 2^-8 to 2^8."""
WORTH = 0.35
"""The part of boxes that are closed from which on they are looked at."""
MOST = 3
"""Cuts without a look, at most: each makes what is known of the box older."""
SHRINKS, TRUST = 0.7, 50.0
"""What an excess is multiplied by with every cut, and as how many boxes that counts."""
HOPE = 2.0
"""As many boxes as these are closed in every bin before any is looked at …"""
MEMORY = 2_000.0
"""… and so many are remembered in each."""
CURIOUS = 16
"""One of so many boxes is looked at in any case."""


class Foresight:
    """What was learned from boxes, by the excess that was expected of each."""

    def __init__(self) -> None:
        self._closed = np.full(BINS, HOPE)
        self._looked = np.full(BINS, HOPE)
        self._rate, self._weight = float(np.log(SHRINKS)), TRUST

    def cuts(self, excess: Array) -> Indices:
        """How often to cut boxes with some excess before they are looked at again."""
        shares = self._closed / self._looked
        found = np.full(len(excess), MOST, dtype=np.int64)
        for cuts in range(MOST - 1, 0, -1):
            found[shares[_bins(self.expected(excess, np.full(len(excess), cuts)))] >= WORTH] = cuts
        found[::CURIOUS] = 1
        return found

    def expected(self, excess: Array, cuts: Indices) -> Array:
        """The excess of boxes after some cuts."""
        return np.asarray(excess * np.exp(cuts * self._rate))

    def learn(self, expected: Array, excess: Array, closed: Mask) -> None:
        """What was found on boxes of which some excess was expected; not a number: nothing was."""
        known = np.isfinite(expected) & (expected > 0)
        np.add.at(self._looked, _bins(expected[known]), 1.0)
        np.add.at(self._closed, _bins(expected[known & closed]), 1.0)
        fading = np.minimum(1.0, MEMORY / self._looked)
        self._looked *= fading
        self._closed *= fading
        compared = known & np.isfinite(excess) & (excess > 0)
        self._weight = min(MEMORY, self._weight + float(compared.sum()))
        wrong = np.log(excess[compared] / expected[compared])
        self._rate = min(0.0, self._rate + float(np.clip(wrong, -1.0, 1.0).sum()) / self._weight)


def _bins(excess: Array) -> Indices:
    """Where some numbers stand on the scale."""
    scale = np.log2(np.clip(np.nan_to_num(excess, nan=1e300), 1e-300, 1e300))
    return np.asarray(np.clip(np.floor(FINENESS * scale) + BINS // 2, 0, BINS - 1), dtype=np.int64)
