"""Which ball to prove next, and with how much effort: large steps while they are cheap, else smaller ones.

A ball that was proved is followed by a much larger one, up to the ball just below the best collision. Where the effort
is used up before, balls between the two are tried, until a small gap is left; then the effort grows. So a search that
is stopped has used at most a fixed part of its work on balls that it could not prove.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

STEP, FASTEST = 4.0, 2.0**20
"""Balls grow by the first; beyond the radii that are asked about without a limit, where hardly a neuron switches, by
the square of the last step, up to the second."""
GAP = 1.15
"""How much larger than a good ball one is that is not tried with the same effort."""
FIRST_EFFORT, LEAST_EFFORT, MORE = 8_000, 500, 4
"""Of the first balls, in boxes of a small network, and at least; and how many times as much later."""
FIRST_BALL = 1 / 16
"""How much smaller the first ball gets each time that it is not proved."""
PATIENCE = 16
"""How often all ways may give up in a row before their effort is used."""


@dataclass
class Climb:
    """The state of a search that grows; `effort` in boxes is for one ball.

    barrier: the smallest ball that this effort did not prove
    """

    start: float
    effort: float = FIRST_EFFORT
    step: float = STEP
    barrier: float = math.inf
    in_vain: int = 0

    def next(self, clear: float, top: float) -> float:
        """The radius to try, when one is proved and another is as far as is worth trying."""
        if clear <= 0:
            return min(top, self.start)
        if top < self.barrier:
            return min(top, self.step * clear)
        return math.sqrt(clear) * math.sqrt(self.barrier)

    def proved(self, clear: float, *, far: bool) -> None:
        """The last ball was; far: it is larger than those that are asked about without a limit."""
        self.step = min(self.step**2, FASTEST) if far else STEP
        self.in_vain = 0
        self._close_gap(clear)

    def failed(self, radius: float, clear: float, *, gave_up: bool) -> None:
        """A ball was not: all ways gave up, or the effort was used."""
        self.in_vain = self.in_vain + 1 if gave_up else 0
        self.start *= FIRST_BALL
        self.step, self.barrier = STEP, radius
        self._close_gap(clear)

    def _close_gap(self, clear: float) -> None:
        """Nothing is left to try with the present effort."""
        if self.barrier < GAP * clear:
            self.effort, self.barrier = MORE * self.effort, math.inf

    @property
    def is_hopeless(self) -> bool:
        """Whether nothing is left to try."""
        return self.in_vain > PATIENCE
