"""The linear part of a canonical graph on a region: derivatives along many inputs at once, in any arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import numpy as np

from ircert.errors import UnsupportedModel
from ircert.ir.arrays import Array, Indices, Mask, Matrix
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Add, Affine, Concat, Relu, Select
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

    def stack(self, matrices: list[M]) -> M:
        """One below the other."""

    def total(self, matrices: list[M]) -> M:
        """Their sum."""


class Floats:
    """The arithmetic of floats, which proves nothing."""

    def of_floats(self, values: Array) -> Array:
        """The same."""
        return values

    def times(self, weight: Matrix, matrix: Array) -> Array:
        """weight @ matrix."""
        return np.asarray(weight @ matrix)

    def masked(self, matrix: Array, on: Mask) -> Array:
        """The rows that are on, and zeros."""
        return matrix * on[:, None]

    def rows(self, matrix: Array, indices: Indices) -> Array:
        """Some rows."""
        return matrix[indices]

    def stack(self, matrices: list[Array]) -> Array:
        """One below the other."""
        return np.concatenate(matrices)

    def total(self, matrices: list[Array]) -> Array:
        """Their sum."""
        return np.sum(matrices, axis=0)


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
    wanted = set(wanted)
    found: Derivatives[M] = Derivatives()
    values: dict[str, M] = {}
    readers = {name: len(names) for name, names in graph.consumers.items()}
    for node in graph.nodes:
        if wanted <= found.of.keys():
            break
        checkpoint()
        if node.operands == (graph.input,) and isinstance(node.op, Affine):
            values[node.name] = arithmetic.of_floats(dense(node.op.weight[:, columns]))
        elif node.name != graph.input:
            values[node.name] = _value(node, [values[name] for name in node.operands], on, arithmetic)
        elif node.name in wanted or not all(isinstance(graph[name].op, Affine) for name in graph.consumers[node.name]):
            values[node.name] = arithmetic.of_floats(_unit(graph.input_dim, columns))
        if watched is not None and len(watched.get(node.name, ())):
            found.before[node.name] = arithmetic.rows(values[node.operands[0]], watched[node.name])
        if node.name in wanted:
            found.of[node.name] = values[node.name]
        for name in set(node.operands):
            readers[name] -= 1
            if readers[name] == 0:
                values.pop(name, None)
    return found


def _unit(size: int, columns: Indices) -> Array:
    unit = np.zeros((size, len(columns)))
    unit[columns, np.arange(len(columns))] = 1.0
    return unit


def _value(node: Node, operands: list[M], on: Mapping[str, Mask], arithmetic: Arithmetic[M]) -> M:
    if isinstance(node.op, Affine):
        return arithmetic.times(node.op.weight, operands[0])
    if isinstance(node.op, Relu):
        return arithmetic.masked(operands[0], on[node.name])
    if isinstance(node.op, Select):
        return arithmetic.rows(operands[0], node.op.indices)
    if isinstance(node.op, Concat):
        return arithmetic.stack(operands)
    if isinstance(node.op, Add):
        return arithmetic.total(operands)
    raise UnsupportedModel(f"{node.op.kind} has no linear regions here", remedy="run the pass `canonicalize` before")


def dense(weight: Matrix) -> Array:
    """A matrix without its zeros left out."""
    return weight if isinstance(weight, np.ndarray) else np.asarray(weight.toarray())


def work(graph: Graph, columns: int) -> int:
    """The products that derivatives along so many inputs take."""
    return columns * sum(stored(node.op.weight) for node in graph.nodes if isinstance(node.op, Affine))


def stored(weight: Matrix) -> int:
    """The numbers that a matrix is stored with."""
    return int(weight.size if isinstance(weight, np.ndarray) else weight.nnz)


def entries(weight: Matrix) -> int:
    """Rows times columns."""
    return int(weight.shape[0]) * int(weight.shape[1])
