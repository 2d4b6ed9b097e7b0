"""Following a curve f = 0 in the plane: a step along the tangent, then Newton back to the curve."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ircert.ir.arrays import Array

CORRECTIONS = 8
ACCURATE = 1e-9
"""Newton's steps square their error: after one this small the point is as good as floats are."""
LONGEST = 100_000
"""Steps after which a curve that neither leaves the box nor closes is given up."""


def trace(
    f: Callable[[Array], Any], gradient: Callable[[Array], Array], start: Array, low: Any, high: Any, step: float
) -> Array:
    """The points of the curve through `start` up to where it leaves the box, about `step` apart, in order.

    `start` is a zero of f where the gradient does not vanish.
    """
    forward = _followed(f, gradient, start, low, high, step)
    if len(forward) > 1 and np.linalg.norm(forward[-1] - start) < step:
        return np.array(forward)  # a closed curve
    backward = _followed(f, gradient, start, low, high, -step)
    return np.array([*reversed(backward[1:]), *forward])


def _followed(
    f: Callable[[Array], Any], gradient: Callable[[Array], Array], start: Array, low: Any, high: Any, step: float
) -> list[Array]:
    points = [start]
    for _ in range(LONGEST):
        slope = gradient(points[-1])
        point = points[-1] + step * np.array([-slope[1], slope[0]]) / np.linalg.norm(slope)
        point = _corrected(f, gradient, point)
        if (point < low).any() or (point > high).any():
            break
        points.append(point)
        if len(points) > 4 and np.linalg.norm(point - start) < abs(step):
            break
    return points


def _corrected(f: Callable[[Array], Any], gradient: Callable[[Array], Array], point: Array) -> Array:
    """The zero of f nearby, by Newton's method along the gradient."""
    for _ in range(CORRECTIONS):
        slope = gradient(point)
        move = float(f(point)) * slope / float(slope @ slope)
        point = point - move
        if np.abs(move).max() < ACCURATE:
            break
    return point
