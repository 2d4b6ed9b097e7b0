"""The result of a bounds analysis: an interval for every entry of every node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ircert.errors import QueryError
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph
from ircert.ir.ops import Relu


@dataclass(frozen=True)
class Bounds:
    """For each node of a graph, lower and upper bounds that hold in real arithmetic on the whole ball."""

    graph: Graph
    low: Mapping[str, Array]
    high: Mapping[str, Array]
    method: str

    def preactivations(self) -> list[str]:
        """The nodes that relus read, each once, in order."""
        return list(dict.fromkeys(node.operands[0] for node in self.graph.nodes if isinstance(node.op, Relu)))

    def unstable(self, node: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which entries may have either sign."""
        return (self.low[node] < 0) & (self.high[node] > 0)

    def count_unstable(self) -> int:
        """The number of relus whose phase is open (each will need a binary)."""
        relus = [node for node in self.graph.nodes if isinstance(node.op, Relu)]
        return sum(int(self.unstable(node.operands[0]).sum()) for node in relus)

    def summary(self) -> str:
        """One line: how many neurons there are and how many are stable."""
        total = sum(self.graph.sizes[node.name] for node in self.graph.nodes if isinstance(node.op, Relu))
        return f"{self.method}: {total - self.count_unstable()} of {total} neurons stable"

    def tightened(self, low: Mapping[str, Array], high: Mapping[str, Array], method: str) -> Bounds:
        """The intersection with further bounds of some nodes."""
        lower, upper = dict(self.low), dict(self.high)
        for name in low:
            lower[name] = np.maximum(lower[name], low[name])
            upper[name] = np.minimum(upper[name], high[name])
            if (lower[name] > upper[name]).any():
                raise QueryError(f"no value of `{name}` is possible: the ball does not meet the domain")
        return Bounds(self.graph, lower, upper, method)

    def joined(self, other: Bounds) -> Bounds:
        """Bounds that hold wherever these or the others do."""
        if other is self:
            return self
        low = {name: np.minimum(values, other.low[name]) for name, values in self.low.items()}
        high = {name: np.maximum(values, other.high[name]) for name, values in self.high.items()}
        return Bounds(self.graph, low, high, self.method)
