"""Copies of networks at both points of a question, in one graph: what `dual-copy` builds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from ircert.ir.arrays import Array
from ircert.ir.build import Builder, needed_nodes
from ircert.ir.graph import Graph
from ircert.ir.node_bounds import NodeBounds

COPIES = ("x", "y")
"""The names of the two points; the copies of node `h` are `h.x` and `h.y`."""
OTHER = "other."
"""What the names of the other network's nodes begin with."""


def copy_of(name: str) -> tuple[str, str]:
    """The node and the copy that a name like `h.x` stands for; no copy for nodes that are about both points."""
    node, _, copy = name.rpartition(".")
    return (node, copy) if node and copy in COPIES else (name, "")


class Copies:
    """Copies of networks at two points, called after them: `h1.x` and `h1.y`."""

    def __init__(self, source: Graph, center: tuple[float, ...] | None) -> None:
        self.size, self.center = source.input_dim, center
        self.build = Builder(source.input_dim * (1 if center else 2), name=source.input)
        self.source = source
        self.here: list[tuple[Graph, dict[str, str]]] = []
        self.joined: list[tuple[str, tuple[str, ...]]] = []
        self.gaps: list[tuple[str, str, str]] = []
        self.ends: dict[str, str] = {}

    def _end(self, copy: str) -> str:
        """The point of a copy; it stands right before the nodes that are the first to read it."""
        if copy not in self.ends:
            self.ends[copy] = self._point(copy)
        return self.ends[copy]

    def _point(self, copy: str) -> str:
        name = f"{self.source.input}.{copy}"
        if self.center is None:
            return self.build.select(self.build.input, COPIES.index(copy) * self.size + np.arange(self.size), name=name)
        if copy == COPIES[0]:
            return self.build.input
        return self.build.affine(self.build.input, csr_array((self.size, self.size)), np.array(self.center), name=name)

    def inputs(self) -> str:
        """x - y."""
        return self._minus([self._end(copy) for copy in COPIES], f"{self.source.input}.d")

    def difference(self, graph: Graph, prefix: str) -> str:
        """f(x) - f(y)."""
        return self._minus([self._copy(graph, prefix, copy) for copy in COPIES], f"{prefix}{graph.output}.d")

    def _copy(self, graph: Graph, prefix: str, copy: str) -> str:
        here = {graph.input: self._end(copy)}
        for node in graph.nodes:
            if node.name != graph.input:
                operands = (here[name] for name in node.operands)
                here[node.name] = self.build.node(node.op, *operands, name=f"{prefix}{node.name}.{copy}")
        self.here.append((graph, here))
        return here[graph.output]

    def _minus(self, ends: list[str], name: str) -> str:
        a, b = ends
        both = self.concat(f"{name}.both", a, b)
        made = self.build.affine(both, difference(self.build.size(a)), name=name)
        self.gaps.append((made, a, b))
        return made

    def concat(self, name: str, *parts: str) -> str:
        """The parts, one after the other."""
        made = self.build.concat(*parts, name=name)
        self.joined.append((made, parts))
        return made

    def graph(self, output: str) -> Graph:
        """The graph of what the output needs, with the bounds that follow from those of the networks."""
        nodes = needed_nodes(self.build.nodes, output)
        return Graph(nodes, output, self._bounds({node.name for node in nodes}))

    def _bounds(self, needed: set[str]) -> NodeBounds | None:
        """The bounds of the network, once for each point, where both points lie where they hold."""
        known = self.source.bounds
        if known is None or (self.center is not None and not known.region.contains(self.center)):
            return None
        low: dict[str, Array] = {}
        high: dict[str, Array] = {}
        for graph, here in self.here:
            if graph.bounds is not None and graph.bounds.region == known.region:
                low |= {here[name]: values for name, values in graph.bounds.low.items()}
                high |= {here[name]: values for name, values in graph.bounds.high.items()}
        for gap, a, b in self.gaps:
            if a in low and b in low:
                low[gap] = np.nextafter(low[a] - high[b], -np.inf)
                high[gap] = np.nextafter(high[a] - low[b], np.inf)
        for whole, parts in self.joined:
            if all(part in low for part in parts):
                low[whole], high[whole] = (np.concatenate([side[part] for part in parts]) for side in (low, high))
        finite = [name for name in low if name in needed and np.isfinite([low[name], high[name]]).all()]
        region = replace(known.region, copies=known.region.copies * (1 if self.center else 2))
        return NodeBounds(region, known.method, {n: low[n] for n in finite}, {n: high[n] for n in finite})


def difference(size: int) -> csr_array:
    """The matrix [I, -I]."""
    columns = np.stack([np.arange(size), np.arange(size, 2 * size)], axis=1).ravel()
    return csr_array((np.tile([1.0, -1.0], size), columns, np.arange(0, 2 * size + 1, 2)), shape=(size, 2 * size))
