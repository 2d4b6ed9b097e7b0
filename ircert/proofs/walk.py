"""The linear regions on the straight way from the centre to a point, one after the other, in rationals.

Floats cannot tell regions apart that are smaller than their rounding. Here u = x - c goes along t d, and every neuron
is affine in t as long as no other one changes its side: the next change is a quotient of integers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from ircert.ir.rational import Integers, integer_array
from ircert.proofs.exact_map import ExactMaps
from ircert.proofs.setting import Phases


def regions_to(maps: ExactMaps, start: Phases, end: list[Fraction]) -> Iterator[Phases]:
    """The patterns of the regions that hold some of the way from 0 to `end`; `start` says where to look first.

    Where several neurons change at one point, the pattern behind it follows at once: regions that only touch the way
    there are left out.
    """
    common = math.lcm(*(v.denominator for v in end))
    way = integer_array([int(v * common) for v in end])
    last, here = Fraction(1, common), Fraction(0)
    phases = start
    while here < last:
        phases = _behind(maps, phases, way, here)
        yield phases
        rows = maps.of(phases).z * phases.astype(object)[:, None]
        slopes = rows[:, :-1].dot(way)
        ends = (Fraction(int(h), -int(a)) for a, h in zip(slopes, rows[:, -1], strict=True) if a < 0)
        here = min(ends, default=last)


def _behind(maps: ExactMaps, phases: Phases, way: Integers, here: Fraction) -> Phases:
    """The pattern just behind a point of the way: neurons that are 0 there have the sign of their slope.

    A neuron's row depends on those before it, so that every round settles one more layer.
    """
    while True:
        z = maps.of(phases).z
        slopes = z[:, :-1].dot(way)
        values = slopes * here.numerator + z[:, -1] * here.denominator
        signs = [_sign(v) or _sign(a) or p for v, a, p in zip(values, slopes, phases.tolist(), strict=True)]
        found = np.array(signs, dtype=np.int8)
        if (found == phases).all():
            return phases
        phases = found


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
