"""fix-inputs: bind some inputs to numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ircert.errors import PassError
from ircert.ir.arrays import identity, take_columns
from ircert.ir.build import Builder
from ircert.ir.dyadic import compose
from ircert.ir.floats import NotAFloat, exact_float, shown
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Affine
from ircert.passes.base import GraphPass, Lift, Rewrite, embed


@dataclass(frozen=True)
class FixInputs(GraphPass):
    """new(x) = old(E x + p): the remaining inputs in their order, the fixed ones at their numbers.

    An affine map that reads the input takes E and p in: W (E x + p) + b = (W E) x + (W p + b). Where W p + b would
    round, the embedding x -> E x + p stays as a node of its own.
    """

    name = "fix-inputs"
    values: dict[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", {_index(i): _number(i, v) for i, v in sorted(self.values.items(), key=str)})

    def run(self, source: Graph) -> Rewrite[Graph]:
        """Put the embedding in front, then take it into the affine maps that read it."""
        if not self.values:
            return Rewrite(source)
        self._check(source.input_dim)
        free = np.array([i for i in range(source.input_dim) if i not in self.values])
        shift = np.zeros(source.input_dim)
        shift[list(self.values)] = list(self.values.values())
        embedding = Affine(take_columns(identity(source.input_dim), free), shift)
        build = Builder(len(free), name=source.input)
        graph, notes = _Embedded(source, embedding, build).run()
        return Rewrite(graph, Lift(point=embed(free, self.values, source.input_dim)), tuple(notes))

    def _check(self, inputs: int) -> None:
        wrong = [i for i in self.values if not 0 <= i < inputs]
        if wrong:
            raise PassError(
                f"there is no input {wrong[0]}", pass_name=self.name, remedy=f"this graph has inputs 0 to {inputs - 1}"
            )
        if len(self.values) == inputs:
            raise PassError(
                "all inputs are fixed: nothing would be left to ask about", pass_name=self.name, remedy="leave one free"
            )


class _Embedded:
    """The graph read through the embedding, which becomes a node only if somebody needs it."""

    def __init__(self, source: Graph, embedding: Affine, build: Builder) -> None:
        self.source = source
        self.embedding = embedding
        self.build = build
        self.notes: list[str] = []
        self.here: dict[str, str] = {}

    def run(self) -> tuple[Graph, list[str]]:
        for node in self.source.nodes:
            if node.name != self.source.input:
                self.here[node.name] = self._node(node)
        return self.build.graph(self._operand(self.source.output)), self.notes

    def _node(self, node: Node) -> str:
        if isinstance(node.op, Affine) and node.operands == (self.source.input,):
            fused = compose(node.op.weight, node.op.bias, self.embedding.weight, self.embedding.bias)
            if fused is not None:
                return self.build.affine(self.build.input, *fused, name=node.name)
            self.notes.append(f"kept the embedding apart from `{node.name}`: its bias would round")
        return self.build.node(node.op, *(self._operand(name) for name in node.operands), name=node.name)

    def _operand(self, name: str) -> str:
        if name not in self.here:  # only the input is not there yet
            self.here[name] = self.build.node(self.embedding, self.build.input, name=f"{self.source.input}.fixed")
        return self.here[name]


def _index(given: Any) -> int:
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        return int(given)
    raise PassError(f"inputs are numbered 0, 1, …, got {given!r}", pass_name=FixInputs.name)


def _number(index: Any, given: Any) -> float:
    """A float without rounding: a graph stores floats, so a number that is none cannot be meant exactly."""
    try:
        number = exact_float(given)
    except NotAFloat as error:
        raise PassError(
            f"input {index} cannot be fixed to {shown(given)}: {error}",
            pass_name=FixInputs.name,
            remedy=error.remedy or "give a finite float64 number",
        ) from None
    if math.isfinite(number):
        return number
    raise PassError(
        f"input {index} cannot be fixed to {shown(given)}",
        pass_name=FixInputs.name,
        remedy="give a finite float64 number",
    )
