"""Linear forms on boxes cut with a ball of norm 1 or 2: upper bounds, by weak duality.

For offsets o from the centre, low <= o <= high and |o| <= r, any weight w >= 0 gives

    norm 1:  a o  <=  w r     + sum over j of the largest a_j o_j - w |o_j|      on [low_j, high_j]
    norm 2:  a o  <=  w r²/2  + sum over j of the largest a_j o_j - w o_j² / 2   on [low_j, high_j]

because what is added is not negative in the ball. In norm 1 the bound is convex and piecewise linear in w, with kinks
at the |a_j|, which are tried (w = 0 is the box alone, and left to others); in norm 2 a few weights are.
"""

from __future__ import annotations

import numpy as np

from ircert.bounds.rounding import slack
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array

ROUNDS = 3
"""Weights that are tried in norm 2."""


def upper(norm: Norm, lines: Array, low: Array, high: Array, radius: float) -> Array:
    """Upper bounds on a o for forms a and boxes of offsets (count, inputs); what is no number is no bound."""
    with np.errstate(all="ignore"):
        return _in_diamond(lines, low, high, radius) if norm == Norm.ONE else _in_round(lines, low, high, radius)


def _in_diamond(lines: Array, low: Array, high: Array, radius: float) -> Array:
    weights = np.abs(lines)
    nearest = np.clip(0.0, low, high)
    found = np.full(len(lines), np.inf)
    for j in range(lines.shape[1]):
        w = weights[:, j, None]
        # where the form is steeper than w it goes to the end of the side, else as near to the centre as can be
        at = np.where(lines > w, high, np.where(lines < -w, low, nearest))
        found = np.fmin(found, _bound(lines * at - w * np.abs(at), (weights + w) * np.abs(at), w[:, 0] * radius))
    return found


def _in_round(lines: Array, low: Array, high: Array, radius: float) -> Array:
    found = np.full(len(lines), np.inf)
    w = np.linalg.norm(lines, axis=1) / radius
    for _ in range(ROUNDS):
        at = np.clip(lines / w[:, None], low, high)
        bend = w[:, None] * at * at / 2
        terms = lines * at - bend, np.abs(lines * at) + bend
        found = np.fmin(found, _bound(*terms, w * radius * radius / 2))
        # the weight for which the point lies on the sphere, if the same coordinates stay at the ends of their sides
        free = (at > low) & (at < high)
        left = radius * radius - np.where(free, 0.0, at * at).sum(axis=1)
        steep = np.where(free, lines * lines, 0.0).sum(axis=1)
        w = np.where((left > 0) & (steep > 0), np.sqrt(steep / left), 2.0 * w)
    return found


def _bound(terms: Array, sizes: Array, first: Array) -> Array:
    """first + the sum of terms, rounded upward; a maximiser that is off by a rounding changes a term by its square."""
    return np.asarray(first + terms.sum(axis=1) + slack(4 * terms.shape[1] + 8, first + sizes.sum(axis=1)))
