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


def linear_sources(graph: Graph) -> tuple[dict[str, Source], Expression]:
    """The sources of a canonical graph, in an order in which each is defined by earlier ones, and its output."""
    walk = _Walk(graph)
    for node in graph.nodes:
        walk.visit(node)
    return walk.sources, walk.expressions[graph.output]


class _Walk:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        whole = Expression.of(INPUT, graph.input_dim)
        self.sources = {INPUT: Source(INPUT, graph.input_dim, True, whole)}
        self.expressions = {graph.input: whole}

    def visit(self, node: Node) -> None:
        if node.name not in self.expressions:
            self.expressions[node.name] = self._expression(node)

    def _expression(self, node: Node) -> Expression:
        operands = [self.expressions[name] for name in node.operands]
        if isinstance(node.op, Relu):
            return self._source(node.name, operands[0], signed=False)
        if isinstance(node.op, Concat):
            return Expression.stacked(operands)
        if isinstance(node.op, Select):
            return operands[0].take(node.op.indices)
        exact = _combined(node, operands)
        if exact is not None:
            return exact
        for name in node.operands:
            self._keep(name)
        exact = _combined(node, [self.expressions[name] for name in node.operands])
        assert exact is not None, "sums and maps of whole sources do not round"
        return exact

    def _keep(self, name: str) -> None:
        """Make a node's value a source of its own, so that nothing has to be multiplied into it."""
        if not self.expressions[name].is_source():
            self.expressions[name] = self._source(name, self.expressions[name], signed=True)

    def _source(self, name: str, definition: Expression, *, signed: bool) -> Expression:
        self.sources[name] = Source(name, len(definition.bias), signed, definition)
        return Expression.of(name, len(definition.bias))


def _combined(node: Node, operands: list[Expression]) -> Expression | None:
    if isinstance(node.op, Affine):
        return operands[0].mapped(node.op.weight, node.op.bias)
    assert isinstance(node.op, Add), f"{node.op.kind} in a canonical graph"
    total: Expression | None = operands[0]
    for term in operands[1:]:
        total = total.plus(term) if total is not None else None
    return total
