"""A network in integers: linear forms of its nodes, carried from the input to the output (`spec/certificate.md`).

A node's forms are columns of integers over a power of two: entry i of the node is the sum over c of columns[c][i] times
variable c. Affine maps, sums, choices and neighbours are linear; what a relu or a curve does is given from outside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import mul
from typing import TypeAlias

import numpy as np

from ircert.checker.limits import MOST_EFFORT, Effort, require_few_weights, require_short_weights, room
from ircert.errors import UnsupportedModel
from ircert.ir.build import Builder
from ircert.ir.dyadic import integers
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Add, Affine, Concat, Op, Relu, Select

Column: TypeAlias = list[int]
Slopes: TypeAlias = tuple[int, int, int]
"""Integers p <= P and k: the slopes of a neuron lie between p / 2**k and P / 2**k."""
RELU: Slopes = (0, 1, 0)


@dataclass(frozen=True)
class Forms:
    """Linear forms over 2**exponent, of entries that have one number in each column."""

    columns: list[Column]
    exponent: int

    @cached_property
    def bits(self) -> int:
        """Of the longest number."""
        return max(max(map(int.bit_length, column)) for column in self.columns)

    def over(self, exponent: int, columns: int) -> list[Column]:
        """The same over a larger power of two, with columns of zeros added."""
        size, more = len(self.columns[0]), exponent - self.exponent
        found = [[v << more for v in column] for column in self.columns] if more else self.columns
        return found + [[0] * size for _ in range(columns - len(found))]


class Curves:
    """What is known of functions of one number that are no relu: nothing; `checker.curved` knows those of C-26."""

    def lowered(self, node: Node) -> Callable[..., str]:
        """What adds an operation to a builder, after its operands, by curves and core operations."""
        raise UnsupportedModel(f"`{node.op.kind}` at `{node.name}` is not piecewise linear, and no curve of C-26")

    def whole(self, op: Op) -> Slopes:
        """The slopes of a curve on the whole line."""
        raise UnsupportedModel(f"the slopes of `{op.kind}` have no bounds on the whole space")

    def enclosed(self, op: Op, forms: Forms, unit: int, size: int, effort: Effort) -> tuple[Forms, list[Slopes]]:
        """Forms of a curve, with as many new variables after the first `size` as it has entries; and slopes."""
        raise UnsupportedModel(f"`{op.kind}` is no curve")


Neurons: TypeAlias = Callable[[int, Forms, Op], Forms]
"""What a relu or curve does, from the number of its first neuron, and the forms it reads."""


class Network(Effort):
    """A graph lowered to core operations and curves, each by the identity that `spec/ir.md` proves for it."""

    def __init__(
        self, graph: Graph, curves: Curves, stop: Callable[[], bool] = bool, length: int = MOST_EFFORT
    ) -> None:
        super().__init__(stop, length)
        require_few_weights(graph)
        self.graph, self.curves = _lowered(graph, curves), curves
        self.nodes = [node for node in self.graph.nodes if node.operands]
        self.hidden = self.nodes[:0]
        require_short_weights(node.op for node in self.nodes)
        self.ops: list[Op] = []
        """The operation of each neuron."""
        self.first: dict[str, int] = {}
        for k, node in enumerate(self.nodes, 1):
            if isinstance(node.op, Relu) or not node.op.core:
                self.first[node.name], self.hidden = len(self.ops), self.nodes[:k]
                self.ops += [node.op] * self.graph.sizes[node.name]
        self.neurons = len(self.ops)
        self.relus = {i for i, op in enumerate(self.ops) if op.core}
        self.maps = {node.name: Map(node.op) for node in self.nodes if isinstance(node.op, Affine)}

    def anywhere(self, neuron: int) -> Slopes:
        """The slopes of a neuron on the whole space."""
        return RELU if neuron in self.relus else self.curves.whole(self.ops[neuron])

    def walk(self, nodes: list[Node], start: Forms, neurons: Neurons, unit: int) -> Forms:
        """The forms of the last of some nodes, in order; the first variable is 1 where `unit` is not 0, and stands for
        biases. What no later node reads is forgotten."""
        values, found, held = {self.graph.input: start}, start, room(start)
        left = Counter(name for node in nodes for name in node.operands)
        for node in nodes:
            given = [values[name] for name in node.operands]
            self.spend_on_forms(self.graph.sizes[node.name], given, unit, held, self.maps.get(node.name))
            if node.name in self.maps:
                found = self.maps[node.name].of(given[0], unit)
            elif node.name in self.first:
                found = neurons(self.first[node.name], given[0], node.op)
            else:
                found = _rearranged(node, given)
            values[node.name] = found
            left.subtract(node.operands)
            held += room(found) - sum(room(values.pop(name)) for name in set(node.operands) if not left[name])
        return found


class Map:
    """weight @ x + bias in integers over 2**exponent."""

    def __init__(self, op: Affine) -> None:
        weight = op.weight if isinstance(op.weight, np.ndarray) else op.weight.toarray()
        flat, self.exponent = integers(np.concatenate([weight.ravel(), op.bias]))
        width = weight.shape[1]
        self.bits = max(map(int.bit_length, flat))
        self.bias = flat[weight.size :]
        self.rows = [flat[k : k + width] for k in range(0, weight.size, width)]
        self.columns = [list(column) for column in zip(*self.rows, strict=True)]

    def of(self, forms: Forms, unit: int) -> Forms:
        """The forms of what it computes; biases are times `unit`."""
        columns = [self._times(column) for column in forms.columns]
        if unit:
            columns[0] = [v + ((b * unit) << forms.exponent) for v, b in zip(columns[0], self.bias, strict=True)]
        return Forms(columns, forms.exponent + self.exponent)

    def _times(self, x: Column) -> Column:
        """weight @ x; where x is mostly 0, column by column."""
        filled = [(j, v) for j, v in enumerate(x) if v]
        if 4 * len(filled) > len(x):
            return [sum(map(mul, row, x)) for row in self.rows]
        found = [0] * len(self.rows)
        for j, v in filled:
            found = [a + v * w for a, w in zip(found, self.columns[j], strict=True)]
        return found


def _rearranged(node: Node, given: list[Forms]) -> Forms:
    """Choices, neighbours and sums."""
    if isinstance(node.op, Select):
        chosen = node.op.indices.tolist()
        return Forms([[column[i] for i in chosen] for column in given[0].columns], given[0].exponent)
    exponent, count = max(f.exponent for f in given), max(len(f.columns) for f in given)
    parts = zip(*(forms.over(exponent, count) for forms in given), strict=True)
    if isinstance(node.op, Concat):
        return Forms([list(chain(*columns)) for columns in parts], exponent)
    assert isinstance(node.op, Add)
    return Forms([list(map(sum, zip(*columns, strict=True))) for columns in parts], exponent)


def _lowered(graph: Graph, curves: Curves) -> Graph:
    """The same function by core operations and curves alone."""
    build = Builder(graph.input_dim)
    names = {graph.input: build.input}
    for node in graph.nodes:
        operands = [names[name] for name in node.operands]
        if not node.op.core:
            lower = node.op.lower if node.op.piecewise_linear else curves.lowered(node)
            names[node.name] = lower(build, *operands)
        elif operands:
            names[node.name] = build.node(node.op, *operands)
    return build.graph(names[graph.output])
