"""Lipschitz constants where the entries of nodes lie in known ranges: slopes there, products, and maxima."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from ircert.bounds.operator_norms import Unbounded
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import MaxPool
from ircert.ir.ops.piecewise import Max, Min
from ircert.ir.ops.smooth import Product
from ircert.structure.contraction import Growth
from ircert.structure.range import Range
from ircert.structure.slopes import slopes_on


def lipschitz_bound_in(graph: Graph, values: Mapping[str, Range], norm: Norm) -> Fraction:
    """A Lipschitz constant of a network whose nodes have these ranges, for inputs of a convex set; or Unbounded."""
    return GrowthInRanges(graph, values, norm).of_sum([graph.output])


class GrowthInRanges(Growth):
    """Of nodes as functions of the input, or from constants of nodes that are known."""

    def __init__(
        self, graph: Graph, values: Mapping[str, Range], norm: Norm, known: Mapping[str, Fraction] | None = None
    ) -> None:
        super().__init__(graph, graph.input, frozenset(), norm)
        self.values = values
        if known is not None:
            self.found = dict(known)

    def _function(self, node: Node, operands: list[Fraction]) -> Fraction:
        op = node.op
        if type(op) is Product:  # a b - a' b' = a (b - b') + (a - a') b'
            a, b = (_finite(self.values[name].greatest) for name in node.operands)
            return a * operands[1] + b * operands[0]
        if isinstance(op, Max | Min):
            return self.side_by_side(operands)
        if type(op) is MaxPool:  # an entry is read by as many windows as hold it
            windows = [np.unique(column) for column in op.members.T]
            repeats = 1 if self.norm == Norm.INF else int(np.bincount(np.concatenate(windows)).max())
            return operands[0] * repeats
        if not op.elementwise or len(operands) != 1:
            raise Unbounded
        return _finite(slopes_on(op, self.values[node.operands[0]])[1]) * operands[0]


def _finite(sizes: Array) -> Fraction:
    most = float(sizes.max(initial=0.0))
    if not most < np.inf:
        raise Unbounded
    return Fraction(most)
