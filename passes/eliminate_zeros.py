"""eliminate-zeros: what pruning left behind goes away."""

from __future__ import annotations

from dataclasses import dataclass

from ircert.ir.graph import Graph
from ircert.passes.base import GraphPass, Rewrite
from ircert.passes.rebuilding import kept_if_identical
from ircert.passes.shrinking import Shrinker


@dataclass(frozen=True)
class EliminateZeros(GraphPass):
    """Remove neurons that compute nothing, repeatedly, until none is left.

    A neuron with a zero input row is the constant relu(b): it moves into the biases that read it where that is exact,
    and is read as a constant where it is not. A neuron that nobody reads (zero output column) goes, with everything
    only it needed. Of equal neurons one remains; their output columns are added up where that is exact, else the one is
    read several times. Nodes that compute the same are one node. Matrices are stored sparse where that pays.
    """

    name = "eliminate-zeros"
    requires = ("canonical",)
    ensures = ("canonical",)

    def run(self, source: Graph) -> Rewrite[Graph]:
        """Shrink until nothing changes."""
        current = source
        while True:
            smaller = kept_if_identical(current, Shrinker(current, merge=True).run())
            if smaller is current:
                return Rewrite(current)
            current = smaller
