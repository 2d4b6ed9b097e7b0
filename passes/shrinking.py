"""Shrinking a graph to the entries that matter: the machinery of eliminate-zeros and select-outputs.

Every old node becomes a `Compact`: entry i of the old value is entry where[i] of a smaller new node, or the number
constant[i] where where[i] is -1. Entries that nobody needs are the constant 0, which nobody reads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from ircert.ir.arrays import Array, Indices, Mask, Matrix, economical, nonzeros, take_columns, take_rows
from ircert.ir.build import Builder
from ircert.ir.dyadic import add, multiply
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Affine, Concat, Op, Relu, Select
from ircert.limits import checkpoint
from ircert.passes.liveness import live_entries


@dataclass(frozen=True)
class Compact:
    """An old value in terms of a new node (None if all of it is constant or unneeded)."""

    name: str | None
    where: Indices
    constant: Array

    def take(self, entries: Indices) -> Compact:
        """Some entries of it, without a new node."""
        return Compact(self.name, self.where[entries], self.constant[entries])


class Shrinker:
    """Rebuilds a graph from its live entries; with `merge`, constant and duplicate neurons go as well."""

    def __init__(self, graph: Graph, *, merge: bool) -> None:
        self.graph = graph
        self.merge = merge
        self.live = live_entries(graph, np.ones(graph.output_dim, dtype=np.bool_))
        self.build = Builder(graph.input_dim, name=graph.input)
        self.seen: dict[tuple[Op, tuple[str, ...]], str] = {}

    def run(self) -> Graph:
        """The smaller graph."""
        values = {self.graph.input: _whole(self.build.input, self.graph.input_dim)}
        for node in self.graph.nodes:
            if node.name == self.graph.input or not self.live[node.name].any():
                continue
            checkpoint()
            self.build.prefix = f"{node.name}."
            values[node.name] = self._shrunk(node, [values.get(name) or self._nothing(name) for name in node.operands])
        self.build.prefix = ""
        return self.build.graph(self._read(values[self.graph.output], np.arange(self.graph.output_dim)))

    def _shrunk(self, node: Node, operands: list[Compact]) -> Compact:
        live = np.flatnonzero(self.live[node.name])
        if isinstance(node.op, Affine):
            return self._affine(node, node.op, operands[0], live)
        if isinstance(node.op, Select):
            return operands[0].take(node.op.indices)
        if isinstance(node.op, Concat):
            return self._concat(node, operands)
        if isinstance(node.op, Relu):
            return self._relu(node, operands[0], live)
        if node.op.elementwise:
            new = self._node(node.op.take(live), *(self._read(x, live) for x in operands), name=node.name)
            return _spread(new, live, self.graph.sizes[node.name])
        new = self._node(node.op, *(self._read(x, np.arange(len(x.where))) for x in operands), name=node.name)
        return _whole(new, self.graph.sizes[node.name])

    # --- one method per operation ----------------------------------------------------------------------------------

    def _affine(self, node: Node, op: Affine, x: Compact, live: Indices) -> Compact:
        operand, weight, bias = self._folded(x, take_rows(op.weight, live), op.bias[live])
        if not (self.merge and self._only_read_by_neurons(node)):
            new = self._node(Affine(economical(weight), bias), operand or self.build.input, name=node.name)
            return _spread(new, live, len(op.bias))
        groups, representatives, empty = _equal_rows(weight, bias)
        where = np.full(len(op.bias), -1)
        constant = np.zeros(len(op.bias))
        where[live] = groups
        constant[live[empty]] = bias[empty]
        if not len(representatives):
            return Compact(None, where, constant)
        kept = Affine(economical(take_rows(weight, representatives)), bias[representatives])
        return Compact(self._node(kept, operand or self.build.input, name=node.name), where, constant)

    def _folded(self, x: Compact, weight: Matrix, bias: Array) -> tuple[str | None, Matrix, Array]:
        """(operand, weight, bias) in terms of the new node: constants go into the bias and duplicate columns are
        added up where that is exact; what would round is read as it was."""
        used = np.flatnonzero(np.asarray((weight != 0).sum(axis=0)).ravel())
        moving = used[x.where[used] >= 0]
        bias, kept = _absorbed(weight, bias, [(j, x.constant[j]) for j in used[x.where[used] < 0]])
        if not kept:
            merged = None if x.name is None else self._merged_columns(x, weight, moving)
            if merged is not None:
                return x.name, merged, bias
            if not len(moving):
                return None, csr_array((len(bias), self.graph.input_dim)), bias
        columns = np.sort(np.concatenate([moving, np.array(kept, dtype=np.int64)]))
        return self._read(x, columns), take_columns(weight, columns), bias

    def _merged_columns(self, x: Compact, weight: Matrix, moving: Indices) -> Matrix | None:
        assert x.name is not None
        size = self.build.size(x.name)
        if len(moving) == size and np.array_equal(x.where[moving], np.arange(size)):
            return take_columns(weight, moving)
        place = csr_array((np.ones(len(moving)), (moving, x.where[moving])), shape=(len(x.where), size))
        return multiply(weight, place)

    def _relu(self, node: Node, x: Compact, live: Indices) -> Compact:
        constant = np.maximum(x.constant, 0.0)
        where = np.full(len(x.where), -1)
        where[live] = x.where[live]
        used, compressed = np.unique(where[where >= 0], return_inverse=True)
        if x.name is None or not len(used):
            return Compact(None, where, constant)
        operand = x.name if len(used) == self.build.size(x.name) else self._node(Select(used), x.name)
        where[where >= 0] = compressed
        return Compact(self._node(Relu(), operand, name=node.name), where, constant)

    def _concat(self, node: Node, operands: list[Compact]) -> Compact:
        """New operands one after the other; their entries keep their places within them."""
        names = [part.name for part in operands if part.name is not None]
        wheres, offset = [], 0
        for part in operands:
            wheres.append(np.where(part.where >= 0, part.where + offset, -1))
            offset += self.build.size(part.name) if part.name is not None else 0
        new = None if not names else names[0] if len(names) == 1 else self._node(Concat(), *names, name=node.name)
        return Compact(new, np.concatenate(wheres), np.concatenate([part.constant for part in operands]))

    # --- help ------------------------------------------------------------------------------------------------------

    def _read(self, value: Compact, entries: Indices) -> str:
        """A node of the new graph that holds these entries of an old value."""
        part = value.take(entries)
        fixed = part.where < 0
        if part.name is None or fixed.all():
            return self._constant(part.constant)
        if fixed.any():
            both = self._node(Concat(), part.name, self._constant(part.constant[fixed]))
            places = part.where.copy()
            places[fixed] = self.build.size(part.name) + np.arange(fixed.sum())
            return self._node(Select(places), both)
        if np.array_equal(part.where, np.arange(self.build.size(part.name))):
            return part.name
        return self._node(Select(part.where), part.name)

    def _nothing(self, name: str) -> Compact:
        """An old value of which no entry is live."""
        return Compact(None, np.full(self.graph.sizes[name], -1), np.zeros(self.graph.sizes[name]))

    def _constant(self, values: Array) -> str:
        return self._node(Affine(csr_array((len(values), self.graph.input_dim)), values), self.build.input)

    def _node(self, op: Op, *operands: str, name: str | None = None) -> str:
        """Add a node, or find the one that says the same (when merging)."""
        key = (op, operands)
        if not self.merge or key not in self.seen:
            self.seen[key] = self.build.node(op, *operands, name=name)
        return self.seen[key]

    def _only_read_by_neurons(self, node: Node) -> bool:
        """Whether pulling out rows pays: it saves relus, and any other reader would only have to put them back."""
        readers = [self.graph[reader] for reader in self.graph.consumers[node.name]]
        return node.name != self.graph.output and all(isinstance(reader.op, Relu) for reader in readers)


def _whole(name: str, size: int) -> Compact:
    return Compact(name, np.arange(size), np.zeros(size))


def _spread(name: str, entries: Indices, size: int) -> Compact:
    where = np.full(size, -1)
    where[entries] = np.arange(len(entries))
    return Compact(name, where, np.zeros(size))


def _absorbed(
    weight: Matrix, bias: Array, constants: list[tuple[np.int64, np.float64]]
) -> tuple[Array, list[np.int64]]:
    """The bias with weight[:, j] * c added for each (j, c), and the j for which that might round."""
    kept = []
    for j, value in constants:
        column = weight[:, [j]] if isinstance(weight, np.ndarray) else weight[:, [j]].toarray()
        term = multiply(column, np.array([[value]]))
        total = None if term is None else add(bias, np.asarray(term).ravel())
        if total is None:
            kept.append(j)
        else:
            bias = total
    return bias, kept


def _equal_rows(weight: Matrix, bias: Array) -> tuple[Indices, Indices, Mask]:
    """(group of each row, first row of each group, rows without weights); a row without weights has group -1."""
    sparse = nonzeros(weight)
    empty = np.diff(sparse.indptr) == 0
    groups = np.full(len(bias), -1)
    first: dict[bytes, int] = {}
    representatives = []
    for i in np.flatnonzero(~empty):
        row = slice(sparse.indptr[i], sparse.indptr[i + 1])
        key = b"|".join([sparse.indices[row].tobytes(), sparse.data[row].tobytes(), bias[i].tobytes()])
        if key not in first:
            first[key] = len(first)
            representatives.append(i)
        groups[i] = first[key]
    return groups, np.array(representatives, dtype=np.int64), empty
