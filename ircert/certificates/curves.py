"""The lines that the checker puts around curves (`checker.curves`), in floats and for many intervals at once.

The same formulas, with room for what floats get wrong: so that slopes and errors are hardly ever less than the
checker's, and what is closed here is closed there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from ircert.checker.curves import BITS, FINE, PIECES, PLACES, Curve
from ircert.ir.arrays import Array

ROOM = 1e-12
STEP = 2.0**-FINE
Function = Callable[[Array], Array]


def _silu_slope(x: Array) -> Array:
    share = special.expit(x)
    return np.asarray(share * (1 + x * (1 - share)))


def _density(x: Array) -> Array:
    return np.asarray(np.exp(-x * x / 2) / np.sqrt(2 * np.pi))


def _mish_slope(x: Array) -> Array:
    share = np.tanh(np.logaddexp(x, 0.0))
    return np.asarray(share + x * (1 - share * share) * special.expit(x))


FUNCTIONS: dict[str, tuple[Function, Function]] = {
    "tanh": (np.tanh, lambda x: 1 / np.cosh(np.clip(x, -300, 300)) ** 2),
    "sigmoid": (special.expit, lambda x: special.expit(x) * special.expit(-x)),
    "softplus": (lambda x: np.logaddexp(x, 0.0), special.expit),
    "softsign": (lambda x: x / (1 + np.abs(x)), lambda x: 1 / (1 + np.abs(x)) ** 2),
    "erf": (special.erf, lambda x: 2 / np.sqrt(np.pi) * np.exp(-x * x)),
    "silu": (lambda x: x * special.expit(x), _silu_slope),
    "gelu": (lambda x: x * special.ndtr(x), lambda x: special.ndtr(x) + x * _density(x)),
    "mish": (lambda x: x * np.tanh(np.logaddexp(x, 0.0)), _mish_slope),
    "hard_swish": (
        lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
        lambda x: np.where(np.abs(x) < 3, (2 * x + 3) / 6, np.where(x > 0, 1.0, 0.0)),
    ),
    "square": (lambda x: x * x, lambda x: 2 * x),
    "exp": (np.exp, np.exp),
}
"""Value and slope of each curve."""


def _functions(curve: Curve) -> tuple[Function, Function]:
    if curve.kind != "elu":
        return FUNCTIONS[curve.kind]
    alpha = float(curve.alpha)
    return (
        lambda x: np.where(x >= 0, x, alpha * np.expm1(np.minimum(x, 0.0))),
        lambda x: np.where(x > 0, 1.0, alpha * np.exp(np.minimum(x, 0.0))),
    )


@dataclass(frozen=True)
class Lines:
    """Slopes between `least` and `most`, and a curve within `error` of slope x + shift."""

    least: Array
    most: Array
    slope: Array
    shift: Array
    error: Array


def whole(curve: Curve) -> tuple[float, float]:
    """Between which numbers all slopes of a curve lie."""
    least, most = curve.whole or (-np.inf, np.inf)
    return least * STEP, most * STEP


def lines(curve: Curve, low: Array, high: Array) -> Lines:
    """Around a curve on intervals, of any shape."""
    value, derivative = _functions(curve)
    ends = low + np.multiply.outer(np.arange(PIECES + 1) / PIECES, high - low)
    slopes = derivative(ends)
    least, most = np.minimum(slopes[1:], slopes[:-1]), np.maximum(slopes[1:], slopes[:-1])
    a, b = ends[:-1], ends[1:]
    for left, right, (lowest, highest) in curve.marks:
        met = (a <= math.ldexp(right, -PLACES) + ROOM) & (b >= math.ldexp(left, -PLACES) - ROOM)
        least = np.where(met, np.minimum(least, math.ldexp(lowest, -BITS)), least)
        most = np.where(met, np.maximum(most, math.ldexp(highest, -BITS)), most)
    middles = (a + b) / 2
    values = value(middles)
    run = middles[-1] - middles[0]
    with np.errstate(all="ignore"):
        slope = np.where(run > 0, np.floor((values[-1] - values[0]) / run / STEP) * STEP, slopes[0])
    room = np.maximum(np.abs(least - slope), np.abs(most - slope)) * (b - a) / 2
    rest = values - slope * middles
    lowest, highest = (rest - room).min(axis=0), (rest + room).max(axis=0)
    error = (highest - lowest) / 2 + ROOM * (1 + np.abs(low) + np.abs(high) + np.abs(values).max(axis=0))
    return Lines(least.min(axis=0) - 2 * STEP, most.max(axis=0) + 2 * STEP, slope, (lowest + highest) / 2, error)
