"""When a search tries to prove the whole space, and how much effort that may take.

It is tried once a ball is good that is not much smaller than one in which many neurons switch: where such a ball is too
hard, the space is as well. With many inputs and few neurons it may be known before that secants have no kernel,
whatever their slopes are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ircert.engines.boxes.effort.portfolio import Stop
from ircert.engines.boxes.enclosures.batches import MOST as MOST_AT_ONCE
from ircert.engines.boxes.problem.outcome import Counts, Outcome
from ircert.engines.boxes.search.prover import Prover

NEAR = 1 / 8
"""How much smaller; with more outputs than inputs it must be as large, because orientations do not say at once that
there is no matrix."""
CHEAP = 2_000
"""Effort in boxes up to which larger balls are hardly dearer than the space, and say more."""
SHARE, FIRST = 0.25, 2_000
"""The part of all effort that it may take, and how much more at first, in boxes: as much as a ball …"""
FIRST_BESIDE_TREES = -2_000
"""… and not before trees took some effort, where they take balls: a matrix takes seconds to be found then …"""
WORTH = 4.0
"""… more where all of it is expected to take no more than this many times all effort so far: it is the end of a search
that finds no violation …"""
LAST = 200_000
"""… and how much more at the end, where it is asked about."""


@dataclass
class WholeSpace:
    """The whole space in turns with balls; `spent` is the effort so far."""

    prover: Prover
    counts: Counts
    over: Stop
    spent: int = 0

    def advance(self, clear: float, *, at_last: bool = False) -> Outcome:
        """Go on, where a ball of the radius `clear` makes it worth while, or nothing else is left."""
        setting = self.prover.setting
        start = self.counts.effort
        share = self.prover.network.batch / MOST_AT_ONCE  # boxes of large networks take longer
        cheap = start < CHEAP * share
        near = NEAR if setting.constrained == setting.size and not cheap else 1.0
        if clear < near * self.prover.busy and not at_last and not self.prover.is_free_of_kernels:
            return "stopped"
        first = FIRST_BESIDE_TREES if self.prover.has_few_neurons else FIRST
        most = share * (LAST if at_last else first) + SHARE * start - self.spent
        worth = max(most, WORTH * start)
        if most <= 0 and self.prover.left_everywhere > worth and not self.prover.is_free_of_kernels:
            return "stopped"

        def stop() -> bool:
            return self.over() or (self.counts.effort - start > most and self.prover.left_everywhere > worth)

        with np.errstate(all="ignore"):
            outcome = self.prover.prove_everywhere(stop, worth)
        self.spent += self.counts.effort - start
        return outcome
