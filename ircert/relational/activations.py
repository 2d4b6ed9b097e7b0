"""Lines around activations (relus and curves), and around the difference of two that are alike.

One:         a(z) is within `missed` of slope z + shift for low <= z <= high.
Difference:  a(z) - a(z') = λ (z - z') with λ between the least and the greatest slope of secants of a from a point of
             one interval to a point of the other. For a relu, which is convex, the slope of a secant grows with both
             of its ends, so that it lies between those of both lower and of both upper ends; for a curve, between the
             least and the greatest derivative on the hull of both intervals; for squares it is z + z'.
"""

from __future__ import annotations

import numpy as np

from ircert.bounds.all_curves import all_bounds_of
from ircert.bounds.interval import Interval
from ircert.bounds.rounding import TINY, UNIT
from ircert.bounds.symbolic import relaxation
from ircert.ir.arrays import Array
from ircert.ir.ops import Curve, Op, Square


def values(op: Op, z: Interval) -> Interval:
    """What an activation is on intervals."""
    if isinstance(op, Curve):
        return all_bounds_of(op).values(*z)
    return np.maximum(z[0], 0.0), np.maximum(z[1], 0.0)


def lines(op: Op, z: Interval) -> tuple[Array, Array, Array]:
    """(slope, shift, missed) of an activation on intervals.

    A relu lies between s z and s z + t for every slope s of [0, 1] that `relaxation` gives with its t.
    """
    low, high = z
    if isinstance(op, Curve):
        found = all_bounds_of(op).around(low, high)[1]
        return _finite(found.slope, found.shift, found.error)
    slope, top, _ = relaxation(low, high)
    return _finite(slope, top / 2, top / 2)  # halves of floats are exact, or lose less than the smallest float


def secants(op: Op, first: Interval, second: Interval) -> tuple[Array, Array]:
    """(slope, spare): secants from a point of the first interval to one of the second have slopes slope ± spare."""
    if isinstance(op, Square):  # z² - z'² = (z + z') (z - z')
        least, most = np.nextafter(first[0] + second[0], -np.inf), np.nextafter(first[1] + second[1], np.inf)
    elif isinstance(op, Curve):
        hull = np.minimum(first[0], second[0]), np.maximum(first[1], second[1])
        least, most = all_bounds_of(op).slopes(*hull)
    else:
        least, most = _relu_secants(first, second)
    middle = (least + most) / 2
    spare = np.maximum(most - middle, middle - least) * (1 + 4 * UNIT) + TINY
    return middle, np.where(least == most, 0.0, spare)


def _relu_secants(first: Interval, second: Interval) -> Interval:
    on, off = (first[0] >= 0) & (second[0] >= 0), (first[1] <= 0) & (second[1] <= 0)
    least = np.maximum(_secant(first[0], second[0], 0.0) * (1 - 8 * UNIT) - TINY, 0.0)
    most = np.minimum(_secant(first[1], second[1], 1.0) * (1 + 8 * UNIT) + TINY, 1.0)
    least, most = np.where(on, 1.0, least), np.where(off, 0.0, most)
    return np.minimum(least, most), most  # both z are 0: any slope will do


def _secant(a: Array, b: Array, unknown: float) -> Array:
    """(relu(a) - relu(b)) / (a - b), rounded; the trivial one where floats do not hold a - b."""
    most, least = np.maximum(a, b), np.minimum(a, b)
    with np.errstate(all="ignore"):
        gap = most - least
        across = np.where(np.isfinite(gap), most / gap, unknown)
    return np.where(least >= 0, 1.0, np.where(most <= 0, 0.0, across))


def _finite(slope: Array, shift: Array, missed: Array) -> tuple[Array, Array, Array]:
    """Nothing is known where one of these is no number."""
    known = np.isfinite(slope) & np.isfinite(shift) & np.isfinite(missed)
    return np.where(known, slope, 0.0), np.where(known, shift, 0.0), np.where(known, missed, np.inf)
