"""symbolic: every preactivation between two linear functions of the input, found backward (CROWN, DeepPoly).

For a target z = C v with v a node's value, the coefficients C are moved from each node to its operands, in reverse
order, until only the input is left. At a relu with l < 0 < u the value lies between

    alpha z  <=  relu(z)  <=  s z + t,     s = u / (u - l),  t = -s l,  alpha in {0, 1}

so a coefficient takes the upper line where it pushes the bound outward through the relu's upper side, else the lower
one. Any alpha in [0, 1] is sound; the line closer to the relu's graph is taken (alpha = 1 if u > -l).

All matrix products are floats. What they may have got wrong is added up row by row in `error`: each step's rounding is
bounded by a multiple of |C| |W| |v|, with |v| from the bounds already known, so the result holds in real arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ircert.bounds.bounds import Bounds
from ircert.bounds.interval import INTERVALS, interval_bounds, over_ball
from ircert.bounds.rounding import TINY, UNIT, affine_interval, magnitude, slack
from ircert.geometry.ball import Ball
from ircert.ir.arrays import Array, Indices
from ircert.ir.graph import Graph, Node
from ircert.ir.interpret import Backward
from ircert.ir.ops import Affine, Relu

Line: TypeAlias = tuple[Array, Array]
"""Slopes and offsets of one line per neuron."""
Lines: TypeAlias = Callable[[str], tuple[Line, Line]]
"""For the node that a relu reads: the lines below and above the relu."""

CHUNK = 2048
"""Targets handled at once: bounds memory without costing speed."""


def symbolic_bounds(graph: Graph, ball: Ball) -> Bounds:
    """Interval bounds, tightened at every node that a relu reads and at the output; each uses those found before it."""
    with np.errstate(over="ignore", invalid="ignore"):
        return _tightened(graph, ball, interval_bounds(graph, ball))


def _tightened(graph: Graph, ball: Ball, start: Bounds) -> Bounds:
    """One walk forward. Where numbers overflow a bound may come out as nan, which fmax and fmin pass over."""
    low, high = dict(start.low), dict(start.high)
    wanted = {node.operands[0] for node in graph.nodes if isinstance(node.op, Relu)} | {graph.output}
    for node in graph.nodes:
        if node.name == graph.input:
            continue
        forward = INTERVALS.step(node, [(low[name], high[name]) for name in node.operands])
        low[node.name] = np.fmax(low[node.name], forward[0])
        high[node.name] = np.fmin(high[node.name], forward[1])
        if node.name in wanted:
            backward = backward_bounds(graph, Bounds(graph, low, high, "symbolic"), node.name, ball)
            low[node.name] = np.fmax(low[node.name], backward[0])
            high[node.name] = np.fmin(high[node.name], backward[1])
    return Bounds(graph, low, high, "symbolic")


def backward_bounds(
    graph: Graph, bounds: Bounds, target: str, ball: Ball, lines: Lines | None = None
) -> tuple[Array, Array]:
    """Bounds on a node's value by linear functions of the input; `lines` bound the relus (by default, their graphs)."""
    size = graph.sizes[target]
    chosen = _around_relus(bounds) if lines is None else lines
    parts = [np.arange(start, min(start + CHUNK, size)) for start in range(0, size, CHUNK)]
    lows = [_Backward(graph, bounds, target, rows, chosen, upper=False).run(ball)[0] for rows in parts]
    highs = [_Backward(graph, bounds, target, rows, chosen, upper=True).run(ball)[1] for rows in parts]
    return np.concatenate(lows), np.concatenate(highs)


class _Backward(Backward[Array]):
    """Moves the coefficients of some entries of a target back to the input.

    The sum of coefficients times nodes, plus the constant, is off by at most the error.
    """

    def __init__(self, graph: Graph, bounds: Bounds, target: str, rows: Indices, lines: Lines, *, upper: bool) -> None:
        self.graph = graph
        self.bounds = bounds
        self.lines = lines
        self.target = target
        self.upper = upper
        self.unit = np.zeros((len(rows), graph.sizes[target]))
        self.unit[np.arange(len(rows)), rows] = 1.0
        self.constant, self.error = np.zeros(len(rows)), np.zeros(len(rows))

    def run(self, ball: Ball) -> tuple[Array, Array]:
        found = self.walk(self.graph, self.unit, self.target)
        if found is None:
            found = np.zeros((len(self.unit), self.graph.input_dim))
        low, high = self._concrete(found, ball)
        return low - self.error, high + self.error

    def _concrete(self, weight: Array, ball: Ball) -> tuple[Array, Array]:
        """The better of the bounds over the ball and over its box."""
        over_box = affine_interval(weight, self.constant, *ball.box)
        low, high = over_ball(weight, self.constant, ball)
        return np.fmax(low, over_box[0]), np.fmin(high, over_box[1])

    def affine(self, node: Node, op: Affine, given: Array) -> Array:
        (operand,) = node.operands
        absolute = abs(op.weight) @ self._size(operand) + np.abs(op.bias)
        self._round(len(op.bias), np.abs(given) @ absolute)
        self._underflow(len(op.bias), operand)
        self.constant = self.constant + given @ op.bias
        return np.asarray(given @ op.weight)

    def relu(self, node: Node, given: Array) -> Array:
        """Replace the relu by the line on the safe side of each coefficient."""
        (operand,) = node.operands
        below, above = self.lines(operand)
        rising = given > 0 if self.upper else given < 0
        moved = given * np.where(rising, above[0], below[0])
        shift = given * np.where(rising, above[1], below[1])
        self.constant = self.constant + shift.sum(axis=1)
        self._round(given.shape[1], np.abs(moved) @ self._size(operand) + np.abs(shift).sum(axis=1))
        self._underflow(1, operand)
        return moved

    def select(self, node: Node, indices: Indices, size: int, given: Array) -> Array:
        self._round(len(indices), np.abs(given) @ self._size(node.operands[0])[indices])
        return super().select(node, indices, size, given.T).T

    def part(self, given: Array, place: slice) -> Array:
        return given[:, place]

    def join(self, name: str, known: Array, more: Array) -> Array:
        """Adding the coefficients of two readers rounds."""
        total = known + more
        self._round(1, np.abs(total) @ self._size(name))
        return total

    def _size(self, name: str) -> Array:
        return magnitude(self.bounds.low[name], self.bounds.high[name])

    def _underflow(self, terms: int, operand: str) -> None:
        """Account for coefficients that are too small to be floats: what they lose is multiplied by the operand."""
        self.error = self.error + 4.0 * (terms + 2) * TINY * (1.0 + self._size(operand).sum())

    def _round(self, terms: int, absolute: Array) -> None:
        """Account for the rounding of one step, and of the running constant."""
        self.error = (self.error + slack(terms, absolute + np.abs(self.constant))) * (1 + 4 * UNIT)


def _around_relus(bounds: Bounds) -> Lines:
    def lines(operand: str) -> tuple[Line, Line]:
        slope, offset, alpha = relaxation(bounds.low[operand], bounds.high[operand])
        return (alpha, np.zeros(len(alpha))), (slope, offset)

    return lines


def relaxation(low: Array, high: Array) -> tuple[Array, Array, Array]:
    """(s, t, alpha) with alpha z <= relu(z) <= s z + t for low <= z <= high, in real arithmetic.

    The computed slope is any number in [0, 1]; t is then rounded up so that both ends (low, 0) and (high, high) lie
    below the line: t >= -s low and t >= (1 - s) high.
    """
    active, inactive = low >= 0, high <= 0
    open_ = ~active & ~inactive
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        slope = np.where(open_, np.clip(high / (high - low), 0.0, 1.0), np.where(active, 1.0, 0.0))
    ends = np.maximum(-slope * low, (1 - slope) * high)
    offset = np.where(open_, np.nextafter(ends * (1 + 8 * UNIT), np.inf), 0.0)
    alpha = np.where(open_, np.where(high > -low, 1.0, 0.0), slope)
    return slope, offset, alpha
