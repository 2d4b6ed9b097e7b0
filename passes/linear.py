"""Exact linear expressions: every value between two relu layers in terms of the relus, without a rounded number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, vstack

from ircert.ir.arrays import Array, Indices, Matrix, Sparse, freeze, identity, nonzeros, same_bits, take_rows
from ircert.ir.dyadic import add, add_matrices, multiply, shifted
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Add, Affine, Concat, Relu, Select

INPUT = "<input>"
"""The input as a source; not a node name, so it cannot collide with one."""


@dataclass(frozen=True)
class Expression:
    """The vector sum of terms[s] @ s over sources s, plus bias."""

    terms: dict[str, Sparse]
    bias: Array

    @staticmethod
    def of(source: str, size: int) -> Expression:
        """The source itself."""
        return Expression({source: identity(size)}, np.zeros(size))

    def take(self, entries: Indices) -> Expression:
        """Some entries of it."""
        return _without_zeros({name: take_rows(term, entries) for name, term in self.terms.items()}, self.bias[entries])

    def scaled(self, sign: float) -> Expression:
        """sign * self, for a sign of 1 or -1."""
        return Expression({name: freeze(csr_array(sign * term)) for name, term in self.terms.items()}, sign * self.bias)

    def mapped(self, weight: Matrix, bias: Array) -> Expression | None:
        """weight @ self + bias, or None where that might round."""
        products = {name: multiply(weight, term) for name, term in self.terms.items()}
        terms = {name: product for name, product in products.items() if product is not None}
        total = shifted(weight, self.bias, bias)
        return None if total is None or len(terms) < len(products) else _without_zeros(terms, total)

    def plus(self, other: Expression) -> Expression | None:
        """self + other, or None where that might round."""
        bias = add(self.bias, other.bias)
        terms: dict[str, Matrix] = dict(self.terms)
        for name, term in other.terms.items():
            total = add_matrices(terms[name], term) if name in terms else term
            if total is None:
                return None
            terms[name] = total
        return None if bias is None else _without_zeros(terms, bias)

    @staticmethod
    def stacked(parts: list[Expression]) -> Expression:
        """The parts one below the other."""
        widths = {name: term.shape[1] for part in parts for name, term in part.terms.items()}
        terms = {}
        for name, width in widths.items():
            pieces = [part.terms.get(name, csr_array((len(part.bias), width))) for part in parts]
            terms[name] = freeze(vstack(pieces, format="csr"))
        return Expression(terms, np.concatenate([part.bias for part in parts]))

    def is_source(self) -> bool:
        """Whether it is a source and nothing else."""
        terms = list(self.terms.values())
        return len(terms) == 1 and not self.bias.any() and same_bits(terms[0], identity(len(self.bias)))


def _without_zeros(terms: Mapping[str, Matrix], bias: Array) -> Expression:
    sparse = {name: nonzeros(term) for name, term in terms.items()}
    return Expression({name: term for name, term in sparse.items() if term.nnz}, bias)


@dataclass(frozen=True)
class Source:
    """Something expressions are made of: the input, a relu node, or a value that must be kept as it is.

    definition: the expression before its relu; signed: whether it may be negative, so that it passes a relu layer only
    as a pair.
    """

    name: str
    size: int
    signed: bool
    definition: Expression


@dataclass(frozen=True)
class LinearParts:
    """The sources of a canonical graph, each defined by earlier ones, their depths, and the output.

    The depth of a source is the number of relus in a row that it takes to compute it.
    """

    sources: dict[str, Source]
    depth: dict[str, int]
    output: Expression


def linear_parts(graph: Graph) -> LinearParts:
    """Take a canonical graph apart at its relus, without a rounded number."""
    walk = _Walk(graph)
    for node in graph.nodes:
        walk.visit(node)
    return LinearParts(walk.sources, walk.depth, walk.expressions[graph.output])


class _Walk:
    def __init__(self, graph: Graph) -> None:
        whole = Expression.of(INPUT, graph.input_dim)
        self.sources = {INPUT: Source(INPUT, graph.input_dim, True, whole)}
        self.depth = {INPUT: 0}
        self.expressions = {graph.input: whole}
        self.pairs: dict[str, Expression] = {}

    def visit(self, node: Node) -> None:
        if node.name not in self.expressions:
            self.expressions[node.name] = self._expression(node)

    def _expression(self, node: Node) -> Expression:
        if isinstance(node.op, Relu):
            return self._source(node.name, self.expressions[node.operands[0]], signed=False)
        operands = self._carried(node.operands)
        if isinstance(node.op, Concat):
            return Expression.stacked(operands)
        if isinstance(node.op, Select):
            return operands[0].take(node.op.indices)
        exact = _combined(node, operands)
        if exact is not None:
            return exact
        for name in node.operands:
            self.expressions[name] = self._pair(name)
        exact = _combined(node, [self.expressions[name] for name in node.operands])
        assert exact is not None, "sums and maps of whole sources do not round"
        return exact

    def _carried(self, names: tuple[str, ...]) -> list[Expression]:
        """The operands; one that must wait for a deeper one is carried as a pair if that takes fewer neurons."""
        deepest = max(self.level(self.expressions[name]) for name in names)
        chosen = []
        for name in names:
            expression = self.expressions[name]
            waits = self.level(expression) < deepest
            cheaper = 2 * len(expression.bias) < sum(self._neurons(s, term) for s, term in expression.terms.items())
            chosen.append(self._pair(name) if waits and cheaper else expression)
        return chosen

    def _neurons(self, source: str, term: Sparse) -> int:
        """How many neurons of a layer it takes to carry what a term reads of a source."""
        return len(np.unique(term.indices)) * (2 if self.sources[source].signed else 1)

    def level(self, expression: Expression) -> int:
        """The depth of the deepest source it reads."""
        return max((self.depth[name] for name in expression.terms), default=0)

    def _pair(self, name: str) -> Expression:
        """A node's value as a source of its own, so that nothing has to be multiplied into it."""
        if self.expressions[name].is_source():
            return self.expressions[name]
        if name not in self.pairs:
            self.pairs[name] = self._source(name, self.expressions[name], signed=True)
        return self.pairs[name]

    def _source(self, name: str, definition: Expression, *, signed: bool) -> Expression:
        self.sources[name] = Source(name, len(definition.bias), signed, definition)
        self.depth[name] = 1 + self.level(definition)
        return Expression.of(name, len(definition.bias))


def _combined(node: Node, operands: list[Expression]) -> Expression | None:
    if isinstance(node.op, Affine):
        return operands[0].mapped(node.op.weight, node.op.bias)
    assert isinstance(node.op, Add), f"{node.op.kind} in a canonical graph"
    total: Expression | None = operands[0]
    for term in operands[1:]:
        total = total.plus(term) if total is not None else None
    return total
