"""Points where an objective of two networks is large, looked for in floats: slopes, and steps to the edge of the ball.

At a point the symbols of the inputs in the forms of a walk are derivatives: over a ball the linear function they define
is largest at a point of its edge, and some part of the way there is tried. Nothing here is proved; what is found is
evaluated exactly by whoever uses it.
"""

from __future__ import annotations

import math

import numpy as np

from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array
from ircert.limits import is_over
from ircert.relational.differential_bounds import Pair
from ircert.relational.input_branching import into
from ircert.relational.objectives import Objective
from ircert.relational.points import Points

SHARES = np.array([1.0, 0.5, 0.25, 0.1, 0.03, 0.01, 0.001])
"""Parts of the way that are tried."""
STARTS = 12
SAMPLES = 256
STEPS = 40


def climbed(
    pair: Pair, ball: Ball, objective: Objective, seed: int = 0, *, start: Array | None = None
) -> tuple[Array, float]:
    """A point of the ball (but for rounding) where the objective is large, and about how large.

    start: where to begin; else at the best of many points
    """
    starts = into(ball, _samples(ball, seed) if start is None else start[None])
    values = _values(pair, objective, starts)
    chosen = np.argsort(-values, kind="stable")[:STARTS]
    points, values = starts[chosen], values[chosen]
    moving = np.ones(len(points), dtype=bool)
    for _ in range(STEPS):
        if is_over() or not moving.any():
            break
        here = np.flatnonzero(moving)
        for k in here.tolist():
            points[k], better = _step(pair, ball, objective, points[k], float(values[k]))
            moving[k] = better > values[k] + 1e-9 * abs(float(values[k]))
            values[k] = max(better, float(values[k]))
    best = int(values.argmax())
    return points[best], float(values[best])


def _samples(ball: Ball, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    low, high = ball.box
    inside = rng.uniform(low, high, size=(SAMPLES, len(low)))
    corners = np.where(rng.random((SAMPLES, len(low))) < 0.5, low, high)
    return np.concatenate([ball.center[None], inside, corners])


def _step(pair: Pair, ball: Ball, objective: Objective, point: Array, value: float) -> tuple[Array, float]:
    found = pair.bounds(Points(ball, point[None], point[None]))
    guide = objective.bounded(found, pair.first.output).guide
    slopes = guide.symbols[0, 0, : len(point)]
    if len(slopes) < len(point) or not np.isfinite(slopes).all() or not slopes.any():
        return point, value
    tried = into(ball, point + SHARES[:, None] * (farthest(ball, slopes) - point))
    values = _values(pair, objective, tried)
    best = int(values.argmax())
    return (tried[best], float(values[best])) if values[best] > value else (point, value)


def farthest(ball: Ball, slopes: Array) -> Array:
    """The point of a ball where a linear function is largest, about; a domain is met by moving into it."""
    low, high = ball.box
    if ball.norm is Norm.INF:
        return np.where(slopes > 0, high, np.where(slopes < 0, low, ball.center))
    if ball.norm is Norm.TWO:
        return np.asarray(ball.center + ball.radius * slopes / max(math.sqrt(float(slopes @ slopes)), 1e-300))
    ends = np.where(slopes > 0, high, low)
    gains = np.abs(slopes) * np.abs(ends - ball.center)
    target, left = ball.center.copy(), ball.radius
    for k in np.argsort(-np.abs(slopes), kind="stable").tolist():  # the steepest first, as far as the domain lets it
        step = min(left, abs(float(ends[k] - ball.center[k])))
        target[k] += math.copysign(step, float(slopes[k])) if gains[k] > 0 else 0.0
        left -= step if gains[k] > 0 else 0.0
        if left <= 0:
            break
    return target


def _values(pair: Pair, objective: Objective, points: Array) -> Array:
    with np.errstate(all="ignore"):
        values = objective.values(pair.first(points), pair.second(points))
    return np.where(np.isfinite(values), values, -np.inf)
