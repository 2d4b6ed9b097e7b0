"""Where all that a network knows of its input passes: nodes that separate the input from the output."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ircert.ir.arrays import Matrix, nonzeros
from ircert.ir.dyadic import decompose
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Affine, Relu

MOST = 0.1
"""The part of the weights that may have bits below those that are counted: tiny ones, which can often be avoided."""


def cuts(graph: Graph) -> list[str]:
    """The nodes that every path from input to output passes, in order: no edge of the sorted graph skips them."""
    position = {node.name: i for i, node in enumerate(graph.nodes)}
    found, farthest = [], 0
    for i, node in enumerate(graph.nodes):
        if farthest <= i:
            found.append(node.name)
        farthest = max([farthest, *(position[reader] for reader in graph.consumers[node.name])])
    return found


def narrow_cuts(graph: Graph) -> list[str]:
    """The cuts behind the input, without those that are read by a relu alone, which passes on less."""
    found = []
    for name in cuts(graph):
        readers = graph.consumers[name]
        if not (len(readers) == 1 and isinstance(graph[readers[0]].op, Relu)) and name != graph.input:
            found.append(name)
    return found or [graph.output]


def before(graph: Graph, cut: str) -> Iterator[Node]:
    """The nodes that a cut depends on: all that stand before it in the sorted graph, and the cut itself."""
    for node in graph.nodes:
        yield node
        if node.name == cut:
            return


def between(graph: Graph, first: str, last: str) -> list[Node]:
    """The nodes from one cut to another, with both."""
    nodes = list(before(graph, last))
    return nodes[[node.name for node in nodes].index(first) :]


def lengths(graph: Graph) -> dict[str, int]:
    """For each node about how many bits its derivatives take: weights are multiplied and added up on the way."""
    found: dict[str, int] = {}
    for node in graph.nodes:
        more = _length(node.op.weight) if isinstance(node.op, Affine) else 0
        found[node.name] = max((found[name] for name in node.operands), default=1) + more
    return found


def _length(weight: Matrix) -> int:
    """The bits from the largest weight to the last one of most weights, and those of a sum along a row."""
    data = nonzeros(weight).data
    if not len(data):
        return 0
    lowest, highest = decompose(data)[1], np.frexp(data)[1]
    return int(highest.max() - np.quantile(lowest, MOST)) + int(weight.shape[1]).bit_length()
