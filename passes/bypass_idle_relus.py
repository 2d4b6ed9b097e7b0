"""bypass-idle-relus: entries whose sign the structure decides everywhere go around their relu.

What a relu gives is nonnegative, and so are sums and combinations of such entries with weights and biases >= 0: another
relu leaves them as they are. A plain network that carries x past its layers as relu(x), relu(-x) has such a relu in
every layer but the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ircert.ir.arrays import Array, Indices, Mask, Matrix, economical, freeze, nonzeros, take_rows
from ircert.ir.build import Builder
from ircert.ir.graph import Graph, Node
from ircert.ir.interpret import Forward
from ircert.ir.ops import Affine, Relu
from ircert.passes.base import GraphPass, Rewrite
from ircert.passes.rebuilding import rebuild


@dataclass(frozen=True)
class BypassIdleRelus(GraphPass):
    """Keep relus for entries that may have either sign; what is never negative passes, what is never positive is 0.

    Signs follow from the structure alone, for every real input: from relus, and from the signs of weights and biases.
    """

    name = "bypass-idle-relus"
    requires = ("canonical",)
    ensures = ("canonical",)

    def run(self, source: Graph) -> Rewrite[Graph]:
        """Find the signs of all entries, then rebuild the relus that read some of them."""
        unknown = np.zeros(source.input_dim, dtype=np.bool_)
        signs = _SignWalk().walk(source, Signs(unknown, unknown))
        return Rewrite(rebuild(source, _Bypass(source, signs).rule))


@dataclass(frozen=True)
class Signs:
    """Which entries of a node are >= 0 at every input, and which are <= 0."""

    nonnegative: Mask
    nonpositive: Mask

    @property
    def reversed(self) -> Signs:
        """Those of the negated entries."""
        return Signs(self.nonpositive, self.nonnegative)


class _SignWalk(Forward[Signs]):
    """Signs of nodes from those of their operands; comparisons of numbers with 0 do not round."""

    def affine(self, name: str, op: Affine, x: Signs) -> Signs:
        return Signs(
            _is_nonnegative(op.weight, x) & (op.bias >= 0), _is_nonnegative(op.weight, x.reversed) & (op.bias <= 0)
        )

    def relu(self, name: str, x: Signs) -> Signs:
        return Signs(np.ones_like(x.nonnegative), x.nonpositive)

    def select(self, name: str, indices: Indices, x: Signs) -> Signs:
        return Signs(x.nonnegative[indices], x.nonpositive[indices])

    def concat(self, name: str, parts: list[Signs]) -> Signs:
        nonnegative = np.concatenate([part.nonnegative for part in parts])
        return Signs(nonnegative, np.concatenate([part.nonpositive for part in parts]))

    def add(self, name: str, parts: list[Signs]) -> Signs:
        nonnegative = reduce(np.logical_and, [part.nonnegative for part in parts])
        return Signs(nonnegative, reduce(np.logical_and, [part.nonpositive for part in parts]))


def _is_nonnegative(weight: Matrix, x: Signs) -> Mask:
    """Which rows of weight @ x have no term that may be negative."""
    return ~(_marked(weight > 0, ~x.nonnegative) | _marked(weight < 0, ~x.nonpositive))


def _marked(marks: Any, columns: Mask) -> Mask:
    """Which rows of a matrix of booleans have a mark in one of the columns."""
    found: Mask = np.asarray(marks @ columns, dtype=np.bool_)
    return found


class _Bypass:
    """The walk that rebuilds relus of which some entries are idle."""

    def __init__(self, source: Graph, signs: dict[str, Signs]) -> None:
        self.source, self.signs = source, signs

    def rule(self, build: Builder, node: Node, operands: tuple[str, ...]) -> str | None:
        if not isinstance(node.op, Relu):
            return None
        signs = self.signs[node.operands[0]]
        open_ = np.flatnonzero(~(signs.nonnegative | signs.nonpositive))
        on = np.flatnonzero(signs.nonnegative & ~signs.nonpositive)
        size = build.size(operands[0])
        if len(open_) == size:
            return None
        if len(on) == size:
            return operands[0]
        if not len(open_) + len(on):
            return build.affine(build.input, csr_array((size, build.size(build.input))), name=node.name)
        divisible = len(self.source.consumers[node.operands[0]]) == 1 and node.operands[0] != self.source.output
        parts = []
        if len(open_):
            z = _entries(build, operands[0], open_, divisible, name=f"{node.name}.open")
            parts.append(build.relu(z, name=f"{node.name}.relu"))
        if len(on):
            parts.append(_entries(build, operands[0], on, divisible, name=f"{node.name}.on"))
        return _placed(build, build.concat(*parts), np.concatenate([open_, on]), size, node.name)


def _entries(build: Builder, z: str, entries: Indices, divisible: bool, *, name: str) -> str:
    """Some entries of z; where z is an affine map that may be divided, these rows of it."""
    op = build.nodes[z].op
    if not isinstance(op, Affine) or not divisible:
        return build.select(z, entries, name=name)
    (x,) = build.nodes[z].operands
    weight, bias = take_rows(op.weight, entries), op.bias[entries]
    if _copies(weight, bias):
        return build.select(x, nonzeros(weight).indices.astype(np.int64), name=name)
    return build.affine(x, economical(weight), bias, name=name)


def _copies(weight: Matrix, bias: Array) -> bool:
    """Whether every entry of weight @ x + bias is an entry of x."""
    sparse = nonzeros(weight)
    return bool(np.all(np.diff(sparse.indptr) == 1) and np.all(sparse.data == 1.0) and not bias.any())


def _placed(build: Builder, x: str, places: Indices, size: int, name: str) -> str:
    """The vector whose entry places[i] is x[i], with zeros elsewhere."""
    if len(places) == size:
        return x if np.array_equal(places, np.arange(size)) else build.select(x, np.argsort(places), name=name)
    ones = csr_array((np.ones(len(places)), (places, np.arange(len(places)))), shape=(size, len(places)))
    return build.affine(x, economical(freeze(ones)), name=name)
