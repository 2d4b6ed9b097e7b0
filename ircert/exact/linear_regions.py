"""The affine maps of a canonical graph on its linear regions: exact rows, found backward, and floats, found forward.

A pattern says of every relu which of its entries are on; with a pattern the graph is affine.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from ircert.ir.arrays import Array, Indices, Mask, nonzeros
from ircert.ir.dyadic import integers, scaled
from ircert.ir.dyadic import shift as exponent
from ircert.ir.graph import Graph, Node
from ircert.ir.interpret import Backward, Forward
from ircert.ir.ops import Affine, Relu
from ircert.ir.rational import Integers, Rationals, integer_array, integer_type
from ircert.limits import checkpoint

Pattern: TypeAlias = dict[str, Mask]

BLOCK = 2**16
"""So many products are made before the deadline is asked again."""


def pattern_at(graph: Graph, x: list[Fraction]) -> Pattern:
    """The pattern of a linear region that holds x (where a relu reads 0, the side where it is on)."""
    values = {graph.input: Rationals.of_fractions(x)}
    found: Pattern = {}
    for node in graph.nodes:
        if node.name == graph.input:
            continue
        operands = [values[name] for name in node.operands]
        if isinstance(node.op, Relu):
            found[node.name] = np.array([v >= 0 for v in operands[0].numerators], dtype=bool)
        values[node.name] = node.op.exact(*operands)
        checkpoint()
    return found


# --- exact -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ExactRows:
    """Affine forms coefficients @ x / below + constants, with below a power of two."""

    coefficients: Integers
    below: Any
    constants: list[Fraction]

    def at(self, x: list[Fraction]) -> list[Fraction]:
        """Their values at a point."""
        point = Rationals.of_fractions(x)
        products = self.coefficients.dot(point.numerators)
        below = int(self.below * point.denominator)
        return [Fraction(int(v), below) + k for v, k in zip(products, self.constants, strict=True)]


def exact_rows(graph: Graph, pattern: Pattern, node: str, chosen: Indices | None = None) -> ExactRows:
    """The affine forms of a node, or of some of its entries, on the region of a pattern."""
    size = graph.sizes[node]
    entries = np.arange(size) if chosen is None else chosen
    start = np.full((len(entries), size), integer_type()(0), dtype=object)
    start[np.arange(len(entries)), entries] = integer_type()(1)
    walk = _Backward(graph, pattern, len(entries))
    rows, shift = walk.walk(graph, (start, 0), node) or (walk.nothing(graph.input_dim), 0)
    return ExactRows(rows, integer_type()(1 << shift), walk.constants)


class _Backward(Backward[tuple[Integers, int]]):
    """Forms over the nodes that are still to be replaced by their operands: integers over 2^shift."""

    def __init__(self, graph: Graph, pattern: Pattern, count: int) -> None:
        self.graph, self.pattern, self.count = graph, pattern, count
        self.constants = [Fraction(0)] * count

    def nothing(self, size: int) -> Integers:
        return np.full((self.count, size), integer_type()(0), dtype=object)

    def join(self, name: str, known: tuple[Integers, int], more: tuple[Integers, int]) -> tuple[Integers, int]:
        common = max(known[1], more[1])
        scales = [integer_type()(1 << (common - s)) for s in (more[1], known[1])]
        return more[0] * scales[0] + known[0] * scales[1], common

    def relu(self, node: Node, given: tuple[Integers, int]) -> tuple[Integers, int]:
        kept = given[0].copy()
        kept[:, ~self.pattern[node.name]] = integer_type()(0)
        return kept, given[1]

    def select(self, node: Node, indices: Indices, size: int, given: tuple[Integers, int]) -> tuple[Integers, int]:
        wide = self.nothing(size)
        np.add.at(wide.T, indices, given[0].T)
        return wide, given[1]

    def part(self, given: tuple[Integers, int], place: slice) -> tuple[Integers, int]:
        return given[0][:, place], given[1]

    def affine(self, node: Node, op: Affine, given: tuple[Integers, int]) -> tuple[Integers, int]:
        rows, shift = given
        biases, below = integers(op.bias)
        for i, value in enumerate(rows.dot(integer_array(biases))):
            self.constants[i] += Fraction(int(value), 1 << (shift + below))
        weight = nonzeros(op.weight).tocoo()
        used = np.array([any(column) for column in rows.T], dtype=bool)[weight.coords[0]]
        values, (outer, inner) = weight.data[used], (axis[used] for axis in weight.coords)
        wide, below = self.nothing(op.weight.shape[1]), exponent(values)
        count = max(1, BLOCK // max(1, len(rows)))
        for start in range(0, len(values), count):
            checkpoint()
            some = slice(start, start + count)
            numbers = integer_array(scaled(values[some], below))
            np.add.at(wide.T, inner[some], (rows[:, outer[some]] * numbers).T)
        return wide, shift + below


# --- floats ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FloatMaps:
    """Affine forms over (u, 1) with u = x - c, by rows: what each relu reads, and the outputs."""

    read: dict[str, Array]
    output: Array


def float_maps(graph: Graph, pattern: Pattern, center: Array) -> FloatMaps:
    """The affine maps of a pattern, in floats."""
    walk = _Floats(pattern)
    values = walk.walk(graph, np.column_stack([np.eye(len(center)), center]))
    return FloatMaps(walk.read, values[graph.output])


class _Floats(Forward[Array]):
    """Forms over (u, 1), by rows."""

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        self.read: dict[str, Array] = {}

    def affine(self, name: str, op: Affine, x: Array) -> Array:
        found = np.asarray(op.weight @ x)
        found[:, -1] += op.bias
        return found

    def relu(self, name: str, x: Array) -> Array:
        self.read[name] = x
        return np.where(self.pattern[name][:, None], x, 0.0)
