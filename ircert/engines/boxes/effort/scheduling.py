"""Boxes or trees: which of the two closes a box sooner is not known before, so that both get a part of the work.

For boxes that were cut in vain for very long, only trees that failed count: such boxes hold a point that cutting cannot
settle, and often not a tree of any size either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ircert.engines.boxes.problem.outcome import NODE, Counts, Stopped
from ircert.ir.arrays import Indices, Mask

PATIENCE, LONGEST = 3, 8
"""Cuts of every side without deciding a neuron before a box may go to a tree of phases, and before it should."""
FIRST = 8_000
"""Trees may be ahead of cutting by so much work, in boxes."""
LEAST, MOST = 24, 2_000
"""Nodes of a tree: few at first, and twice as many after every tree that was too large."""


@dataclass
class Schedule:
    """Which boxes (or pairs) of a wave go to trees, and how large those may be."""

    counts: Counts
    nodes: int = LEAST
    in_vain: int = 0

    def ripe(self, few: Mask, ages: Indices) -> Indices:
        """Those with few open neurons, the ones that were cut in vain most often first."""
        may = np.flatnonzero(few & (ages >= PATIENCE))
        return may[np.argsort(-ages[may], kind="stable")]

    def has_room(self, age: int) -> bool:
        """Whether it is the trees' turn."""
        used = self.in_vain if age >= LONGEST else self.counts.nodes
        return NODE * used <= self.counts.cutting + FIRST

    def turns(self, few: Mask, cuts: Indices, sides: int, deepest: int, stop: Callable[[], bool]) -> Iterator[int]:
        """Boxes with few open neurons, as long as it is the trees' turn; each side was cut `cuts` / `sides` times.

        Stopped where time ends, and at a box whose sides were cut more often than `deepest`.
        """
        ages = cuts // sides
        for i in self.ripe(few, ages).tolist():
            if stop() or cuts[i] > deepest * sides:
                raise Stopped
            if not self.has_room(int(ages[i])):
                return
            yield i

    def was_too_large(self) -> None:
        """A tree was."""
        self.in_vain += self.nodes
        self.nodes = min(MOST, 2 * self.nodes)
