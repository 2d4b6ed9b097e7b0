"""What brackets of other centres say: balls in certified balls are certified, and a witness refutes wherever it lies.

Let r(c) be the largest good radius of `local` or `transform`. B(c', R - |c - c'|) lies in B(c, R) for every norm, and
what holds for all pairs of a ball holds for those of a ball in it: r(c') >= r(c) - |c - c'|, so that r is 1-Lipschitz
(A-1). A pair x, y refutes the ball around any centre that holds both: r(c') <= max(|x - c'|, |y - c'|) (A-3).

Rounding. A difference of floats is off by a factor 1 + u, u = 2^-53, or underflows to an exact number; a sum of n such
numbers, n squares and a root add at most n + 3 more: lengths are off by less than (n + 4) u, relatively. The factor
1 + (n + 8) 2^-52 covers that and its own rounding twice over; the last difference is rounded down by one step.
"""

from __future__ import annotations

import numpy as np

from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array, Indices

CHUNK = 4_000_000
"""Distances that are looked at together."""


def lengths_up(vectors: Array, norm: Norm) -> Array:
    """Lengths of differences of floats that were rounded once, rounded up."""
    with np.errstate(over="ignore"):
        return norm.lengths(vectors) * (1 + (vectors.shape[-1] + 8) * 2.0**-52) + 5e-324


def balls_inside(center: Array, centers: Array, certified: Array, norm: Norm) -> Array:
    """Radii of balls around a centre inside certified open balls around others, rounded down; 0 where it is outside."""
    with np.errstate(invalid="ignore", over="ignore"):
        left = np.nextafter(certified - lengths_up(centers - center, norm), -np.inf)
    return np.where(np.isinf(certified), np.inf, np.maximum(left, 0.0))


def best_balls(targets: Array, centers: Array, certified: Array, norm: Norm) -> tuple[Array, Indices]:
    """For each target the largest radius that certified balls give it, and which of them does."""
    radii, which = np.zeros(len(targets)), np.full(len(targets), -1)
    useful = np.flatnonzero(certified > 0)
    step = max(1, CHUNK // max(1, len(useful) * targets.shape[1]))
    for start in range(0, len(targets), step) if len(useful) else ():
        here = targets[start : start + step, None, :]
        inside = balls_inside(here, centers[useful], certified[useful], norm)
        best = inside.argmax(axis=1)
        radii[start : start + step] = inside[np.arange(len(best)), best]
        which[start : start + step] = useful[best]
    return radii, which


def best_witnesses(targets: Array, x: Array, y: Array, norm: Norm) -> tuple[Array, Indices]:
    """For each target about the least radius that pairs (rounded to floats) refute, and which of them does."""
    radii, which = np.full(len(targets), np.inf), np.full(len(targets), -1)
    step = max(1, CHUNK // max(1, 2 * len(x) * targets.shape[1]))
    for start in range(0, len(targets), step) if len(x) else ():
        here = targets[start : start + step, None, :]
        far = np.maximum(norm.lengths(x - here), norm.lengths(y - here))
        best = far.argmin(axis=1)
        radii[start : start + step] = far[np.arange(len(best)), best]
        which[start : start + step] = best
    return radii, which
