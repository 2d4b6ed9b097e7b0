"""Sums, products, quotients and exponentials of floats, rounded down, entry by entry; what is exact stays as it is.

They are about lower ends of ranges: -inf stays, and a sum or product beyond all floats is the largest one. Upper ends
are the same with signs changed. Errors of sums are those of Knuth's algorithm, errors of products those of Dekker's.
"""

from __future__ import annotations

import numpy as np
from flint import arb, ctx

from ircert.ir.arrays import Array, Mask

LARGEST = float(np.finfo(np.float64).max)
SPLITTER = 2.0**27 + 1
WIDE, NARROW = 2.0**480, 2.0**-900
"""Factors up to here, and products from there on, have errors that floats hold."""
BITS, LEAST = 64, 745.0
"""Of interval arithmetic; exp of numbers beyond is less than all floats, or more than all."""


def sum_down(a: Array, b: Array) -> Array:
    """a + b."""
    with np.errstate(all="ignore"):
        total = a + b
        shift = total - a
        error = (a - (total - shift)) + (b - shift)
        return _below(total, exact=error >= 0)


def product_down(a: Array, b: Array) -> Array:
    """a b, where 0 times infinity is 0."""
    zero = (a == 0) | (b == 0)
    with np.errstate(all="ignore"):
        total = np.where(zero, 0.0, a * b)
        (top, rest), (other_top, other_rest) = _halves(a), _halves(b)
        error = rest * other_rest - (((total - top * other_top) - rest * other_top) - top * other_rest)
        usable = (np.abs(a) < WIDE) & (np.abs(b) < WIDE) & (np.abs(total) > NARROW)
        return _below(total, exact=zero | (usable & (error >= 0)))


def quotient_down(a: Array, b: Array) -> Array:
    """a / b for b > 0, where a / infinity is 0; exact where a is 0 alone."""
    with np.errstate(all="ignore"):
        return _below(np.where(a == 0, 0.0, a / b), exact=a == 0)


def exp_down(x: Array) -> Array:
    """exp(x), and at least 0; exp(0) is 1."""
    found = np.clip(np.nextafter(_exponentials(x)[0], -np.inf), 0.0, LARGEST)
    return np.asarray(np.where(x == 0, 1.0, found))


def exp_up(x: Array) -> Array:
    """exp(x), rounded up; exp(-inf) is 0, and exp(0) is 1."""
    with np.errstate(over="ignore"):
        found = np.where(x == 0, 1.0, np.nextafter(_exponentials(x)[1], np.inf))
    return np.asarray(np.where(x == -np.inf, 0.0, found))


def _exponentials(x: Array) -> tuple[Array, Array]:
    """About the ends of exp(x) in interval arithmetic, of equal numbers once; beyond floats, 0 and infinity."""
    different, places = np.unique(np.clip(x, -LEAST, LEAST), return_inverse=True)
    with ctx.workprec(BITS):
        found = [arb(value).exp() for value in different.tolist()]
    ends = np.array([[float(value.lower()), float(value.upper())] for value in found], dtype=np.float64).reshape(-1, 2)
    low, high = ends[places.reshape(x.shape)].transpose(-1, *range(x.ndim))
    return low, np.where(x > LEAST, np.inf, high)


def _halves(a: Array) -> tuple[Array, Array]:
    """Veltkamp's parts of at most 26 bits."""
    scaled = SPLITTER * a
    top = scaled - (scaled - a)
    return top, a - top


def _below(value: Array, *, exact: Mask) -> Array:
    """One float less, where the value is not known to be at most the number itself."""
    found = np.where(exact, value, np.nextafter(value, -np.inf))
    return np.asarray(np.where(np.isnan(found), -np.inf, np.minimum(found, LARGEST)))
