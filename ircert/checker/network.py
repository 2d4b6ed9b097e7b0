"""A network in integers: linear forms of its nodes, carried from the input to the output (`spec/certificate.md`).

A node's forms are columns of integers over a power of two: entry i of the node is the sum over c of columns[c][i] times
variable c. Affine maps, sums, choices and neighbours are linear; what a relu does is given from outside.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import mul

import numpy as np

from ircert.checker.curves import WHOLE
from ircert.checker.limits import MOST_WEIGHTS, Effort, TooLong, require_few_weights, room
from ircert.errors import UnsupportedModel
from ircert.ir.arrays import nonzeros
from ircert.ir.build import Builder
from ircert.ir.dyadic import integers, shift
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import BY_KIND, Add, Affine, Concat, Relu, Select

Column = list[int]
MOST_BITS = 2**31
"""Of all matrices together."""


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


Neurons = Callable[[int, Forms, str | None], Forms]
"""What a relu or curve does, from the number of its first neuron, the forms it reads, and the word of the curve."""


class Network(Effort):
    """A graph lowered to core operations and curves, each by the identity that `spec/ir.md` proves for it."""

    def __init__(self, graph: Graph) -> None:
        self.graph = core = _lowered(graph)
        self.nodes = [node for node in core.nodes if node.operands]
        self._require_room()
        self.first: dict[str, int] = {}
        self.curved: set[int] = set()
        self.neurons = 0
        for node in self.nodes:
            if isinstance(node.op, Relu) or node.op.kind in WHOLE:
                self.first[node.name] = self.neurons
                self.neurons += core.sizes[node.name]
                if not node.op.core:
                    self.curved.update(range(self.first[node.name], self.neurons))
        last = max((k for k, node in enumerate(self.nodes) if node.name in self.first), default=-1)
        self.hidden = self.nodes[: last + 1]
        self.maps = {node.name: Map(node.op) for node in self.nodes if isinstance(node.op, Affine)}

    def _require_room(self) -> None:
        weights = bits = 0
        for op in (node.op for node in self.nodes):
            if isinstance(op, Affine):
                numbers = np.concatenate([nonzeros(op.weight).data, op.bias])
                weights += math.prod(op.weight.shape)
                bits += len(numbers) * (shift(numbers) + max(0, math.frexp(float(np.abs(numbers).max()))[1]))
        if weights > MOST_WEIGHTS or bits > MOST_BITS:
            raise TooLong(f"the matrices of its network have more than {MOST_WEIGHTS} entries, or {MOST_BITS} bits")

    def walk(self, nodes: list[Node], start: Forms, neurons: Neurons, unit: int) -> Forms:
        """The forms of the last of some nodes, in order; the first variable is 1 where `unit` is not 0, and stands for
        biases. What no later node reads is forgotten."""
        values, found, held = {self.graph.input: start}, start, room(start)
        left = Counter(name for node in nodes for name in node.operands)
        for node in nodes:
            given = [values[name] for name in node.operands]
            self.spend_on_forms(self.graph.sizes[node.name], given, unit, held, self.maps.get(node.name))
            if node.name in self.maps:
                found = self._affine(self.maps[node.name], given[0], unit)
            elif node.name in self.first:
                found = neurons(self.first[node.name], given[0], None if node.op.core else node.op.kind)
            else:
                found = _rearranged(node, given)
            values[node.name] = found
            left.subtract(node.operands)
            held += room(found) - sum(room(values.pop(name)) for name in set(node.operands) if not left[name])
        return found

    def _affine(self, given: Map, forms: Forms, unit: int) -> Forms:
        columns = [given.times(column) for column in forms.columns]
        if unit:
            columns[0] = [v + ((b * unit) << forms.exponent) for v, b in zip(columns[0], given.bias, strict=True)]
        return Forms(columns, forms.exponent + given.exponent)


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

    def times(self, x: Column) -> Column:
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


def _lowered(graph: Graph) -> Graph:
    """The same function by core operations and curves alone."""
    require_few_weights(graph)
    build = Builder(graph.input_dim)
    names = {graph.input: build.input}
    for node in graph.nodes:
        if node.operands:
            curve = BY_KIND.get(node.op.kind) is type(node.op) and node.op.kind in WHOLE
            if not node.op.piecewise_linear and not curve:
                raise UnsupportedModel(
                    f"`{node.op.kind}` at `{node.name}` is not piecewise linear, and no curve of C-26"
                )
            operands, kept = [names[name] for name in node.operands], node.op.core or curve
            names[node.name] = build.node(node.op, *operands) if kept else node.op.lower(build, *operands)
    return build.graph(names[graph.output])
