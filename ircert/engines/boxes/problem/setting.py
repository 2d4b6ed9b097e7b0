"""A question as the proofs see it: one graph, its neurons in a row, and which outputs must agree or differ."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ircert.bounds.all_curves import all_bounds_of
from ircert.geometry.ball import Ball
from ircert.geometry.place import Place, Placed
from ircert.ir.arrays import Array, Indices, Mask
from ircert.ir.evaluate import preactivations
from ircert.ir.graph import Graph
from ircert.ir.ops import Curve, Relu
from ircert.passes.liveness import live_entries

Phases = NDArray[np.int8]
"""Per neuron: 1 (z >= 0), -1 (z <= 0) or 0 (open)."""


@dataclass(frozen=True, eq=False)
class Setting(Placed):
    """Pairs x, y with the same first `constrained` outputs of a lowered graph; its neurons are relus and curves.

    What must not differ then is the rest of the outputs (`transform`: there is a rest) or the points themselves. For
    `pseudo` y is the centre.

    scale: about the radius of balls that are asked about. Slopes without a bound (squares, exp) are followed as far as
           they go in such a ball (`Batches.curves`); what lies farther out stays open
    """

    graph: Graph
    problem: str
    constrained: int
    place: Place
    scale: float = 1.0

    @property
    def size(self) -> int:
        """The number of inputs."""
        return len(self.center)

    @property
    def pseudo(self) -> bool:
        """Whether y is fixed."""
        return self.problem == "pseudo"

    @property
    def unknowns(self) -> list[int]:
        """The outputs that must be functions of the constrained outputs; none means the inputs."""
        return list(range(self.constrained, self.graph.output_dim)) if self.problem == "transform" else []

    def ball(self, radius: float) -> Ball:
        """The closed ball, cut with the domain."""
        return self.place.ball(radius)

    @cached_property
    def relus(self) -> dict[str, slice]:
        """Where the neurons of each relu, and of each curve, lie among all neurons."""
        places, start = {}, 0
        for node in self.graph.nodes:
            if isinstance(node.op, Relu | Curve):
                places[node.name] = slice(start, start + self.graph.sizes[node.name])
                start += self.graph.sizes[node.name]
        return places

    @cached_property
    def neurons(self) -> int:
        """How many there are."""
        return sum(self.graph.sizes[name] for name in self.relus)

    def preactivations(self, points: Array) -> Array:
        """z of every neuron at every point (rows), in floats."""
        return preactivations(self.graph, points)

    @cached_property
    def curved(self) -> Mask:
        """Which neurons are curves."""
        kinds = [np.full(self.graph.sizes[name], isinstance(self.graph[name].op, Curve)) for name in self.relus]
        return np.concatenate([np.zeros(0, dtype=bool), *kinds])

    @property
    def is_smooth(self) -> bool:
        """Whether there are curves."""
        return bool(self.curved.any())

    def derivatives(self, points: Array) -> Array:
        """The slopes of all neurons at every point (rows), in floats; of a relu, 1 or 0."""
        return self.slopes(self.preactivations(points))

    def slopes(self, z: Array) -> Array:
        """The slopes of all neurons (columns) where they read these numbers, in floats."""
        found = (z > 0).astype(np.float64)
        for name, where in self.relus.items():
            op = self.graph[name].op
            if isinstance(op, Curve):
                _, (least, most) = all_bounds_of(op).at(z[:, where].ravel())
                found[:, where] = (least / 2 + most / 2).reshape(found[:, where].shape)
        return found

    def outputs(self, points: Array) -> Array:
        """All outputs at every point (rows), in floats."""
        return np.asarray(self.graph(points))

    @property
    def exact_center(self) -> list[Fraction]:
        """The centre in rationals."""
        return self.place.exact_center


def flipped(phases: Phases, neurons: Indices | list[int]) -> Phases:
    """The phases with some neurons on the other side."""
    result = phases.copy()
    result[neurons] *= -1
    return result


def neurons_that_matter(setting: Setting, *, unknown: bool = False) -> NDArray[np.bool_]:
    """Which neurons the constrained outputs depend on, or the others, going back along nonzero weights."""
    live = live_entries(setting.graph, (np.arange(setting.graph.output_dim) < setting.constrained) != unknown)
    return np.concatenate([np.zeros(0, dtype=bool), *(live[name] for name in setting.relus)])


def first_layer(setting: Setting) -> NDArray[np.bool_]:
    """Which neurons read the inputs through affine maps alone."""
    graph = setting.graph
    bent: set[str] = set()
    found = [np.zeros(0, dtype=bool)]
    for node in graph.nodes:
        late = any(name in bent for name in node.operands)
        if isinstance(node.op, Relu | Curve):
            found.append(np.full(graph.sizes[node.name], not late))
        if late or isinstance(node.op, Relu | Curve):
            bent.add(node.name)
    return np.concatenate(found)
