"""Liveness: which entries of which nodes the output really needs."""

from __future__ import annotations

import numpy as np

from ircert.ir.arrays import Mask, take_rows
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Affine, Concat, Select


def live_entries(graph: Graph, wanted: Mask) -> dict[str, Mask]:
    """For each node, the entries that the `wanted` outputs depend on structurally (through nonzero weights)."""
    live = {name: np.zeros(size, dtype=np.bool_) for name, size in graph.sizes.items()}
    live[graph.output] |= wanted
    for node in reversed(graph.nodes):
        if live[node.name].any():
            for operand, needed in zip(node.operands, _needed(graph, node, live[node.name]), strict=True):
                live[operand] |= needed
    return live


def _needed(graph: Graph, node: Node, live: Mask) -> list[Mask]:
    """The entries of each operand that the live entries of a node read."""
    sizes = [graph.sizes[operand] for operand in node.operands]
    if node.op.elementwise:
        return [live for _ in sizes]
    if isinstance(node.op, Affine):
        rows = take_rows(node.op.weight, np.flatnonzero(live))
        return [np.asarray((rows != 0).sum(axis=0) > 0).ravel()]
    if isinstance(node.op, Concat):
        return [live[part] for part in Concat.slices(sizes)]
    needed = [np.zeros(size, dtype=np.bool_) for size in sizes]
    if isinstance(node.op, Select):
        needed[0][node.op.indices[live]] = True
        return needed
    return [~none for none in needed]
