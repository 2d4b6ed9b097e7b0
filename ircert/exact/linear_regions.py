"""The affine maps of a canonical graph on its linear regions: exact rows, found backward, and floats, found forward.

A pattern says of every relu which of its entries are on; with a pattern the graph is affine.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from ircert.errors import UnsupportedModel
from ircert.ir.arrays import Array, Indices, Mask, nonzeros
from ircert.ir.dyadic import integers
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Add, Affine, Concat, Relu, Select
from ircert.ir.rational import Integers, Rationals, integer_array, integer_type
from ircert.limits import checkpoint

Pattern: TypeAlias = dict[str, Mask]


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
    walk.add(node, start, 0)
    for step in reversed(graph.nodes):
        if step.name in walk.rows and step.name != graph.input:
            walk.through(step)
            checkpoint()
    rows, shift = walk.rows.get(graph.input, (walk.nothing(graph.input), 0))
    return ExactRows(rows, integer_type()(1 << shift), walk.constants)


class _Backward:
    """Forms over the nodes that are still to be replaced by their operands: integers over 2^shift."""

    def __init__(self, graph: Graph, pattern: Pattern, count: int) -> None:
        self.graph, self.pattern, self.count = graph, pattern, count
        self.rows: dict[str, tuple[Integers, int]] = {}
        self.constants = [Fraction(0)] * count

    def nothing(self, name: str) -> Integers:
        return np.full((self.count, self.graph.sizes[name]), integer_type()(0), dtype=object)

    def add(self, name: str, rows: Integers, shift: int) -> None:
        known = self.rows.get(name)
        if known is not None:
            common = max(shift, known[1])
            scales = [integer_type()(1 << (common - s)) for s in (shift, known[1])]
            rows, shift = rows * scales[0] + known[0] * scales[1], common
        self.rows[name] = rows, shift

    def through(self, node: Node) -> None:
        """Replace a node by what it is of its operands."""
        rows, shift = self.rows.pop(node.name)
        op = node.op
        if isinstance(op, Affine):
            self._affine(node.operands[0], op, rows, shift)
        elif isinstance(op, Relu):
            kept = rows.copy()
            kept[:, ~self.pattern[node.name]] = integer_type()(0)
            self.add(node.operands[0], kept, shift)
        elif isinstance(op, Select):
            wide = self.nothing(node.operands[0])
            np.add.at(wide.T, op.indices, rows.T)
            self.add(node.operands[0], wide, shift)
        elif isinstance(op, Concat):
            sizes = [self.graph.sizes[name] for name in node.operands]
            for name, part in zip(node.operands, Concat.slices(sizes), strict=True):
                self.add(name, rows[:, part], shift)
        else:
            _require_add(node)
            for name in node.operands:
                self.add(name, rows, shift)

    def _affine(self, operand: str, op: Affine, rows: Integers, shift: int) -> None:
        biases, below = integers(op.bias)
        for i, value in enumerate(rows.dot(integer_array(biases))):
            self.constants[i] += Fraction(int(value), 1 << (shift + below))
        weight = nonzeros(op.weight).tocoo()
        used = np.array([any(column) for column in rows.T], dtype=bool)[weight.coords[0]]
        numbers, below = integers(weight.data[used])
        outer, inner = (axis[used] for axis in weight.coords)
        wide = self.nothing(operand)
        np.add.at(wide.T, inner, (rows[:, outer] * integer_array(numbers)).T)
        self.add(operand, wide, shift + below)


# --- floats ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FloatMaps:
    """Affine forms over (u, 1) with u = x - c, by rows: what each relu reads, and the outputs."""

    read: dict[str, Array]
    output: Array


def float_maps(graph: Graph, pattern: Pattern, center: Array) -> FloatMaps:
    """The affine maps of a pattern, in floats."""
    size = len(center)
    maps: dict[str, Array] = {graph.input: np.column_stack([np.eye(size), center])}
    read = {}
    for node in graph.nodes:
        if node.name == graph.input:
            continue
        operands = [maps[name] for name in node.operands]
        if isinstance(node.op, Relu):
            read[node.name] = operands[0]
            maps[node.name] = np.where(pattern[node.name][:, None], operands[0], 0.0)
        else:
            maps[node.name] = _mapped(node, operands)
    return FloatMaps(read, maps[graph.output])


def _mapped(node: Node, operands: list[Array]) -> Array:
    op = node.op
    if isinstance(op, Affine):
        found = np.asarray(op.weight @ operands[0])
        found[:, -1] += op.bias
        return found
    if isinstance(op, Select):
        return operands[0][op.indices]
    if isinstance(op, Concat):
        return np.concatenate(operands)
    _require_add(node)
    return np.asarray(np.sum(operands, axis=0))


def _require_add(node: Node) -> None:
    if not isinstance(node.op, Add):
        raise UnsupportedModel(f"{node.op.kind} has no linear regions here", remedy="run the pass `canonicalize` first")
