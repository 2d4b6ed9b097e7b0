"""One interpreter of the core operations: values of any sort from the input to the outputs, or coefficients back.

A subclass says what an operation does to its sort of values; `steps` has an entry for each operation, and a subclass
that knows more operations than the core ones adds theirs. What is not handled is refused in one place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from ircert.errors import UnsupportedModel
from ircert.ir.arrays import Indices
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Add, Affine, Concat, Curve, Op, Relu, Select
from ircert.limits import checkpoint

V = TypeVar("V")
Step = Callable[[str, Any], Any]
"""What an operation does, from the name of its node and the value of its operand."""


def _refused(node: Node) -> UnsupportedModel:
    if isinstance(node.op, Curve):
        return UnsupportedModel(
            f"{node.op.kind} at `{node.name}` is smooth: there are no linear regions",
            remedy="`certify`, `fold_set` and `preimages` take it as it is; else `select` outputs that do not need it",
        )
    return UnsupportedModel(
        f"{node.op.kind} at `{node.name}` is no core operation", remedy="run the pass `canonicalize`"
    )


def _without(walk: object, what: str) -> UnsupportedModel:
    return UnsupportedModel(f"{type(walk).__name__} has no step for {what}", remedy="walk a graph without it")


class Forward(Generic[V]):
    """The values of nodes from those of their operands; by default arrays with an entry for each neuron."""

    steps: ClassVar[Mapping[type[Op], Callable[[Any, Any, list[Any]], Any]]] = {
        Affine: lambda self, node, given: self.affine(node.name, node.op, given[0]),
        Relu: lambda self, node, given: self.relu(node.name, given[0]),
        Select: lambda self, node, given: self.select(node.name, node.op.indices, given[0]),
        Concat: lambda self, node, given: self.concat(node.name, given),
        Add: lambda self, node, given: self.add(node.name, given),
    }

    def affine(self, name: str, op: Affine, x: V) -> V:
        """weight @ x + bias; refused by walks that have no such step."""
        raise _without(self, f"the affine map `{name}`")

    def relu(self, name: str, x: V) -> V:
        """max(0, x); refused by walks that have no such step."""
        raise _without(self, f"the relu `{name}`")

    def curve(self, node: Node, x: V) -> V:
        """A smooth function of each entry; refused by those that know relus alone."""
        raise _refused(node)

    def select(self, name: str, indices: Indices, x: V) -> V:
        """Some entries."""
        values: Any = x
        found: V = values[indices]
        return found

    def concat(self, name: str, parts: list[V]) -> V:
        """The operands, one after the other."""
        values: Any = parts
        whole: Any = np.concatenate(values)
        found: V = whole
        return found

    def add(self, name: str, parts: list[V]) -> V:
        """Their sum, in order."""
        values: list[Any] = [*parts]
        total: V = sum(values[1:], values[0])
        return total

    def step(self, node: Node, given: list[V]) -> V:
        """The value of a node from those of its operands."""
        act = self.steps.get(type(node.op))
        if act is None and isinstance(node.op, Curve):
            return self.curve(node, given[0])
        if act is None:
            raise _refused(node)
        found: V = act(self, node, given)
        return found

    def walk(self, graph: Graph, start: V) -> dict[str, V]:
        """The values of all nodes from that of the input."""
        values = {graph.input: start}
        for node in graph.nodes:
            if node.operands:
                checkpoint()
                values[node.name] = self.step(node, [values[name] for name in node.operands])
        return values

    def walk_to_output(self, graph: Graph, start: V) -> V:
        """The value of the output from that of the input; others are let go once all that read them are done."""
        values = {graph.input: start}
        readers = Counter(name for node in graph.nodes for name in node.operands)
        readers[graph.output] += 1
        for node in graph.nodes:
            if node.operands:
                checkpoint()
                values[node.name] = self.step(node, [values[name] for name in node.operands])
                readers.subtract(node.operands)
                for name in {*node.operands}:
                    if not readers[name]:
                        del values[name]
        return values[graph.output]


class Given(Forward[V]):
    """Steps that are given as functions; the others treat arrays as usual.

    With `curves` the step of relus is that of curves too: it goes by the name of the node.
    """

    def __init__(
        self, affine: Step, relu: Step, add: Callable[[list[V]], V] | None = None, *, curves: bool = False
    ) -> None:
        self._affine, self._relu, self._add, self._curves = affine, relu, add, curves

    def affine(self, name: str, op: Affine, x: V) -> V:
        found: V = self._affine(name, x)
        return found

    def relu(self, name: str, x: V) -> V:
        found: V = self._relu(name, x)
        return found

    def curve(self, node: Node, x: V) -> V:
        return self.relu(node.name, x) if self._curves else super().curve(node, x)

    def add(self, name: str, parts: list[V]) -> V:
        return super().add(name, parts) if self._add is None else self._add(parts)


class Backward(Generic[V]):
    """Linear forms of nodes in terms of their operands; by default arrays with a row for each entry of the node."""

    steps: ClassVar[Mapping[type[Op], Callable[[Any, Graph, Any, Any], Iterable[Any]]]] = {
        Affine: lambda self, graph, node, given: [self.affine(node, node.op, given)],
        Relu: lambda self, graph, node, given: [self.relu(node, given)],
        Select: lambda self, graph, node, given: [
            self.select(node, node.op.indices, graph.sizes[node.operands[0]], given)
        ],
        Concat: lambda self, graph, node, given: [
            self.part(given, place) for place in Concat.slices([graph.sizes[name] for name in node.operands])
        ],
        Add: lambda self, graph, node, given: [given] * len(node.operands),
    }

    def affine(self, node: Node, op: Affine, given: V) -> V:
        """given @ weight; refused by walks that have no such step."""
        raise _without(self, f"the affine map `{node.name}`")

    def relu(self, node: Node, given: V) -> V:
        """The forms with the slopes of the neurons; refused by walks that have no such step."""
        raise _without(self, f"the relu `{node.name}`")

    def curve(self, node: Node, given: V) -> V:
        """The forms with the slopes of a smooth function; refused by those that know relus alone."""
        raise _refused(node)

    def select(self, node: Node, indices: Indices, size: int, given: V) -> V:
        """The forms at the places that were selected, of so many."""
        rows: Any = given
        wide: Any = np.zeros((size, *rows.shape[1:]))
        np.add.at(wide, indices, rows)
        found: V = wide
        return found

    def part(self, given: V, place: slice) -> V:
        """Those of some neighbouring entries."""
        rows: Any = given
        found: V = rows[place]
        return found

    def join(self, name: str, known: V, more: V) -> V:
        """The sum of what two readers of a node gave."""
        rows: Any = known
        found: V = rows + more
        return found

    def step(self, graph: Graph, node: Node, given: V) -> Iterable[V]:
        """The forms that a node gives to each of its operands."""
        act = self.steps.get(type(node.op))
        if act is None and isinstance(node.op, Curve):
            return [self.curve(node, given)]
        if act is None:
            raise _refused(node)
        return act(self, graph, node, given)

    def walk(self, graph: Graph, start: V, at: str | None = None) -> V | None:
        """The forms of the input that those of a node (else the output) amount to; None if they do not read it."""
        waiting = {graph.output if at is None else at: start}
        for node in reversed(graph.nodes):
            if node.operands and node.name in waiting:
                checkpoint()
                parts = self.step(graph, node, waiting.pop(node.name))
                for name, part in zip(node.operands, parts, strict=True):
                    waiting[name] = self.join(name, waiting[name], part) if name in waiting else part
        return waiting.get(graph.input)


class GivenBack(Backward[V]):
    """Steps that are given as functions; the others treat arrays as usual."""

    def __init__(self, affine: Step, relu: Step, *, curves: bool = False) -> None:
        self._affine, self._relu, self._curves = affine, relu, curves

    def affine(self, node: Node, op: Affine, given: V) -> V:
        found: V = self._affine(node.name, given)
        return found

    def relu(self, node: Node, given: V) -> V:
        found: V = self._relu(node.name, given)
        return found

    def curve(self, node: Node, given: V) -> V:
        return self.relu(node, given) if self._curves else super().curve(node, given)
