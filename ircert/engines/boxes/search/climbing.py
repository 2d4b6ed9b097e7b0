"""Which ball to prove next, and with how much effort: large steps while they are cheap, else as large as pays.

What a ball takes grows with a power of its radius, which is learned from the largest ball that was proved and the
smallest one that was not, or, where all that failed is behind, from balls that are clearly smaller: the next one should
take about half of the effort. Where that is hardly larger than what is proved, the effort grows, up to twice what was
spent before. So a search that is stopped has used at most a fixed part of its work on balls that it could not prove;
and since no limit is looked at, one that is stopped later has done the same and more.

Where no neuron switches between two radii the network looks alike from both, but for its size: a ball in which the same
neurons switch takes about as much. So a step that ends in a wide gap goes on to its end, however wide it is: kinks that
pass within 1e-60 of the centre (a bias that training left there) do not make a search climb from there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from ircert.engines.boxes.falsification.work import LEAST_RADIUS
from ircert.ir.arrays import Array

STEP, FASTEST = 4.0, 2.0**20
"""Balls grow by the first at most; beyond the radii that are asked about without a limit, where hardly a neuron
switches, by the square of the last step, up to the second."""
AIM, DEARER, LITTLE = 0.5, 2.5, 0.25
"""The part of the effort that the next ball should take; but no more than so many times what the last one took, or that
part of all that was spent: smaller steps waste work on balls in between, larger ones on balls that fail."""
GAP, LEAST_GAP = 1.08, 1.03
"""How much larger than a good ball the next one is at least, and where that would take more than was spent before."""
PATIENT, FEWEST = 3.0, 4.0
"""How many times what it should take a ball may, and what the last one took: what the same ball takes varies by more
than that, so that it is better tried anew with what was learned."""
FIRST_EFFORT, LEAST_EFFORT, MORE = 8_000, 500, 4
"""Of the first balls, in boxes of a small network, and at least; and how many times as much later."""
FEWER = 1 / 8
"""The part of it where balls are left to trees whose nodes take long: a smaller ball may need none."""
LARGEST = 1e18
"""… and at most."""
UNKNOWN, USUAL_POWER, LEAST_POWER = 2.0, 4.0, 1.0
"""How many times the effort a ball takes at least for which it was not enough; and the power of the radius with which
costs grow: as long as nothing better is known of that ball, and at least."""
APART = 1.25
"""How much smaller a ball is that tells, with a larger one, how costs grow."""
FIRST_BALL, LEAST_BALL = 1 / 16, 2.0**-44
"""How much smaller the first ball gets each time that it is not proved, and at most: then it is tried anew, with more
effort."""
WITHIN = 0.9
"""The part of the radius at which a neuron switches that a ball has which is to be without it."""
WIDE = 4.0
"""Gaps between two switches that are worth a larger step."""
PATIENCE = 16
"""How often all ways may give up in a row before their effort is used."""


@dataclass
class Climb:
    """The state of a search that grows; `effort` in boxes is for one ball.

    cost:    what the largest ball took that was proved
    barrier: the smallest ball that was not, and price: what it takes, about
    power:   of the radius, with which costs grow; None while it is not known
    switches: the radii at which neurons switch, about, in ascending order
    """

    start: float
    effort: float = FIRST_EFFORT
    step: float = STEP
    cost: float = 1.0
    barrier: float = math.inf
    price: float = math.inf
    power: float | None = None
    in_vain: int = 0
    switches: Array = field(default_factory=lambda: np.zeros(0), repr=False)

    def __post_init__(self) -> None:
        self._first = self.start
        self.limit = self._least = self.effort
        self._used = 0.0
        self._good: list[tuple[float, float]] = []

    def next(self, clear: float, top: float, spent: float = math.inf) -> float:
        """The radius to try, when one is proved, another is as far as is worth trying, and some effort was spent."""
        self.limit = self.effort
        if clear < self.start:
            return min(top, self.start)
        most = min(2 * spent, LARGEST)
        while self._pays(clear, spent) < min(top, GAP * clear) and self.effort < most:
            self.effort = min(MORE * self.effort, most)
        if self.power is not None:
            patient = max(FEWEST, PATIENT * self._more(spent)) * self.cost
            self.limit = min(self.effort, max(self._least, patient))
        return min(top, self._to_the_next_switch(max(self._pays(clear, spent), LEAST_GAP * clear)))

    def _to_the_next_switch(self, radius: float) -> float:
        """The largest ball in which the same neurons switch, unless one like it was not proved."""
        place = np.searchsorted(self.switches, radius, side="right")
        larger = WITHIN * float(self.switches[place]) if place < len(self.switches) else 0.0
        return larger if WIDE * radius < larger < self.barrier else radius

    def _pays(self, clear: float, spent: float) -> float:
        """The radius of a ball that takes the aim, as far as is known."""
        if self.power is None:
            return self.step * clear
        more = self._more(spent)
        return float(clear * min(self.step, more ** (1 / self.power)))

    def _more(self, spent: float) -> float:
        """How many times what the last ball took the next one should take."""
        return min(AIM * self.effort / self.cost, max(DEARER, LITTLE * spent / self.cost))

    def proved(self, clear: float, cost: float, *, far: bool) -> None:
        """The last ball was, for some effort; far: it is larger than those that are asked about without a limit."""
        self._correct(clear, cost)
        self.in_vain, self.cost = 0, max(1.0, cost)
        self.step = min(self.step**2, FASTEST) if far else STEP
        self._good.append((clear, self.cost))
        if clear >= self.barrier or self.price <= UNKNOWN * self.cost:
            self.barrier = self.price = math.inf
        if self.barrier < math.inf or self.power is None:
            self._learn(clear)
        else:
            self._learn_from_good()

    def failed(self, radius: float, clear: float, expected: float | None = None, *, gave_up: bool = False) -> None:
        """A ball was not: all ways gave up, or the effort was used, or would have been by as much as is expected."""
        self.in_vain = self.in_vain + 1 if gave_up else 0
        self._shrink()
        self.step, self.barrier = STEP, radius
        self.price = self._guessed(radius, clear) if expected is None else expected
        self._used = self.limit if expected is None else 0.0
        self._learn(clear)

    def _correct(self, clear: float, cost: float) -> None:
        """Where a ball took less than the barrier's price made expect, that is too high as well."""
        if self.power is not None and self._good and self.barrier < math.inf:
            expected = self.cost * (clear / self._good[-1][0]) ** self.power
            self.price = max(self._used, self.price * min(1.0, cost / expected))

    def _guessed(self, radius: float, clear: float) -> float:
        """What a ball takes for which the effort was not enough."""
        usual = self.cost * min(radius / clear, STEP) ** USUAL_POWER if clear > 0 else 0.0
        return max(UNKNOWN * self.limit, usual)

    def _shrink(self) -> None:
        """A smaller first ball, or the first one again with more effort."""
        self.start *= FIRST_BALL
        if self.start < max(LEAST_BALL * self._first, LEAST_RADIUS):
            self.start, self.effort = self._first, min(MORE * self.effort, LARGEST)

    def _learn(self, clear: float) -> None:
        """The power of the radius with which costs grow, between a good ball and one that was not proved."""
        if 0 < clear < self.barrier < math.inf:
            ratio = max(self.price / self.cost, UNKNOWN)
            self.power = max(LEAST_POWER, math.log(ratio) / math.log(self.barrier / clear))

    def _learn_from_good(self) -> None:
        """The largest power between the last ball and those that are clearly smaller; all that failed is behind it."""
        radius, cost = self._good[-1]
        earlier = [(r, c) for r, c in self._good if APART * r <= radius <= STEP * r]
        if earlier:
            self.power = max(LEAST_POWER, *(math.log(cost / c) / math.log(radius / r) for r, c in earlier))

    @property
    def is_hopeless(self) -> bool:
        """Whether nothing is left to try."""
        return self.in_vain > PATIENCE
