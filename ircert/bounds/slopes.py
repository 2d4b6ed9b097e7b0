"""slopes: bounds on differences f(x) - f(y), node by node, for x and y of a ball and x - y of a given one.

relu(z) - relu(z') = λ (z - z') with λ in [0, 1]; λ = 1 where the neuron is on at every point of the ball, 0 where it is
off. So the differences are those of a linear network with slopes λ, and with g = z - z' in [l, u]

    min(g, 0) <= λ g <= max(g, 0),

between two chords where l < 0 < u. Derivatives are limits of differences, and have the same bounds: those for
|x - y| <= 1 bound the derivative along every v with |v| <= 1, and are Lipschitz constants of every neuron.
"""

from __future__ import annotations

import numpy as np

from ircert.bounds.bounds import Bounds
from ircert.bounds.interval import Interval, Intervals
from ircert.bounds.symbolic import Line, backward_bounds, relaxation
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array, Mask
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Affine


def slope_bounds(bounds: Bounds, differences: Ball) -> Bounds:
    """Bounds on the differences of all nodes, given bounds on their values and the ball of x - y.

    Their graph is the network without its biases.
    """
    return _Slopes(bounds, differences).run()


def secants(bounds: Bounds) -> tuple[Array, Array]:
    """Bounds on J with f(x) - f(y) = J (x - y), entry by entry, for all pairs of points that the bounds are about."""
    size = bounds.graph.input_dim
    columns = []
    for unit in np.eye(size):
        found = slope_bounds(bounds, Ball(np.zeros(size), 1.0, Norm.INF, unit, unit))
        columns.append((found.low[found.graph.output], found.high[found.graph.output]))
    return np.column_stack([low for low, _ in columns]), np.column_stack([high for _, high in columns])


def linear_part(graph: Graph) -> Graph:
    """The graph without its biases."""
    nodes = [
        Node(node.name, Affine(node.op.weight), node.operands) if isinstance(node.op, Affine) else node
        for node in graph.nodes
    ]
    return Graph(nodes, graph.output)


class _Slopes(Intervals):
    """One walk forward, with a walk back at every node that a relu reads."""

    def __init__(self, values: Bounds, ball: Ball) -> None:
        self.values = values
        self.ball = ball
        self.graph = linear_part(values.graph)
        self.low: dict[str, Array] = {self.graph.input: ball.box[0]}
        self.high: dict[str, Array] = {self.graph.input: ball.box[1]}
        self.found = Bounds(self.graph, self.low, self.high, "slopes")

    def run(self) -> Bounds:
        wanted = {*self.values.preactivations(), self.graph.output}
        with np.errstate(over="ignore", invalid="ignore"):
            for node in self.graph.nodes:
                if node.name == self.graph.input:
                    continue
                operands = [(self.low[name], self.high[name]) for name in node.operands]
                self.low[node.name], self.high[node.name] = self.step(node, operands)
                if node.name in wanted:
                    low, high = backward_bounds(self.graph, self.found, node.name, self.ball, self._lines)
                    self.low[node.name] = np.fmax(self.low[node.name], low)
                    self.high[node.name] = np.fmin(self.high[node.name], high)
        return self.found

    def relu(self, name: str, x: Interval) -> Interval:
        on, off = self._phases(self.graph[name].operands[0])
        low, high = np.where(on, x[0], np.minimum(x[0], 0.0)), np.where(on, x[1], np.maximum(x[1], 0.0))
        return np.where(off, 0.0, low), np.where(off, 0.0, high)

    def _phases(self, name: str) -> tuple[Mask, Mask]:
        """Which neurons are on, and which are off, at every point."""
        return self.values.low[name] >= 0, self.values.high[name] <= 0

    def _lines(self, name: str) -> tuple[Line, Line]:
        """Lines below and above λ g: max(g, 0) is a relu, and min(g, 0) = -relu(-g)."""
        on, off = self._phases(name)
        low, high = self.low[name], self.high[name]
        above, rise, _ = relaxation(low, high)
        below, fall, _ = relaxation(-high, -low)
        decided, slope, none = on | off, np.where(off, 0.0, 1.0), np.zeros(len(low))
        return (
            (np.where(decided, slope, below), np.where(decided, none, -fall)),
            (np.where(decided, slope, above), np.where(decided, none, rise)),
        )
