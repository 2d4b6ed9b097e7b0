"""`transform` without a search: networks that compute the other's output from this one's.

What the output y = f(x) determines is followed backwards through f, as long as nothing is lost: the parts of a
concatenation, and W h for y = W h + b. Forwards through the other network a node is determined if all its operands are,
or if it is V h + a and every row of V lies in the span of the rows of W. So g∘f, outputs that were selected, linear
mixtures of outputs and constants are functions of f(x) on every ball.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ircert.engines.instant.derivatives import dense, entries
from ircert.exact.dyadics import Dyadics
from ircert.exact.kernels import seem_spanned, spans
from ircert.exact.residues import PRIMES, has_full_rank, residues
from ircert.ir.arrays import Array, Matrix, nonzeros
from ircert.ir.graph import Graph
from ircert.ir.ops import Affine, Concat
from ircert.ir.ops.base import Op
from ircert.limits import OutOfTime, Undecided

LARGEST = 1 << 20
"""Entries of a matrix whose span is looked at."""


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
    """What is determined: whole nodes, and for some nodes h the product W h; `seen` has these W."""

    whole: set[int] = field(default_factory=set)
    seen: dict[int, Array] = field(default_factory=dict)

    def add(self, graph: Graph, meanings: dict[str, int], name: str) -> None:
        """A node of the first network is determined, and what follows from that."""
        node = graph[name]
        self.whole.add(meanings[name])
        if isinstance(node.op, Concat):
            for operand in node.operands:
                self.add(graph, meanings, operand)
        if isinstance(node.op, Affine) and entries(node.op.weight) <= LARGEST:
            (operand,) = node.operands
            meaning, weight = meanings[operand], dense(node.op.weight)
            before = self.seen.get(meaning)
            self.seen[meaning] = weight if before is None else np.concatenate([before, weight])
            if has_full_rank(self.seen[meaning]):
                self.add(graph, meanings, operand)

    def determines(self, weight: Matrix, meaning: int) -> bool:
        """Whether V h is determined: V vanishes, or at least where W does."""
        if nonzeros(weight).nnz == 0:
            return True
        if meaning not in self.seen or entries(weight) > LARGEST:
            return False
        first, second = self.seen[meaning], dense(weight)
        if not seem_spanned(residues(first, PRIMES[0]), residues(second, PRIMES[0])):
            return False
        try:
            return spans(Dyadics.of_floats(first), Dyadics.of_floats(second))
        except OutOfTime:
            raise
        except Undecided:
            return False
