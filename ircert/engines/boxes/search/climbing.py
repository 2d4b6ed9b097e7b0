"""Which ball to prove next, and with how much effort: large steps while they are cheap, else smaller ones.

A ball that was proved is followed by a much larger one, up to the ball just below the best collision. Where the effort
is used up before, a step of half the size (on a logarithmic scale) is tried, down to a small one; then the effort
grows. So a search that is stopped has used at most a fixed part of its work on balls that it could not prove.
"""

from __future__ import annotations

from dataclasses import dataclass

FIRST_STEP = 4.0
LARGEST_STEP = 2.0**20
SMALLEST_STEP, NEXT_STEP = 1.05, 1.5
"""The smallest step, and the one that is tried after it, with more effort."""
FIRST_EFFORT, MORE = 4_000, 4
FIRST_BALL = 1 / 16
"""How much smaller the first ball gets each time that it is not proved."""
PATIENCE = 16
"""How often all ways may give up in a row before their effort is used."""


@dataclass
class Climb:
    """The state of a search that grows; `effort` in boxes is for one ball."""

    start: float
    effort: int = FIRST_EFFORT
    step: float = FIRST_STEP
    in_vain: int = 0

    def next(self, clear: float, top: float) -> float:
        """The radius to try, when one is proved and another is as far as is worth trying."""
        return min(top, self.step * clear if clear > 0 else self.start)

    def proved(self) -> None:
        """The last ball was."""
        self.step, self.in_vain = min(self.step**2, LARGEST_STEP), 0

    def failed(self, *, gave_up: bool) -> None:
        """The last ball was not: all ways gave up, or the effort was used."""
        self.in_vain = self.in_vain + 1 if gave_up else 0
        self.start *= FIRST_BALL
        self.step = self.step**0.5
        if self.step < SMALLEST_STEP:
            self.step, self.effort = NEXT_STEP, MORE * self.effort

    @property
    def is_hopeless(self) -> bool:
        """Whether nothing is left to try."""
        return self.in_vain > PATIENCE
