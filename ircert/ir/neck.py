"""The neck of a network: the narrowest vector on the way that the whole output is computed from.

Where a neck has one value at two points, so has the network; and a neck with fewer entries than inputs is a continuous
map into a space of less dimension, which is injective on no ball. Rows of an affine map that are sums of multiples of
others add nothing: W u + b is computed from its independent rows. Nor does an entry that a selection repeats.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from flint import fmpq, fmpq_mat

from ircert.ir.arrays import Array
from ircert.ir.build import Builder, needed_nodes
from ircert.ir.enclosure import lowered
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Affine, Select

MOST_ENTRIES = 2**12
"""Of matrices whose rank is looked at."""


def neck(graph: Graph) -> Graph | None:
    """The graph that ends with the first of the narrowest nodes that all ways from the input to the output go through;
    None where none of them has fewer entries than the output, or independent ones."""
    graph = lowered(graph)
    nodes = {node.name: node for node in needed_nodes({node.name: node for node in graph.nodes}, graph.output)}
    places = {name: i for i, name in enumerate(nodes)}
    last = dict.fromkeys(nodes, -1)  # who reads a node last
    for name, node in nodes.items():
        for operand in node.operands:
            last[operand] = places[name]
    best, reach = list(range(graph.output_dim)), -1  # reach: the last reader of all nodes before this one
    found = None
    for name, place in places.items():
        if reach <= place and name != graph.input:
            rows = _independent(nodes[name], graph.sizes[name])
            if len(rows) < len(best):
                best, found = rows, name
        reach = max(reach, last[name])
    return None if found is None else _cut(Graph(needed_nodes(nodes, found), found), best)


def _cut(graph: Graph, rows: list[int]) -> Graph:
    """The graph with some entries of its output."""
    if len(rows) == graph.output_dim:
        return graph
    build = Builder(graph.input_dim, name=graph.input)
    here = {graph.input: build.input}
    for node in graph.nodes:
        if node.operands:
            here[node.name] = build.node(node.op, *(here[name] for name in node.operands))
    return build.graph(build.select(here[graph.output], rows))


def _independent(node: Node, size: int) -> list[int]:
    """Entries that all others are computed from, too."""
    if isinstance(node.op, Select):
        return sorted(np.unique(node.op.indices, return_index=True)[1].tolist())
    if not isinstance(node.op, Affine) or np.prod(node.op.weight.shape) > MOST_ENTRIES:
        return list(range(size))
    return list(_independent_rows(node.op))


@lru_cache(maxsize=256)
def _independent_rows(op: Affine) -> tuple[int, ...]:
    """Rows that all others are sums of multiples of, exactly; all rows where floats see no fewer than columns, so that
    the operand is as narrow."""
    dense = op.weight if isinstance(op.weight, np.ndarray) else op.weight.toarray()
    if min(dense.shape) == _rank(dense):
        return tuple(range(len(dense)))
    turned = [fmpq(*value.as_integer_ratio()) for value in dense.T.ravel().tolist()]
    reduced, rank = fmpq_mat(*dense.T.shape, turned).rref()
    table = reduced.tolist()
    return tuple(next(j for j, value in enumerate(table[i]) if value) for i in range(rank)) or (0,)


def _rank(dense: Array) -> int:
    """About the rank: rows are scaled."""
    scale = np.abs(dense).max(axis=1, initial=0.0, keepdims=True)
    return int(np.linalg.matrix_rank(dense / np.where(scale > 0, scale, 1.0)))
