"""Derivatives of a network's outputs at many points at once, in floats: for looking, not for proving."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ircert.bounds.all_curves import all_bounds_of
from ircert.ir.arrays import Array
from ircert.ir.evaluate import all_values
from ircert.ir.graph import Graph, Node
from ircert.ir.interpret import Backward
from ircert.ir.ops import Affine, Curve


def gradients(graph: Graph, points: Array, weights: Array) -> Array:
    """The derivatives of weights · f at points (rows), weights (points, outputs); the graph is lowered."""
    found = _Slopes(all_values(graph, points)).walk(graph, weights.T)
    return np.zeros(points.shape) if found is None else found.T


class _Slopes(Backward[Array]):
    """Coefficients (entries, points) of nodes whose values are known."""

    def __init__(self, values: Mapping[str, Array]) -> None:
        self.values = values

    def affine(self, node: Node, op: Affine, given: Array) -> Array:
        return np.asarray(op.weight.T @ given)

    def relu(self, node: Node, given: Array) -> Array:
        return np.asarray(given * (self.values[node.operands[0]].T > 0))

    def curve(self, node: Node, given: Array) -> Array:
        assert isinstance(node.op, Curve)
        read = self.values[node.operands[0]].T
        least, most = all_bounds_of(node.op).at(read.ravel())[1]
        return np.asarray(given * ((least + most) / 2).reshape(read.shape))
