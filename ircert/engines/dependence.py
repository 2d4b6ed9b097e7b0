"""`transform` without a search: networks that compute the other's output from this one's.

What the output y = f(x) determines is followed backwards through f, as long as nothing is lost: the parts of a
concatenation, and W h for y = W h + b. Forwards through the other network a node is determined if all its operands are,
or if it is V h + a and every row of V lies in the span of the rows of W. So g∘f, outputs that were selected, linear
mixtures of outputs and constants are functions of f(x) on every ball.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from ircert.engines.kernels import Vector, has_full_rank, kernel
from ircert.ir.arrays import Matrix, nonzeros
from ircert.ir.graph import Graph
from ircert.ir.ops import Affine, Concat
from ircert.ir.ops.base import Op

LARGEST = 1024
"""Entries of a matrix whose kernel is still found at once."""
FAR = 1e-6
"""Rows that are this far from a span, relatively, are surely not meant to lie in it."""


def is_function_of(graph: Graph, other: Graph) -> bool:
    """Whether the text of two canonical graphs shows that the other's output is a function of this one's."""
    meanings: dict[tuple[Op, tuple[int, ...]], int] = {}
    here, there = (_meanings(g, meanings) for g in (graph, other))
    known = _Known()
    known.add(graph, here, graph.output)
    for node in other.nodes:
        operands = [there[name] for name in node.operands]
        linear = isinstance(node.op, Affine) and known.determines(node.op.weight, operands[0])
        if linear or (operands and known.whole.issuperset(operands)):
            known.whole.add(there[node.name])
    return there[other.output] in known.whole


def _meanings(graph: Graph, numbers: dict[tuple[Op, tuple[int, ...]], int]) -> dict[str, int]:
    """A number for each node; nodes of equal operations on equal operands have the same one, across graphs."""
    found: dict[str, int] = {}
    for node in graph.nodes:
        key = node.op, tuple(found[name] for name in node.operands)
        found[node.name] = numbers.setdefault(key, len(numbers))
    return found


@dataclass
class _Known:
    """What is determined: whole nodes, and for some nodes h the product W h; `seen` has the columns of W."""

    whole: set[int] = field(default_factory=set)
    seen: dict[int, list[Vector]] = field(default_factory=dict)

    def add(self, graph: Graph, meanings: dict[str, int], name: str) -> None:
        """A node of the first network is determined, and what follows from that."""
        node = graph[name]
        self.whole.add(meanings[name])
        if isinstance(node.op, Concat):
            for operand in node.operands:
                self.add(graph, meanings, operand)
        if isinstance(node.op, Affine) and _entries(node.op.weight) <= LARGEST:
            (operand,) = node.operands
            meaning, columns = meanings[operand], _columns(node.op.weight)
            before = self.seen.get(meaning, [[] for _ in columns])
            self.seen[meaning] = [old + new for old, new in zip(before, columns, strict=True)]
            if has_full_rank(self.seen[meaning]):
                self.add(graph, meanings, operand)

    def determines(self, weight: Matrix, meaning: int) -> bool:
        """Whether V h is determined: V vanishes, or at least where W does."""
        if nonzeros(weight).nnz == 0:
            return True
        if meaning not in self.seen or _entries(weight) > LARGEST:
            return False
        first, second = self.seen[meaning], _columns(weight)
        if not _seem_spanned(first, second):
            return False
        return not any(
            sum(a * column[i] for a, column in zip(v, second, strict=True))
            for v in kernel(first)
            for i in range(len(second[0]))
        )


def _seem_spanned(first: list[Vector], second: list[Vector]) -> bool:
    """Whether the rows of the second matrix lie nearly in the span of the first one's; floats, which prove nothing."""
    w, v = (np.array([[float(t) for t in column] for column in columns]) for columns in (first, second))
    with np.errstate(all="ignore"):
        try:
            rest = v - w @ np.linalg.lstsq(w, v, rcond=None)[0]
        except np.linalg.LinAlgError:
            return True
        return bool((np.abs(rest).max(axis=0) <= FAR * np.abs(v).max(axis=0)).all())


def _entries(weight: Matrix) -> int:
    rows, columns = weight.shape
    return int(rows * columns)


def _columns(weight: Matrix) -> list[Vector]:
    return [[Fraction(v) for v in column] for column in nonzeros(weight).toarray().T.tolist()]
