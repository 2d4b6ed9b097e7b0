"""The linear part of a canonical graph on a region: derivatives along many inputs at once, in any arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from ircert.ir.arrays import Array, Indices, Mask, Matrix
from ircert.ir.graph import Graph, Node
from ircert.ir.interpret import Forward
from ircert.ir.ops import Affine, Relu
from ircert.limits import checkpoint

M = TypeVar("M")


class Arithmetic(Protocol[M]):
    """Matrices with a row for each neuron: residues modulo a prime, integers over powers of two, or floats."""

    def of_floats(self, values: Array) -> M:
        """A matrix of floats."""

    def times(self, weight: Matrix, matrix: M) -> M:
        """weight @ matrix."""

    def masked(self, matrix: M, on: Mask) -> M:
        """The rows that are on, and zeros."""

    def rows(self, matrix: M, indices: Indices) -> M:
        """Some rows."""

    def spread(self, matrix: M, indices: Indices, size: int) -> M:
        """Zeros, with the rows of the matrix at these places."""

    def signed(self, matrix: M, plus: Mask) -> M:
        """The rows, with a minus where there is no plus."""

    def stack(self, matrices: list[M]) -> M:
        """One below the other."""

    def total(self, matrices: list[M]) -> M:
        """Their sum."""


@dataclass
class Derivatives(Generic[M]):
    """of: nodes that were asked for, in order; before: the operand of each relu, its watched neurons only."""

    of: dict[str, M] = field(default_factory=dict)
    before: dict[str, M] = field(default_factory=dict)


def derivatives(
    graph: Graph,
    columns: Indices,
    on: Mapping[str, Mask],
    arithmetic: Arithmetic[M],
    wanted: Iterable[str],
    watched: Mapping[str, Indices] | None = None,
) -> Derivatives[M]:
    """The derivatives of some nodes along some inputs, where each relu lets through the neurons that are on.

    watched: for relus, the neurons whose derivatives before the relu are wanted too
    """
    return _Forward(graph, columns, on, arithmetic, set(wanted), watched or {}).run()


@dataclass
class _Forward(Forward[M]):
    """One walk through the graph."""

    graph: Graph
    columns: Indices
    on: Mapping[str, Mask]
    arithmetic: Arithmetic[M]
    wanted: set[str]
    watched: Mapping[str, Indices]
    values: dict[str, Any] = field(default_factory=dict)

    def run(self) -> Derivatives[M]:
        """Node by node, until all that is wanted is known; values are dropped after their last reader."""
        found: Derivatives[M] = Derivatives()
        readers = {name: len(names) for name, names in self.graph.consumers.items()}
        for node in self.graph.nodes:
            if self.wanted <= found.of.keys():
                break
            checkpoint()
            if node.name != self.graph.input:
                operands: list[Any] = [self.values.get(name) for name in node.operands]
                self.values[node.name] = self.step(node, operands)
            elif node.name in self.wanted or not all(isinstance(n.op, Affine) for n in self._readers(node)):
                self.values[node.name] = self.arithmetic.of_floats(self._unit())
            if len(self.watched.get(node.name, ())):
                found.before[node.name] = self.arithmetic.rows(self.values[node.operands[0]], self.watched[node.name])
            if node.name in self.wanted:
                found.of[node.name] = self.values[node.name]
            for name in set(node.operands):
                readers[name] -= 1
                if readers[name] == 0:
                    self.values.pop(name, None)
        return found

    def _readers(self, node: Node) -> list[Node]:
        return [self.graph[name] for name in self.graph.consumers[node.name]]

    def _unit(self) -> Array:
        unit = np.zeros((self.graph.input_dim, len(self.columns)))
        unit[self.columns, np.arange(len(self.columns))] = 1.0
        return unit

    def relu(self, name: str, x: M) -> M:
        return self.arithmetic.masked(x, self.on[name])

    def select(self, name: str, indices: Indices, x: M) -> M:
        return self.arithmetic.rows(x, indices)

    def concat(self, name: str, parts: list[M]) -> M:
        return self.arithmetic.stack(parts)

    def add(self, name: str, parts: list[M]) -> M:
        return self.arithmetic.total(parts)

    def affine(self, name: str, op: Affine, x: M | None) -> M:
        """weight @ operand, without the rows that the relu behind it drops."""
        node, weight = self.graph[name], op.weight
        needed = self._needed(node)
        some = weight if needed is None else weight[needed]
        if x is None or node.operands == (self.graph.input,):
            product = self.arithmetic.of_floats(dense(some[:, self.columns]))
        else:
            product = self.arithmetic.times(some, x)
        return product if needed is None else self.arithmetic.spread(product, needed, weight.shape[0])

    def _needed(self, node: Node) -> Indices | None:
        """The rows that are needed; None for all."""
        readers = self._readers(node)
        if node.name in self.wanted or len(readers) != 1 or not isinstance(readers[0].op, Relu):
            return None
        kept = self.on[readers[0].name].copy()
        kept[self.watched.get(readers[0].name, [])] = True
        return np.flatnonzero(kept)


def dense(weight: Matrix) -> Array:
    """A matrix without its zeros left out."""
    return weight if isinstance(weight, np.ndarray) else np.asarray(weight.toarray())


def entries(weight: Matrix) -> int:
    """Rows times columns."""
    return int(weight.shape[0]) * int(weight.shape[1])


def work(graph: Graph, columns: int) -> int:
    """The products that derivatives along so many inputs take."""
    weights = (node.op.weight for node in graph.nodes if isinstance(node.op, Affine))
    return columns * sum(w.size if isinstance(w, np.ndarray) else int(w.nnz) for w in weights)
