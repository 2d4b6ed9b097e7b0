"""The linear regions on the straight way from one point to another, one after the other, in rationals.

Floats cannot tell regions apart that are smaller than their rounding. Here u = x - c goes along a + t d, and every
neuron is affine in t as long as no other one changes its side: the next change is a quotient of integers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.engines.boxes.problem.setting import Phases
from ircert.ir.rational import Integers, integer_array
from ircert.limits import checkpoint


def regions_between(maps: ExactMaps, guess: Phases, a: list[Fraction], b: list[Fraction]) -> Iterator[Phases]:
    """The patterns of the regions that hold some of the way from a to b, in their order; a guess at the first.

    Where several neurons change at one point, the pattern behind it follows at once: regions that only touch the way
    there are left out.
    """
    common = math.lcm(*(v.denominator for v in (*a, *b)))
    start = integer_array([int(v * common) for v in (*a, Fraction(1))])
    way = integer_array([int((w - v) * common) for v, w in zip(a, b, strict=True)])
    phases, here = guess, Fraction(0)
    while here < 1:
        checkpoint()
        phases = _behind(maps, phases, start, way, here)
        yield phases
        rows = maps.of(phases).z * phases.astype(object)[:, None]
        slopes, heights = rows[:, :-1].dot(way), rows.dot(start)
        here = min((Fraction(int(h), -int(s)) for s, h in zip(slopes, heights, strict=True) if s < 0), default=here + 1)


def _behind(maps: ExactMaps, phases: Phases, start: Integers, way: Integers, here: Fraction) -> Phases:
    """The pattern just behind a point of the way: neurons that are 0 there have the sign of their slope.

    A neuron's row depends on those before it, so that every round settles one more layer.
    """
    while True:
        z = maps.of(phases).z
        slopes = z[:, :-1].dot(way)
        values = slopes * here.numerator + z.dot(start) * here.denominator
        signs = [_sign(v) or _sign(s) or p for v, s, p in zip(values, slopes, phases.tolist(), strict=True)]
        found = np.array(signs, dtype=np.int8)
        if (found == phases).all():
            return phases
        phases = found


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
