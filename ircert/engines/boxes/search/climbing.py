"""Which ball to prove next, and with how much effort: large steps while they are cheap, else as large as pays.

What a ball takes grows with a power of its radius, which is learned from the largest ball that was proved and the
smallest one that was not: what the next one takes beyond that should be about half of the effort, because proofs go on
from what is proved. Where that is hardly larger than what is proved, the effort grows, up to twice what was spent
before. So a search that is stopped has used at most a fixed part of its work on balls that it could not prove; and
since no limit is looked at, one that is stopped later has done the same and more.

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
BUSY_STEP = 2.0
"""… and by no more into radii at which half of the neurons switch, before it is known what balls take there: with more
than few inputs, where that is a high power of the radius."""
AIM = 0.5
"""The part of the effort that the next ball should take."""
GAP, LEAST_GAP = 1.08, 1.03
"""How much larger than a good ball the next one is at least, and where that would take more than was spent before."""
FIRST_EFFORT, LEAST_EFFORT, MORE = 8_000, 500, 4
"""Of the first balls, in boxes of a small network, and at least; and how many times as much later."""
LARGEST = 1e18
"""… and at most."""
UNKNOWN, LEAST_POWER = 2.0, 1.0
"""How many times the effort a ball takes for which it was not enough; the least power of the radius."""
FIRST_BALL, LEAST_BALL = 1 / 16, 2.0**-44
"""How much smaller the first ball gets each time that it is not proved, and at most: then it is tried anew, with more
effort."""
WITHIN = 0.9
"""The part of the radius at which a neuron switches that a ball has which is to be without it."""
WIDE = 4.0
"""Gaps between two switches that are worth a larger step."""
HALF, MANY, NEARLY_ALL = 0.5, 0.75, 0.99
"""Parts of all switches: beyond many of them no gap is wide, and between half of them and nearly all balls get dear."""
PATIENCE = 16
"""How often all ways may give up in a row before their effort is used."""


@dataclass
class Climb:
    """The state of a search that grows; `effort` in boxes is for one ball.

    cost:    what the largest ball took that was proved, with all that lie in it
    barrier: the smallest ball that was not, and price: what it takes with them, about
    power:   of the radius, with which costs grow; None while it is not known
    switches: the radii at which neurons switch, about, in ascending order
    alike:   up to this radius all balls are as hard as the smallest one: neurons switch at the centre alone
    steep:   whether costs may grow with a high power
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
    alike: float = 0.0
    steep: bool = False

    def __post_init__(self) -> None:
        self._first = self.start

    def next(self, clear: float, top: float, spent: float = math.inf) -> float:
        """The radius to try, when one is proved, another is as far as is worth trying, and some effort was spent."""
        if clear < self.start:
            return min(top, self.start)
        most = min(2 * spent, LARGEST)
        while self._pays(clear) < min(top, GAP * clear) and self.effort < most:
            self.effort = min(MORE * self.effort, most)
        return min(top, self._to_the_next_switch(max(self._pays(clear), LEAST_GAP * clear)))

    def _to_the_next_switch(self, radius: float) -> float:
        """The largest ball in which the same neurons switch, unless one like it was not proved: if they are few. Where
        most neurons switch, their radii around the centre say nothing any more."""
        place = np.searchsorted(self.switches, radius, side="right")
        if place > MANY * len(self.switches):
            return radius
        larger = WITHIN * float(self.switches[place]) if place < len(self.switches) else 0.0
        return larger if WIDE * radius < larger < self.barrier else radius

    def _pays(self, clear: float) -> float:
        """The radius of a ball that takes the aim, as far as is known."""
        if self.power is None:
            return (min(self.step, BUSY_STEP) if self._is_busy(clear) else self.step) * clear
        more = 1.0 + AIM * self.effort / self.cost
        return float(clear * min(self.step, more ** (1 / self.power)))

    def _is_busy(self, clear: float) -> bool:
        """Whether half of the neurons switch within the next step, and not nearly all before it."""
        if not (self.steep and len(self.switches)):
            return False
        before, after = (float(np.mean(self.switches < radius)) for radius in (clear, self.step * clear))
        return before < NEARLY_ALL and after > HALF

    def proved(self, clear: float, cost: float, *, far: bool) -> None:
        """The last ball was, for some effort; far: it is larger than those that are asked about without a limit."""
        self.in_vain, self.cost = 0, self.cost + cost
        self.step = min(self.step**2, FASTEST) if far else STEP
        if clear >= self.barrier:
            self.barrier = self.price = math.inf
        self._learn(clear)

    def failed(self, radius: float, clear: float, expected: float | None = None, *, gave_up: bool = False) -> None:
        """A ball was not: all ways gave up, or the effort was used, or would have been by as much as is expected."""
        self.in_vain = self.in_vain + 1 if gave_up else 0
        self._shrink()
        self.step, self.barrier = STEP, radius
        takes = UNKNOWN * self.effort if expected is None or expected <= self.effort else expected
        self.price = self.cost + takes
        self._learn(clear)

    def _shrink(self) -> None:
        """A smaller first ball, or the first one again with more effort."""
        if self.start <= self.alike:
            self.effort = min(MORE * self.effort, LARGEST)
            return
        self.start *= FIRST_BALL
        if self.start < max(LEAST_BALL * self._first, LEAST_RADIUS):
            self.start, self.effort = self._first, min(MORE * self.effort, LARGEST)

    def _learn(self, clear: float) -> None:
        """The power of the radius with which costs grow, between a good ball and one that was not proved."""
        if 0 < clear < self.barrier < math.inf:
            self.power = max(LEAST_POWER, math.log(self.price / self.cost) / math.log(self.barrier / clear))

    @property
    def is_hopeless(self) -> bool:
        """Whether nothing is left to try."""
        return self.in_vain > PATIENCE


@dataclass
class ClimbAtOnce(Climb):
    """For a tree that serves balls of all sizes, and shows more and more on its way to a large one: a ball that was not
    proved is asked about again, with more effort.

    asked: the ball that was asked about last
    """

    asked: float = 0.0

    def next(self, clear: float, top: float, spent: float = math.inf) -> float:
        """The radius to try, when one is proved, another is as far as is worth trying, and some effort was spent."""
        if not clear < self.asked <= top:
            self.asked = super().next(clear, top, spent)
        return self.asked

    def failed(self, radius: float, clear: float, expected: float | None = None, *, gave_up: bool = False) -> None:
        """A ball was not; where all ways gave up, a smaller one is next."""
        super().failed(radius, clear, expected, gave_up=gave_up)
        self.power = None
        if gave_up or not clear:
            self.asked = math.sqrt(clear * radius)
        else:
            self.effort = min(MORE * self.effort, LARGEST)


def climb_for(
    start: float, effort: float, switches: Array, *, alike: float = 0.0, steep: bool = False, at_once: bool
) -> Climb:
    """The beginning of a climb."""
    return (ClimbAtOnce if at_once else Climb)(start, effort, switches=switches, alike=alike, steep=steep)
