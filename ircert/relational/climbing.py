"""Points where an objective of two networks is large, looked for in floats: many climb at once.

From each point two ways are tried: towards the edge of the ball where the linear function that derivatives define is
largest, some part of the way; and along the derivatives, as far as was good before, back into the ball. Nothing here is
proved; what is found is evaluated exactly by whoever uses it.
"""

from __future__ import annotations

import math

import numpy as np

from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array
from ircert.limits import is_over
from ircert.relational.differential_bounds import Pair
from ircert.relational.gradients import gradients
from ircert.relational.input_branching import into
from ircert.relational.objectives import Objective

SHARES = np.array([1.0, 0.5, 0.25, 0.1, 0.03])
"""Parts of the way to the edge that are tried."""
FACTORS = np.array([4.0, 1.0, 0.25])
"""Steps along derivatives, in parts of the last good one …"""
FIRST, LAST = 0.1, 1e-7
"""… which is this part of the radius at first, and not worth a try below that."""
STARTS = 24
SAMPLES = 512
ROUNDS = 80
LITTLE = 1e-9
"""What is gained by no more than that, relatively, is nothing."""


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
    sizes = np.full(len(points), FIRST)
    for _ in range(ROUNDS):
        moving = np.flatnonzero((sizes > LAST) & np.isfinite(values))
        if is_over() or not len(moving):
            break
        points[moving], values[moving], sizes[moving] = _step(
            pair, ball, objective, points[moving], values[moving], sizes[moving]
        )
    best = int(values.argmax())
    return points[best], float(values[best])


def _samples(ball: Ball, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    low, high = ball.box
    inside = rng.uniform(low, high, size=(SAMPLES, len(low)))
    corners = np.where(rng.random((SAMPLES, len(low))) < 0.5, low, high)
    return np.concatenate([ball.center[None], inside, corners])


def _step(
    pair: Pair, ball: Ball, objective: Objective, points: Array, values: Array, sizes: Array
) -> tuple[Array, Array, Array]:
    """Points with values no less than before, and the steps that are worth a try next."""
    slopes = _slopes(pair, objective, points)
    edges = np.array([farthest(ball, row) for row in slopes]) - points
    steepest = slopes / np.maximum(np.abs(slopes).max(axis=1, keepdims=True), 1e-300)
    lengths = sizes[:, None] * FACTORS
    tried = np.concatenate(
        [
            points[:, None] + SHARES[:, None] * edges[:, None],
            points[:, None] + ball.radius * lengths[:, :, None] * steepest[:, None],
        ],
        axis=1,
    )
    found = _values(pair, objective, into(ball, tried.reshape(-1, points.shape[1]))).reshape(tried.shape[:2])
    best, rows = found.argmax(axis=1), np.arange(len(points))
    better = found[rows, best] > values + LITTLE * np.abs(values)
    along = np.maximum(best - len(SHARES), 0)
    used = np.where(best < len(SHARES), sizes, lengths[rows, along])
    moved = into(ball, tried[rows, best])
    return (
        np.where(better[:, None], moved, points),
        np.where(better, found[rows, best], values),
        np.where(better, np.minimum(used, 1.0), sizes * FACTORS.min() ** 2),
    )


def _slopes(pair: Pair, objective: Objective, points: Array) -> Array:
    """The derivatives of the objective by the inputs; 0 where floats hold none."""
    with np.errstate(all="ignore"):
        rates = objective.rates(pair.first(points), pair.second(points))
        parts = [gradients(graph, points, part) for graph, part in zip((pair.first, pair.second), rates, strict=True)]
    return np.nan_to_num(parts[0] + parts[1], nan=0.0, posinf=0.0, neginf=0.0)


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
