"""The network of a question: the graph as it was loaded, as engines want it, and the way back from one to the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from ircert.ir.compose import stack
from ircert.ir.graph import Graph
from ircert.passes.base import Lift, Points, Rewrite
from ircert.passes.pipeline import Pipeline

LOWERING = "canonicalize,fuse-affine"
"""From any piecewise-linear graph to core operations, with neighbouring affine maps fused where that is exact."""
MERGING = "merge-multiples"
"""From a lowered graph to one without neurons that are multiples of others."""


@dataclass(frozen=True, eq=False)
class Network:
    """A graph as it was loaded, lowered by a named pipeline when it is first asked for, and once.

    pipeline: what makes `lowered` of `loaded`; its passes' contracts are checked
    """

    loaded: Graph
    pipeline: Pipeline = field(default_factory=lambda: Pipeline.parse(LOWERING))

    @cached_property
    def _rewrite(self) -> Rewrite[Graph]:
        return self.pipeline.run(self.loaded)

    @property
    def lowered(self) -> Graph:
        """The graph that engines work on."""
        return self._rewrite.result

    @property
    def lift(self) -> Lift:
        """How the lowered graph reads in the loaded one."""
        return self._rewrite.lift

    @cached_property
    def merged(self) -> Graph:
        """The lowered graph without neurons that are multiples of others; its inputs and outputs are the same."""
        merged: Graph = Pipeline.parse(MERGING)(self.lowered)
        return merged

    def point(self, x: list[Fraction]) -> list[Fraction]:
        """A point of the lowered graph as one of the loaded graph, exactly."""
        home: Points = self.lift.point(np.array(x, dtype=object))
        return [Fraction(value) for value in home.tolist()]

    def beside(self, other: Network) -> Network:
        """The network whose outputs are those of both, of the same inputs."""
        return Network(stack(self.loaded, other.loaded), self.pipeline)


def lowered(graph: Graph) -> Graph:
    """A graph as engines want it, where no question keeps its network."""
    return Network(graph).lowered
