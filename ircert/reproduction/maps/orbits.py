"""Where a map of the plane ends up: its attracting invariant circle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ircert.ir.arrays import Array

BURN, KEEP, STARTS = 500, 60, 128
"""Steps before the circle is reached, steps that are kept, and starts, which are moved together."""
RING = 1.0
ESCAPED = 1e3
ON_CIRCLE = 0.02
"""Points this near a circle count as lying on it: it is known up to the gaps of its polygon."""


def attractor(f: Callable[[Array], Array], inside: Any) -> Array:
    """Points of the circle around `inside` that orbits are drawn to: they start on a ring and are kept much later.

    One start would not do: its orbit may return to few points of the circle. Orbits that run away are left out; without
    any that stays the result is empty.
    """
    angles = 2 * np.pi * np.arange(STARTS) / STARTS
    points = np.asarray(inside, dtype=np.float64) + RING * np.column_stack([np.cos(angles), np.sin(angles)])
    for _ in range(BURN):
        points = f(points)
        points = points[(np.abs(points) < ESCAPED).all(axis=1)]
    kept = [points]
    for _ in range(KEEP - 1):
        kept.append(f(kept[-1]))
    return np.concatenate(kept)


def as_loop(points: Array) -> Array:
    """The points of a closed curve in order: by their angle around the middle of their box."""
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    across, up = (points - middle).T
    return points[np.argsort(np.arctan2(up, across))]


def thinned(loop: Array, count: int) -> Array:
    """About `count` points of a loop, equally far apart along it."""
    closed = np.vstack([loop, loop[:1]])
    lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(closed, axis=0), axis=1))])
    wanted = np.searchsorted(lengths, np.linspace(0, lengths[-1], count, endpoint=False))
    return loop[np.unique(np.minimum(wanted, len(loop) - 1))]
