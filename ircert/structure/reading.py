"""Which entries of its operands an entry of a node reads: through weights that are not 0, at its own index, or all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from ircert.ir.arrays import Indices, Mask, nonzeros
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Affine, Concat, LinearImageOp, Select
from ircert.structure.linear_maps import Linear, affine, reads

Edges = tuple[Indices, Indices]
"""Entries of a node, and for each an entry of an operand that it reads."""


class Reading:
    """What the nodes of one graph read; convolutions that are too large to be written out read more than they do."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def computed(self, node: Node, known: Sequence[Mask]) -> Mask:
        """The entries of a node that read no entries of its operands but known ones."""
        op = node.op
        if isinstance(op, Affine | LinearImageOp):
            return ~reads(op, ~known[0])
        if type(op) is Concat:
            return np.concatenate(known)
        if type(op) is Select:
            return np.asarray(known[0][op.indices])
        if op.elementwise:
            return np.asarray(np.logical_and.reduce(known))
        return np.full(self.graph.sizes[node.name], all(mask.all() for mask in known))

    def read(self, node: Node, entries: Mask) -> list[Mask]:
        """For each operand the entries that some entries of a node read, and perhaps more of them."""
        op, sizes = node.op, [self.graph.sizes[name] for name in node.operands]
        if isinstance(op, Affine | LinearImageOp) and (pattern := _pattern(op)) is not None:
            return [np.asarray(pattern.T @ entries.astype(np.float64) > 0)]
        if type(op) is Concat:
            return [entries[part] for part in Concat.slices(sizes)]
        if op.elementwise:
            return [entries for _ in sizes]
        found = [np.full(size, type(op) is not Select and bool(entries.any())) for size in sizes]
        if type(op) is Select:
            found[0][op.indices[entries]] = True
        return found

    def edges(self, node: Node) -> list[Edges] | None:
        """For each operand, who reads whom; None where every entry may read all entries of all operands."""
        op, sizes = node.op, [self.graph.sizes[name] for name in node.operands]
        if isinstance(op, Affine | LinearImageOp):
            pattern = _pattern(op)
            if pattern is None:
                return None
            rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
            return [(rows, np.asarray(pattern.indices, dtype=np.int64))]
        if type(op) is Concat:
            return [
                (np.arange(part.start, part.stop), np.arange(part.stop - part.start)) for part in Concat.slices(sizes)
            ]
        if type(op) is Select:
            return [(np.arange(len(op.indices)), np.asarray(op.indices, dtype=np.int64))]
        if op.elementwise:
            return [(np.arange(size), np.arange(size)) for size in sizes]
        return None


def _pattern(op: Linear) -> csr_array | None:
    """1 where an affine map has a weight that is not 0; None where its matrix is too large to be written out."""
    written = affine(op)
    if written is None:
        return None
    weight = nonzeros(written.weight)
    ones = (weight.data != 0).astype(np.float64)
    pattern = csr_array((ones, weight.indices, weight.indptr), shape=weight.shape, copy=True)
    pattern.eliminate_zeros()
    return pattern
