"""stable-neurons: relus whose sign the bounds decide become what they are on the ball, the identity or zero."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array

from ircert.ir.arrays import Array, Indices
from ircert.ir.build import Builder
from ircert.ir.graph import Graph, Node
from ircert.ir.node_bounds import NodeBounds
from ircert.ir.ops import Relu
from ircert.passes.base import GraphPass, Lift, Rewrite


@dataclass(frozen=True)
class StableNeurons(GraphPass):
    """The same function on the set on which the graph's bounds hold, with relus for open neurons alone.

    Outside that set the new graph is another function: its lift says so.
    """

    name = "stable-neurons"
    requires = ("bounded",)
    ensures = ("bounded",)
    keeps_bounds = True

    def run(self, source: Graph) -> Rewrite[Graph]:
        """One walk; values on the set are what they were, and so are their bounds."""
        assert source.bounds is not None, "checked by the pipeline"
        walk = _Walk(source, source.bounds)
        if not walk.decided:
            return Rewrite(source)
        region = source.bounds.region
        what = f"{walk.decided} neuron{'s' * (walk.decided != 1)} replaced"
        note = f"{what}; the same function on the ball of radius {region.radius} in norm {region.norm} alone"
        return Rewrite(walk.graph(), Lift(only_on=((region, lambda x: x),)), (note,))


class _Walk:
    def __init__(self, source: Graph, bounds: NodeBounds) -> None:
        self.source, self.bounds = source, bounds
        self.build = Builder(source.input_dim, name=source.input)
        self.low: dict[str, Array] = {}
        self.high: dict[str, Array] = {}
        self.decided = 0
        self.here = {source.input: self.build.input}
        for node in source.nodes:
            if node.name != source.input:
                self.here[node.name] = self._node(node)
            self._know(self.here[node.name], node.name)

    def graph(self) -> Graph:
        made = self.build.graph(self.here[self.source.output])
        low, high = ({n: v for n, v in side.items() if n in made} for side in (self.low, self.high))
        return made.with_bounds(NodeBounds(self.bounds.region, self.bounds.method, low, high))

    def _know(self, new: str, old: str) -> None:
        if old in self.bounds.low and new not in self.low:
            self.low[new], self.high[new] = self.bounds.low[old], self.bounds.high[old]

    def _node(self, node: Node) -> str:
        operands = [self.here[name] for name in node.operands]
        if isinstance(node.op, Relu):
            low, high = self.bounds.low[node.operands[0]], self.bounds.high[node.operands[0]]
            on, open_ = np.flatnonzero(low >= 0), np.flatnonzero((low < 0) & (high > 0))
            if len(open_) < len(low):
                self.decided += len(low) - len(open_)
                return self._replaced(node.name, operands[0], on, open_)
        return self.build.node(node.op, *operands, name=node.name)

    def _replaced(self, name: str, z: str, on: Indices, open_: Indices) -> str:
        """The entries that are on as they are, those that are open through a relu, zeros between them."""
        size = self.build.size(z)
        if len(on) == size:
            return z
        if not len(open_):
            return self.build.affine(z, _scatter(on, on, size, size), name=name)
        low, high = self.low[z], self.high[z]
        part = self._bounded(self.build.select(z, open_, name=f"{name}.open"), low[open_], high[open_])
        both = self._bounded(self.build.relu(part, name=f"{name}.relu"), np.zeros(len(open_)), high[open_])
        if len(on):
            rest = self._bounded(self.build.select(z, on, name=f"{name}.on"), low[on], high[on])
            sides = [np.concatenate(pair) for pair in ((self.low[both], low[on]), (self.high[both], high[on]))]
            both = self._bounded(self.build.concat(both, rest, name=f"{name}.parts"), *sides)
        rows = np.concatenate([open_, on])
        return self.build.affine(both, _scatter(rows, np.arange(len(rows)), size, len(rows)), name=name)

    def _bounded(self, name: str, low: Array, high: Array) -> str:
        self.low[name], self.high[name] = low, high
        return name


def _scatter(rows: Indices, columns: Indices, height: int, width: int) -> csr_array:
    return coo_array((np.ones(len(rows)), (rows, columns)), shape=(height, width)).tocsr()
