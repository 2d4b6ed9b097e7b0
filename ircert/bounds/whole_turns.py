"""Intervals moved by multiples of 2 pi, many at once, so that tables of sin and cos serve far out.

2 pi is HIGH + MIDDLE + LOW, but for less than 2^-100, by interval arithmetic. HIGH and MIDDLE have 29 bits each, and a
whole number k of turns at most 24: k HIGH and k MIDDLE are exact in floats. x - 2 pi k is found by three subtractions
with results of at most 16, each off by at most 16 u = 2^-49, and k LOW, off by less than 2^-80: ROOM is more than all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import arb, ctx

from ircert.ir.arrays import Array, Mask

FARTHEST = 2.0**26
"""Beyond, k may have too many bits."""
WIDEST = 8.0
"""More than one turn: on wider intervals sin and cos take all of their values."""
ROOM = 2.0**-46
BITS = 29


def _parts() -> tuple[float, float, float]:
    """HIGH, MIDDLE and LOW."""
    with ctx.workprec(200):
        turn = 2 * arb.pi()
        high = shortened(float(turn.mid()), BITS)
        middle = shortened(float((turn - high).mid()), BITS)
        return high, middle, float((turn - high - middle).mid())


def shortened(x: float, bits: int) -> float:
    """The first bits of a float."""
    fraction, exponent = math.frexp(x)
    return math.ldexp(math.floor(math.ldexp(fraction, bits)), exponent - bits)


HIGH, MIDDLE, LOW = _parts()


@dataclass(frozen=True)
class Moved:
    """Intervals that hold what is left of given ones after `turns` turns; where turns are 0 they are the given ones.

    lost: those that are too wide or too far out, which are 0 here
    """

    low: Array
    high: Array
    turns: Array
    lost: Mask

    @property
    def distances(self) -> Array:
        """2 pi times the turns, off by at most 4 u of that."""
        found: Array = self.turns * HIGH + self.turns * MIDDLE
        return found


def moved(low: Array, high: Array, reach: float) -> Moved:
    """Intervals moved to where |x| <= 16, unless they lie within the reach or an end is no number."""
    farthest = np.maximum(-low, high)  # no number where an end is none
    with np.errstate(over="ignore", invalid="ignore"):
        near = (farthest <= FARTHEST) & (high - low <= WIDEST)
    beyond = farthest > reach
    lost = beyond & ~near
    ends = np.where(lost, 0.0, low), np.where(lost, 0.0, high)
    turns = np.where(beyond & near, np.rint((ends[0] / 2 + ends[1] / 2) / HIGH), 0.0)
    room = np.where(turns == 0.0, 0.0, ROOM)
    less, more = (((end - turns * HIGH) - turns * MIDDLE) - turns * LOW for end in ends)
    return Moved(less - room, more + room, turns, lost)
