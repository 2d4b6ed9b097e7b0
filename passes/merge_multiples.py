"""merge-multiples: of neurons whose preactivations are multiples of each other, one remains.

With z' = a z: relu(z') = a relu(z) for a > 0, and relu(z') = |a| (relu(z) - z) for a < 0. So one relu per line through
the origin of (weights, bias) is enough, beside z itself. Identities written as relu(x) - relu(-x), residual networks
that were folded and duplicated neurons lose their copies; the function stays exactly the same.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ircert.ir.arrays import Array
from ircert.ir.build import Builder
from ircert.ir.dyadic import is_float
from ircert.ir.graph import Graph
from ircert.ir.ops import Affine, Relu
from ircert.passes.base import GraphPass, Rewrite
from ircert.passes.fuse_affine import FuseAffine

LARGEST = 40_000
"""Entries of a weight matrix whose rows are compared as fractions; larger ones are left as they are."""


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
        if isinstance(node.op, Relu) and isinstance(source.op, Affine) and np.prod(source.op.weight.shape) <= LARGEST:
            kept, table = _families(source.op)
            if len(kept) < graph.sizes[node.name]:
                changed = True
                z = build.affine(here[source.operands[0]], source.op.weight[kept], source.op.bias[kept])
                here[node.name] = build.affine(build.concat(build.relu(z, name=node.name), z), table)
                continue
        here[node.name] = build.node(node.op, *operands, name=node.name)
    if not changed:
        return graph
    return FuseAffine().run(build.graph(here[graph.output])).result


def _families(op: Affine) -> tuple[list[int], Array]:
    """One neuron of each family, and the matrix from (relu, z) of those to the relus of all."""
    weight = op.weight if isinstance(op.weight, np.ndarray) else op.weight.toarray()
    found: dict[tuple[Fraction, ...], int] = {}
    kept: list[int] = []
    entries: list[tuple[int, float]] = []
    rows = np.column_stack([weight, op.bias])
    alike = _alike(rows)
    for i, row in enumerate(rows.tolist()):
        lead = next((v for v in row[:-1] if v), 0.0)
        key = tuple(Fraction(v) / Fraction(lead) for v in row) if lead and alike[i] else (Fraction(i),)
        place = found.get(key)
        if place is not None:
            first = next(v for v in weight[kept[place]].tolist() if v)
            ratio = Fraction(lead) / Fraction(first)
            if is_float(ratio):
                entries.append((place, float(ratio)))
                continue
            key = (Fraction(i),)
        found[key] = len(kept)
        entries.append((len(kept), 1.0))
        kept.append(i)
    table = np.zeros((len(entries), 2 * len(kept)))
    for i, (place, factor) in enumerate(entries):
        table[i, place] = abs(factor)
        if factor < 0:
            table[i, len(kept) + place] = factor
    return kept, table


def _alike(rows: Array) -> list[bool]:
    """Whether a row may be a multiple of another: equal quotients are rounded to equal floats."""
    weight = rows[:, :-1]
    lead = weight[np.arange(len(rows)), (weight != 0).argmax(axis=1)]
    with np.errstate(all="ignore"):
        quotients = [row.tobytes() for row in rows / lead[:, None] + 0.0]  # -0.0 becomes 0.0
    often = Counter(quotients)
    return [often[row] > 1 for row in quotients]
