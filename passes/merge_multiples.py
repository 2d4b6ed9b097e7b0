"""merge-multiples: of neurons whose preactivations are multiples of each other, one remains.

With z' = a z: relu(z') = a relu(z) for a > 0, and relu(z') = |a| (relu(z) - z) for a < 0. So one relu per line through
the origin of (weights, bias) is enough, beside z itself. Identities written as relu(x) - relu(-x), residual networks
that were folded and duplicated neurons lose their copies; the function stays exactly the same.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from scipy.sparse import csr_array

from ircert.ir.arrays import Array, Mask, Matrix, Sparse, economical, freeze, nonzeros, take_rows
from ircert.ir.build import Builder
from ircert.ir.dyadic import is_float
from ircert.ir.graph import Graph
from ircert.ir.ops import Affine, Relu
from ircert.limits import checkpoint
from ircert.passes.base import GraphPass, Rewrite
from ircert.passes.fuse_affine import FuseAffine

LARGEST = 40_000
"""Numbers that are compared as fractions at most: those of rows that may be multiples of others."""

Key: TypeAlias = tuple[tuple[int, ...], tuple[Fraction, ...]]
"""Where a row has numbers, and these over the first of them."""


@dataclass(frozen=True)
class MergeMultiples(GraphPass):
    """Keep one relu of each family of proportional preactivations of an affine map."""

    name = "merge-multiples"
    requires = ("canonical",)
    ensures = ("canonical",)

    def run(self, source: Graph) -> Rewrite[Graph]:
        """One walk over the graph."""
        return Rewrite(merged(source))


def merged(graph: Graph) -> Graph:
    """A canonical graph of the same function without neurons that are multiples of others."""
    build = Builder(graph.input_dim, name=graph.input)
    here = {graph.input: build.input}
    changed = False
    for node in graph.nodes:
        if node.name == graph.input:
            continue
        operands = [here[name] for name in node.operands]
        source = graph[node.operands[0]]
        checkpoint()
        if isinstance(node.op, Relu) and isinstance(source.op, Affine):
            kept, table = _families(source.op)
            if len(kept) < graph.sizes[node.name]:
                changed = True
                weight = take_rows(source.op.weight, kept)
                z = build.affine(here[source.operands[0]], weight, source.op.bias[kept])
                here[node.name] = build.affine(build.concat(build.relu(z, name=node.name), z), table)
                continue
        here[node.name] = build.node(node.op, *operands, name=node.name)
    if not changed:
        return graph
    return FuseAffine().run(build.graph(here[graph.output])).result


def _families(op: Affine) -> tuple[list[int], Matrix]:
    """One neuron of each family, and the matrix from (relu, z) of those to the relus of all."""
    rows = _Rows(nonzeros(op.weight), op.bias)
    alike = rows.alike()
    found: dict[Key, int] = {}
    kept: list[int] = []
    entries: list[tuple[int, float]] = []
    for i, is_alike in enumerate(alike.tolist()):
        key = rows.direction(i) if is_alike else None
        place = None if key is None else found.get(key)
        if place is not None:
            ratio = rows.lead(i) / rows.lead(kept[place])
            if is_float(ratio):
                entries.append((place, float(ratio)))
                continue
        elif key is not None:
            found[key] = len(kept)
        entries.append((len(kept), 1.0))
        kept.append(i)
    return kept, _table(entries, len(kept))


def _table(entries: list[tuple[int, float]], count: int) -> Matrix:
    """a relu(z) for a factor a > 0, |a| (relu(z) - z) for a < 0; an entry says which z and which factor."""
    places, factors = np.array([place for place, _ in entries]), np.array([factor for _, factor in entries])
    negative = np.flatnonzero(factors < 0)
    rows = np.concatenate([np.arange(len(entries)), negative])
    columns = np.concatenate([places, count + places[negative]])
    numbers = np.concatenate([np.abs(factors), factors[negative]])
    return economical(freeze(csr_array((numbers, (rows, columns)), shape=(len(entries), 2 * count))))


@dataclass(frozen=True)
class _Rows:
    """The rows of an affine map, with their biases."""

    weight: Sparse
    bias: Array

    def alike(self) -> Mask:
        """Which rows may be multiples of others: equal quotients are rounded to equal floats. None if these have too
        many numbers."""
        starts, counts = self.weight.indptr[:-1], np.diff(self.weight.indptr)
        occupied = counts > 0
        lead = np.ones(len(counts))
        lead[occupied] = self.weight.data[starts[occupied]]
        with np.errstate(all="ignore"):
            quotients = self.weight.data / np.repeat(lead, counts) + 0.0  # -0.0 becomes 0.0
            ends = self.bias / lead + 0.0
        keys = [
            (self.weight.indices[k : k + n].tobytes(), quotients[k : k + n].tobytes(), end)
            for k, n, end in zip(starts.tolist(), counts.tolist(), ends.tolist(), strict=True)
        ]
        often = Counter(keys)
        found = np.array([often[key] > 1 for key in keys]) & occupied
        return found if counts[found].sum() <= LARGEST else np.zeros(len(counts), dtype=bool)

    def direction(self, i: int) -> Key:
        """The same for all multiples of a row."""
        part, lead = slice(self.weight.indptr[i], self.weight.indptr[i + 1]), self.lead(i)
        numbers = [*self.weight.data[part].tolist(), float(self.bias[i])]
        return tuple(self.weight.indices[part].tolist()), tuple(Fraction(v) / lead for v in numbers)

    def lead(self, i: int) -> Fraction:
        """The first weight of a row."""
        return Fraction(float(self.weight.data[self.weight.indptr[i]]))
