"""The nodes of one or two networks under common numbers, and their affine maps in integers (C-21)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeVar

import numpy as np

from ircert.checker.limits import MOST_EFFORT, MOST_WEIGHTS, Effort, TooLong
from ircert.ir.arrays import nonzeros
from ircert.ir.dyadic import scaled, shift
from ircert.ir.graph import Graph
from ircert.ir.ops import BY_KIND, Affine, LinearImageOp, Op

T = TypeVar("T")
MOST_ENTRIES, MOST_BITS = 2**22, 2**31
"""Of all nodes together; and of all weights that are not 0."""
SLOW = 8
"""How many products an entry of a set is worth."""
PARTIAL = frozenset({"log", "sqrt", "power"})
"""Not defined everywhere."""


@dataclass(frozen=True)
class Step:
    """A node: its operation, the numbers of its operands, and how many entries it has."""

    name: str
    op: Op
    operands: tuple[int, ...]
    size: int

    @property
    def kind(self) -> str:
        """The word of its operation."""
        return self.op.kind

    @cached_property
    def map(self) -> LinearMap | None:
        """The affine map that it is, if it is one."""
        op = self.op
        return (
            LinearMap(op if isinstance(op, Affine) else op.affine) if isinstance(op, Affine | LinearImageOp) else None
        )


class LinearMap:
    """The weights of an affine map that are not 0: row i has those of `starts[i]` to `starts[i + 1]`."""

    def __init__(self, op: Affine) -> None:
        sparse = nonzeros(op.weight)
        self.height, self.width = sparse.shape
        self.columns, self.starts = sparse.indices.tolist(), sparse.indptr.tolist()
        self.data, self.bias = sparse.data, op.bias

    @cached_property
    def exponent(self) -> int:
        """Weights and biases are integers over 2 to this."""
        return shift(np.concatenate([self.data, self.bias]))

    @cached_property
    def integers(self) -> list[int]:
        """The weights times 2**exponent."""
        return scaled(self.data, self.exponent)

    @cached_property
    def biases(self) -> list[int]:
        """The bias of each row times 2**exponent."""
        return scaled(self.bias, self.exponent)

    @property
    def bits(self) -> int:
        """Of the longest number, at most."""
        return self.exponent + 1 + max(0, int(np.frexp(np.abs(np.append(self.data, self.bias)).max())[1]))

    def fractions(self, i: int, columns: set[int]) -> dict[int, Fraction]:
        """The weights of a row in some columns."""
        found = ((self.columns[k], Fraction(self.integers[k], 1 << self.exponent)) for k in self.row(i))
        return {j: value for j, value in found if j in columns}

    def row(self, i: int) -> range:
        """Where the weights of a row are."""
        return range(self.starts[i], self.starts[i + 1])


class Steps(Effort):
    """All nodes of the network, then those of the other one that it has not; equal ones have one number."""

    def __init__(
        self, graph: Graph, other: Graph | None, stop: Callable[[], bool] = bool, length: int = MOST_EFFORT
    ) -> None:
        super().__init__(stop, length)
        numbers: dict[tuple[Op, tuple[int, ...]], int] = {}
        self.steps: list[Step] = []
        ends = [self._read(g, numbers) for g in (graph, other) if g is not None]
        self.names = ends[0]
        self.input = ends[0][graph.input]
        self.output, self.wanted = ends[0][graph.output], None if other is None else ends[1][other.output]
        if sum(step.size for step in self.steps) > MOST_ENTRIES:
            raise TooLong(f"the nodes of its network have more than {MOST_ENTRIES} entries: too long to be checked")
        held = (s.size + (s.op.entries if isinstance(s.op, LinearImageOp) else s.op.held) for s in self.steps)
        if sum(held) > MOST_WEIGHTS:  # before matrices are written out
            raise TooLong(f"its network has more than {MOST_WEIGHTS} weights and entries: too long to be checked")
        if sum(len(step.map.columns) * step.map.bits for step in self.steps if step.map is not None) > MOST_BITS:
            raise TooLong(f"the weights of its network have more than {MOST_BITS} bits")

    def _read(self, graph: Graph, numbers: dict[tuple[Op, tuple[int, ...]], int]) -> dict[str, int]:
        found: dict[str, int] = {}
        for node in graph.nodes:
            key = node.op, tuple(found[name] for name in node.operands)
            if key not in numbers:
                numbers[key] = len(numbers)
                self.steps.append(Step(node.name, node.op, key[1], graph.sizes[node.name]))
            found[node.name] = numbers[key]
        return found

    def spend(self, effort: int) -> None:
        """Sets, dictionaries and residues take as long as several products each."""
        super().spend(SLOW * effort)

    @property
    def partial(self) -> str | None:
        """A node that is not known to be a function on the whole space, if there is one."""
        for step in self.steps:
            if BY_KIND.get(step.kind) is not type(step.op) or step.kind in PARTIAL:
                return step.name
        return None

    def resolve(
        self, found: dict[int, T], at: int, reads: Callable[[Step], tuple[int, ...]], act: Callable[[int, list[T]], T]
    ) -> T:
        """The value of a node, from those of the nodes that it reads; graphs are deeper than Python's stack."""
        waiting = [at]
        while waiting:
            number = waiting[-1]
            step = self.steps[number]
            self.spend(len(step.operands))
            missing = [k for k in reads(step) if k not in found] if number not in found else []
            if not missing and number not in found:
                self.spend(step.size + (len(step.map.columns) if step.map else 0))
                found[number] = act(number, [found[k] for k in reads(step)])
            if not missing:
                waiting.pop()
            waiting += missing
        return found[at]
