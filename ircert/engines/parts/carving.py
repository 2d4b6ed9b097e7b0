"""A network that computes some entries of another one, of what these read alone: in time that is their own size.

Entries of each node are kept in order; rows and columns of affine maps are taken out as they are, so nothing rounds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from ircert.ir.arrays import Indices, economical, nonzeros
from ircert.ir.build import Builder
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Affine, Concat, Select
from ircert.passes.pipeline import Pipeline

Kept = dict[str, Indices]
"""Entries of nodes, in order."""


class Carver:
    """Takes networks out of one graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph: Graph = Pipeline.parse("lower-conv")(graph)

    @cached_property
    def _weights(self) -> dict[str, csr_array]:
        maps = ((node.name, node.op) for node in self.graph.nodes if isinstance(node.op, Affine))
        return {name: csr_array(nonzeros(op.weight)) for name, op in maps}

    def carved(self, entries: Mapping[str, Sequence[int]], inputs: Sequence[int]) -> tuple[Graph, list[int]]:
        """The network whose outputs are these entries, and its inputs: these, and others that are read."""
        kept = self._kept(entries, inputs)
        build = Builder(len(kept[self.graph.input]), name=self.graph.input)
        here = {self.graph.input: build.input}
        for node in self.graph.nodes:
            if node.operands and node.name in kept:
                here[node.name] = self._node(build, node, here, kept)
        shown = []
        for name, chosen in entries.items():
            places = np.searchsorted(kept[name], np.asarray(chosen))
            whole = np.array_equal(places, np.arange(len(kept[name])))
            shown.append(here[name] if whole else build.select(here[name], places))
        output = shown[0] if len(shown) == 1 else build.concat(*shown)
        return build.graph(output), kept[self.graph.input].tolist()

    # --- what is read ------------------------------------------------------------------------------------------------

    def _kept(self, entries: Mapping[str, Sequence[int]], inputs: Sequence[int]) -> Kept:
        wanted: dict[str, list[Indices]] = {name: [np.asarray(chosen)] for name, chosen in entries.items()}
        wanted.setdefault(self.graph.input, []).append(np.asarray(inputs, dtype=np.int64))
        kept: Kept = {}
        for node in reversed(self.graph.nodes):
            if node.name not in wanted:
                continue
            mine = np.unique(np.concatenate(wanted[node.name]).astype(np.int64))
            if node.operands and not _by_entries(node):
                mine = np.arange(self.graph.sizes[node.name])
            kept[node.name] = mine
            for name, read in zip(node.operands, self._read(node, mine), strict=True):
                if len(read):
                    wanted.setdefault(name, []).append(read)
        return kept

    def _read(self, node: Node, mine: Indices) -> list[Indices]:
        sizes = [self.graph.sizes[name] for name in node.operands]
        if isinstance(node.op, Affine):
            rows = self._weights[node.name][mine]
            return [np.asarray(rows.indices[rows.data != 0], dtype=np.int64)]
        if isinstance(node.op, Select):
            return [node.op.indices[mine]]
        if isinstance(node.op, Concat):
            return [mine[(mine >= part.start) & (mine < part.stop)] - part.start for part in Concat.slices(sizes)]
        return [mine if node.op.elementwise else np.arange(size) for size in sizes]

    # --- what is built -----------------------------------------------------------------------------------------------

    def _node(self, build: Builder, node: Node, here: dict[str, str], kept: Kept) -> str:
        op, mine = node.op, kept[node.name]
        if isinstance(op, Affine):
            return self._affine(build, node, op, here, kept)
        if isinstance(op, Select):
            places = np.searchsorted(kept[node.operands[0]], op.indices[mine])
            return build.select(here[node.operands[0]], places, name=node.name)
        if isinstance(op, Concat):
            parts = [
                (name, read) for name, read in zip(node.operands, self._read(node, mine), strict=True) if len(read)
            ]
            chosen = [_taken(build, here[name], kept[name], read) for name, read in parts]
            return chosen[0] if len(chosen) == 1 else build.concat(*chosen, name=node.name)
        reads = zip(node.operands, self._read(node, mine), strict=True)
        operands = [_taken(build, here[name], kept[name], read) for name, read in reads]
        return build.node(op.take(mine) if op.elementwise else op, *operands, name=node.name)

    def _affine(self, build: Builder, node: Node, op: Affine, here: dict[str, str], kept: Kept) -> str:
        """Rows and columns; a map without weights reads the input, of which nothing matters."""
        mine, (operand,) = kept[node.name], node.operands
        if operand not in kept:
            return build.affine(build.input, np.zeros((len(mine), build.size(build.input))), op.bias[mine])
        weight = csr_array(self._weights[node.name][mine][:, kept[operand]])
        return build.affine(here[operand], economical(weight), op.bias[mine], name=node.name)


def _by_entries(node: Node) -> bool:
    """Whether entries of it can be computed for themselves."""
    return isinstance(node.op, Affine | Select | Concat) or node.op.elementwise


def _taken(build: Builder, name: str, kept: Indices, wanted: Indices) -> str:
    """Of the entries that are kept, those that are wanted."""
    return name if len(kept) == len(wanted) else build.select(name, np.searchsorted(kept, wanted))
