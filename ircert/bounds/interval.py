"""interval: bounds propagated forward, node by node."""

from __future__ import annotations

import numpy as np

from ircert.bounds.bounds import Bounds
from ircert.bounds.rounding import TINY, affine_interval, magnitude, slack
from ircert.errors import UnsupportedModel
from ircert.geometry.ball import Ball
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph
from ircert.ir.ops import Add, Affine, Concat, Op, Relu, Select


def interval_bounds(graph: Graph, ball: Ball) -> Bounds:
    """Bounds from the ball's box; the affine maps of the input itself use the ball (dual norm) where that is better."""
    low, high = {graph.input: ball.box[0]}, {graph.input: ball.box[1]}
    for node in graph.nodes:
        if node.name == graph.input:
            continue
        operands = [(low[name], high[name]) for name in node.operands]
        low[node.name], high[node.name] = propagate(node.op, operands)
        if isinstance(node.op, Affine) and node.operands == (graph.input,):
            closer = over_ball(_dense(node.op.weight), node.op.bias, ball)
            low[node.name] = np.fmax(low[node.name], closer[0])
            high[node.name] = np.fmin(high[node.name], closer[1])
    return Bounds(graph, low, high, "interval")


def propagate(op: Op, operands: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Bounds on one core operation of values within bounds."""
    lows, highs = [low for low, _ in operands], [high for _, high in operands]
    if isinstance(op, Affine):
        return affine_interval(op.weight, op.bias, lows[0], highs[0])
    if isinstance(op, Relu):
        return np.maximum(lows[0], 0.0), np.maximum(highs[0], 0.0)
    if isinstance(op, Select):
        return lows[0][op.indices], highs[0][op.indices]
    if isinstance(op, Concat):
        return np.concatenate(lows), np.concatenate(highs)
    if isinstance(op, Add):
        error = slack(len(operands), np.sum([magnitude(low, high) for low, high in operands], axis=0))
        return np.sum(lows, axis=0) - error, np.sum(highs, axis=0) + error
    raise UnsupportedModel(f"there are no bounds for {op.kind}", remedy="run the pass `canonicalize` before")


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
