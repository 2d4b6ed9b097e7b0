"""Building graphs node by node, with names invented and sizes checked along the way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count

import numpy as np

from ircert.ir.arrays import Indices
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Add, Affine, Concat, Input, Op, Relu, Select
from ircert.ir.verify import derived_size, require_total

LONGEST = 180


class Builder:
    """Collects nodes; every method returns the name of the node it added.

    >>> build = Builder(2)
    >>> hidden = build.relu(build.affine(build.input, [[1.0, -1.0], [0.5, 2.0]], [0.0, 1.0]))
    >>> build.graph(build.affine(hidden, [[1.0, 1.0]]))
    <ircert.Graph 2 -> 1, 4 nodes, …>
    """

    def __init__(self, length: int, *, name: str = "x") -> None:
        self.nodes: dict[str, Node] = {}
        self._sizes: dict[str, int] = {}
        self._total = 0
        self._next: dict[str, int] = {}
        self.prefix = ""
        self.input = self.node(Input(length), name=name)

    def node(self, op: Op, *operands: str, name: str | None = None) -> str:
        """Add one node; `name` (by default `prefix` + kind) is kept if it is free and extended by a number if not."""
        node = Node(self._fresh(name or self.prefix + op.kind), op, operands)
        self._sizes[node.name] = derived_size(node, self._sizes)
        self._total += self._sizes[node.name]
        require_total(self._total)
        self.nodes[node.name] = node
        return node.name

    def size(self, name: str) -> int:
        """The size of a node that was added."""
        return self._sizes[name]

    def affine(self, x: str, weight: object, bias: object = None, *, name: str | None = None) -> str:
        """weight @ x + bias."""
        return self.node(Affine(weight, bias), x, name=name)

    def relu(self, x: str, *, name: str | None = None) -> str:
        """max(0, x)."""
        return self.node(Relu(), x, name=name)

    def add(self, *operands: str, name: str | None = None) -> str:
        """The sum; a single operand is returned as it is."""
        return operands[0] if len(operands) == 1 else self.node(Add(), *operands, name=name)

    def concat(self, *operands: str, name: str | None = None) -> str:
        """One after the other; a single operand is returned as it is."""
        return operands[0] if len(operands) == 1 else self.node(Concat(), *operands, name=name)

    def select(self, x: str, indices: Indices | Iterable[int], *, name: str | None = None) -> str:
        """The entries `indices` of x."""
        chosen = indices if isinstance(indices, np.ndarray) else np.asarray(list(indices))
        return self.node(Select(chosen), x, name=name)

    def insert(self, graph: Graph, x: str) -> str:
        """Add a copy of all nodes of `graph`, with `x` in the place of its input; the name of its output here."""
        here = {graph.input: x}
        for node in graph.nodes:
            if node.name != graph.input:
                here[node.name] = self.node(node.op, *(here[operand] for operand in node.operands), name=node.name)
        return here[graph.output]

    def graph(self, output: str) -> Graph:
        """The graph of everything that `output` needs."""
        return Graph(needed_nodes(self.nodes, output), output)

    def _fresh(self, name: str) -> str:
        if len(name) > LONGEST:
            name = name[: LONGEST // 2]  # room for what is appended to names
        if name not in self.nodes:
            return name
        for number in count(self._next.get(name, 1)):
            candidate = f"{name}_{number}"
            if candidate not in self.nodes:
                self._next[name] = number + 1
                return candidate
        raise AssertionError("unreachable: count() never ends")


def needed_nodes(nodes: Mapping[str, Node], output: str) -> list[Node]:
    """The nodes that `output` depends on, and the input, in their given order."""
    needed = {output}
    pending = [output]
    while pending:
        for operand in nodes[pending.pop()].operands:
            if operand not in needed:
                needed.add(operand)
                pending.append(operand)
    return [node for node in nodes.values() if node.name in needed or isinstance(node.op, Input)]
