"""The networks of a question: as they were loaded, as engines want them, and the way back from one to the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from ircert.ir.compose import stack
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import is_smooth
from ircert.passes.base import Lift, Rewrite
from ircert.passes.fix_inputs import FixInputs
from ircert.passes.pipeline import Pipeline
from ircert.structure.known import Knowledge

LOWERING = "canonicalize,fuse-affine"
"""From any piecewise-linear graph to core operations, with neighbouring affine maps fused where that is exact."""
LOWERING_AROUND_CURVES = "lower-rich,fuse-affine"
"""… and from one that has curves to core operations and curves."""
MERGING = "bypass-idle-relus,merge-multiples,cancel-terms"
"""From a lowered graph to one without neurons that do nothing, are multiples of others or cancel."""


@dataclass(frozen=True, eq=False)
class Network:
    """A graph as it was loaded, in the coordinates of a question, and lowered: each made once, when it is asked for.

    loaded: the model that hashes, witnesses and certificates mean
    fixed:  inputs of it that the question does not vary, with their numbers
    """

    loaded: Graph
    fixed: Mapping[int, float] = field(default_factory=dict)

    def __reduce__(self) -> tuple[object, ...]:
        # what it was made of: lifts are functions, which do not travel between processes
        return (Network, (self.loaded, dict(self.fixed)))

    @property
    def pipeline(self) -> Pipeline:
        """What makes `lowered` of `loaded`; the contract of each pass is checked."""
        return Pipeline((*self._fixing.passes, *self._lowering.passes))

    @property
    def _lowering(self) -> Pipeline:
        return Pipeline.parse(LOWERING_AROUND_CURVES if self.has_curves else LOWERING)

    @cached_property
    def has_curves(self) -> bool:
        """Whether there is an operation that is smooth and stays, or becomes squares."""
        return any(is_smooth(node.op) for node in self.loaded.nodes)

    @property
    def _fixing(self) -> Pipeline:
        return Pipeline((FixInputs(dict(self.fixed)),) if self.fixed else ())

    @cached_property
    def _asked(self) -> Rewrite[Graph]:
        return self._fixing.run(self.loaded)

    @cached_property
    def _lowered(self) -> Rewrite[Graph]:
        return self._lowering.run(self.asked)

    @property
    def asked(self) -> Graph:
        """The graph in the coordinates of the question."""
        return self._asked.result

    @property
    def lowered(self) -> Graph:
        """The graph that engines work on."""
        return self._lowered.result

    @cached_property
    def merged(self) -> Graph:
        """The lowered graph without neurons that do nothing, are multiples of others or cancel; with curves, itself."""
        if self.has_curves:
            return self.lowered
        merged: Graph = Pipeline.parse(MERGING)(self.lowered)
        return merged

    @cached_property
    def knowledge(self) -> Knowledge:
        """What follows from the output of `asked` by structure."""
        return Knowledge(self.asked)

    @property
    def lift(self) -> Lift:
        """How the lowered graph reads in the loaded one."""
        return self._lowered.lift.after(self._asked.lift)

    def restored(self, point: Iterable[Fraction]) -> list[Fraction]:
        """A point in the coordinates of the question as one of the loaded graph."""
        there = self.lift.point(np.array(list(point), dtype=object))
        return [Fraction(value) for value in there.tolist()]


@dataclass(frozen=True, eq=False)
class Networks:
    """The network of a question and, for `transform`, the other one."""

    network: Network
    other: Network | None = None
    _without: dict[tuple[tuple[int, float], ...], Networks] = field(default_factory=dict, init=False, repr=False)

    @staticmethod
    def of(graph: Graph, other: Graph | None = None) -> Networks:
        """Networks as they were loaded, with no input fixed."""
        return Networks(Network(graph), None if other is None else Network(other))

    def are_of(self, graph: Graph, other: Graph | None) -> bool:
        """Whether these are the networks of a question about these very graphs."""
        mine = None if self.other is None else self.other.asked
        return self.network.asked is graph and mine is other

    def __iter__(self) -> Iterator[Network]:
        yield self.network
        if self.other is not None:
            yield self.other

    @cached_property
    def both(self) -> Network:
        """One network with the outputs of all, that of the question first."""
        return self.network if self.other is None else Network(stack(*(each.asked for each in self)))

    def fix(self, values: Mapping[int, float]) -> Networks:
        """The same networks with some inputs fixed; made once for the same numbers."""
        key = tuple(sorted(values.items()))
        if key not in self._without:
            fixed = [Network(each.loaded, {**each.fixed, **values}) for each in self]
            self._without[key] = Networks(*fixed)
        return self._without[key]


def lowered(graph: Graph) -> Graph:
    """A graph as engines want it, where no question keeps its network."""
    return Network(graph).lowered


def first_uncertifiable(graph: Graph) -> Node | None:
    """The first node that no search can take, if there is one: only the form of such a network says something."""
    return next((n for n in graph.nodes if not (n.op.piecewise_linear or is_smooth(n.op))), None)
