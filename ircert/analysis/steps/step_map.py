"""The step x + h g(x) as a graph, for any h and without rounding; g is given itself, or by its step of one length.

If f(x) = x + s g(x) is given, x + h g(x) = x + (h/s) (f(x) - x). Where f is written as x + r(x), f(x) - x is r(x);
else it stays a sum. The quotient h/s is a float that is taken as it is: `length` says which h it means.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array, eye_array

from ircert.errors import QueryError
from ircert.exact.rounding import rounded_up
from ircert.ir.build import Builder
from ircert.ir.graph import Graph
from ircert.ir.ops import Add

LARGE = 64
"""Multiples of the identity with more rows are stored sparse."""


@dataclass(frozen=True, eq=False)
class StepMap:
    """given: g, or its step f; step: the length s of the step f, None where g is given."""

    given: Graph
    step: float | None = None

    def __post_init__(self) -> None:
        n, m = self.given.input_dim, self.given.output_dim
        if n != m:
            raise QueryError(
                f"a step needs as many outputs as inputs, and the network has {n} inputs and {m} outputs",
                remedy="`fix` the inputs that are parameters, `select` the outputs that are states",
            )

    @cached_property
    def moved(self) -> Graph:
        """g, or f - x = s g."""
        graph = self.given
        if self.step is None:
            return graph
        build = Builder(graph.input_dim, name=graph.input)
        last = graph[graph.output]
        if type(last.op) is Add and last.operands.count(graph.input) == 1 and len(last.operands) > 1:
            here = {graph.input: build.input}
            for node in graph.nodes:
                if node.operands and node.name != graph.output:
                    here[node.name] = build.node(node.op, *(here[name] for name in node.operands), name=node.name)
            rest = [here[name] for name in last.operands if name != graph.input]
            return build.graph(rest[0] if len(rest) == 1 else build.add(*rest))
        minus = build.affine(build.input, _multiple(-1.0, graph.input_dim))
        return build.graph(build.add(build.insert(graph, build.input), minus))

    def at(self, factor: float) -> Graph:
        """x + factor * moved(x)."""
        build = Builder(self.given.input_dim, name=self.given.input)
        scaled = build.affine(build.insert(self.moved, build.input), _multiple(factor, self.given.input_dim))
        return build.graph(build.add(build.input, scaled))

    def factor(self, length: float) -> float:
        """What a step of a length multiplies `moved` with, rounded up: what holds up to there holds for it."""
        return length if self.step is None else rounded_up(Fraction(length) / Fraction(self.step))

    def length(self, factor: float) -> Fraction:
        """The length of the step x + factor * moved(x)."""
        return Fraction(factor) * (1 if self.step is None else Fraction(self.step))


def _multiple(factor: float, size: int) -> object:
    return factor * np.eye(size) if size <= LARGE else csr_array(factor * eye_array(size, format="csr"))
