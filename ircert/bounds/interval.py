"""interval: bounds propagated forward, node by node."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from ircert.bounds.bounds import Bounds
from ircert.bounds.rounding import TINY, affine_interval, magnitude, slack
from ircert.geometry.ball import Ball
from ircert.ir.arrays import Array, Indices
from ircert.ir.graph import Graph
from ircert.ir.interpret import Forward
from ircert.ir.ops import Affine

Interval: TypeAlias = tuple[Array, Array]
"""Low and high, entry by entry."""


class Intervals(Forward[Interval]):
    """Bounds on the core operations of values within bounds."""

    def affine(self, name: str, op: Affine, x: Interval) -> Interval:
        return affine_interval(op.weight, op.bias, *x)

    def relu(self, name: str, x: Interval) -> Interval:
        return np.maximum(x[0], 0.0), np.maximum(x[1], 0.0)

    def select(self, name: str, indices: Indices, x: Interval) -> Interval:
        return x[0][indices], x[1][indices]

    def concat(self, name: str, parts: list[Interval]) -> Interval:
        return np.concatenate([low for low, _ in parts]), np.concatenate([high for _, high in parts])

    def add(self, name: str, parts: list[Interval]) -> Interval:
        error = slack(len(parts), np.sum([magnitude(low, high) for low, high in parts], axis=0))
        return np.sum([low for low, _ in parts], axis=0) - error, np.sum([high for _, high in parts], axis=0) + error


INTERVALS = Intervals()


def interval_bounds(graph: Graph, ball: Ball) -> Bounds:
    """Bounds from the ball's box; the affine maps of the input itself use the ball (dual norm) where that is better."""
    low, high = {graph.input: ball.box[0]}, {graph.input: ball.box[1]}
    for node in graph.nodes:
        if node.name == graph.input:
            continue
        operands = [(low[name], high[name]) for name in node.operands]
        low[node.name], high[node.name] = INTERVALS.step(node, operands)
        if isinstance(node.op, Affine) and node.operands == (graph.input,):
            closer = over_ball(_dense(node.op.weight), node.op.bias, ball)
            low[node.name] = np.fmax(low[node.name], closer[0])
            high[node.name] = np.fmin(high[node.name], closer[1])
    return Bounds(graph, low, high, "interval")


def over_ball(weight: Array, constant: Array, ball: Ball) -> tuple[Array, Array]:
    """Bounds on weight @ x + constant over a ball: weight @ center ± radius * (dual norm of each row)."""
    middle = weight @ ball.center + constant
    reach = ball.radius * ball.norm.dual.lengths(weight)
    absolute = np.abs(weight) @ np.abs(ball.center) + np.abs(constant) + reach
    # The second term: what is lost in a norm or coefficient below the smallest float is multiplied by the ball's size.
    size = ball.radius + np.abs(ball.center).sum()
    error = slack(weight.shape[1], absolute) + 4.0 * (weight.shape[1] + 2) * TINY * size
    return middle - reach - error, middle + reach + error


def _dense(weight: object) -> Array:
    return weight if isinstance(weight, np.ndarray) else weight.toarray()  # type: ignore[attr-defined]
