"""How much exact evaluation writes, bounded before it begins: a few lines of text can ask for more than there is.

Over an input with the common denominator D every value is n / (D**degree * 2**twos), with |value| <= 2**size; so the
numbers of a node have at most size + degree * log2(D) + twos bits, and these three follow from the operands'.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from ircert.ir.arrays import Array, nonzeros
from ircert.ir.dyadic import decompose
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Add, Affine, AveragePool, Conv, LinearImageOp, MaxPool, Op, Product, Square

MOST_IN_NODE, MOST_IN_ALL = 2**33, 2**36
"""Bits that exact evaluation may write: a gigabyte at a time, and some seconds in all."""
OVERHEAD = 1024
"""Bits that a number takes beside its own: the object, its place in an array, and the weight it was multiplied by."""


@dataclass(frozen=True)
class Bound:
    """Bounds of the numbers of one node."""

    degree: int
    twos: int
    size: int

    def bits(self, of_denominator: int) -> int:
        """How many bits numerator and denominator have at most."""
        return self.size + self.degree * of_denominator + self.twos + 2


def is_affordable(graph: Graph, denominator: int, size: int) -> bool:
    """Whether exact evaluation at a point over `denominator`, |x| <= 2**size, surely ends within reason."""
    total, degrees = 0, dict[str, int]()
    for node, bound in bounds(graph, size):
        degrees[node.name] = bound.degree
        bits = bound.bits(denominator.bit_length())
        effort = bits * _passes(node, degrees, bits)
        written = _terms(node, graph.sizes) * (effort + OVERHEAD)
        total += written
        if written > MOST_IN_NODE or total > MOST_IN_ALL:
            return False
    return True


def _passes(node: Node, degrees: Mapping[str, int], bits: int) -> int:
    """How many times as long as writing numbers of so many bits it takes to compute them."""
    if isinstance(node.op, Product | Square):
        return bits.bit_length()
    if len({degrees[operand] for operand in node.operands}) > 1:
        return 4 * bits.bit_length()  # over one denominator: a common multiple, a quotient and a product
    return 1


def bounds(graph: Graph, size: int) -> Iterator[tuple[Node, Bound]]:
    """Bounds of the numbers of each node, at a point with |x| <= 2**size."""
    known: dict[str, Bound] = {}
    for node in graph.nodes:
        before = [known[operand] for operand in node.operands]
        known[node.name] = _after(node.op, before) if before else Bound(1, 0, size)
        yield node, known[node.name]


def _after(op: Op, operands: list[Bound]) -> Bound:
    columns = list(zip(*((b.degree, b.twos, b.size) for b in operands), strict=True))
    if isinstance(op, Product | Square):
        return Bound(*(sum(column) * (2 // len(operands)) for column in columns))
    degree, twos, size = (max(column) for column in columns)
    summands = len(operands) if isinstance(op, Add) else _summands(op)
    own = _own_numbers(op)
    low = max((-int(decompose(numbers)[1].min(initial=0)) for numbers in own), default=0)
    high = max((math.frexp(float(np.abs(numbers).max(initial=0)))[1] for numbers in own), default=0)
    return Bound(degree, twos + low, size + max(0, high) + (summands - 1).bit_length())


def _own_numbers(op: Op) -> list[Array]:
    """The numbers that values are multiplied by, compared with or added to."""
    if isinstance(op, AveragePool):
        return [1.0 / np.arange(1.0, math.prod(op.kernel) + 1)]
    values = [value.data if isinstance(value, csr_array) else value for value in op.attributes().values()]
    return [value.ravel() for value in values if isinstance(value, np.ndarray) and value.dtype.kind == "f"]


def _summands(op: Op) -> int:
    """How many terms one entry of the result adds up."""
    if isinstance(op, Affine):
        return op.weight.shape[1] + 1
    if isinstance(op, Conv):
        return op.weight[0].size + 1
    return math.prod(op.kernel) if isinstance(op, AveragePool) else 1


def _terms(node: Node, sizes: Mapping[str, int]) -> int:
    """How many numbers the node's evaluation writes."""
    op, size = node.op, sizes[node.name]
    if isinstance(op, Affine):
        return nonzeros(op.weight).nnz + size
    if isinstance(op, LinearImageOp):
        return op.entries + size
    if isinstance(op, MaxPool):
        return math.prod(op.kernel) * size
    return size + sum(sizes[operand] for operand in node.operands)
