"""What a pass is: a rewrite with a contract, that carries points back to where it came from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ircert.ir.graph import Graph
from ircert.ir.node_bounds import Region

Source = TypeVar("Source")
Target = TypeVar("Target")

# A point or a batch (last axis = coordinates), of floats or of Fractions.
Points: TypeAlias = NDArray[Any]


Function: TypeAlias = Callable[[Points], Points]
"""From points to values, in floats or exactly."""


def _same(points: Points) -> Points:
    return points


@dataclass(frozen=True)
class Lift:
    """How the new graph reads in the old one: new(x) == reads(old)(x), exactly, for every x at which it `holds`.

    point maps inputs of the new graph to inputs of the old one, value maps outputs of the old graph to outputs of the
    new one; both take float and Fraction arrays, one point or a batch. Of an input that is several points, `point`
    makes that many rows.

    function: from the old function to the new one, where that is more than value(old(point(x)))
    only_on:  sets outside which nothing is promised, each with the way from an input of the new graph to it
    """

    point: Function = _same
    value: Function = _same
    function: Callable[[Function], Function] | None = None
    only_on: tuple[tuple[Region, Function], ...] = ()

    def reads(self, old: Function) -> Function:
        """The function of the new graph, given that of the old one."""
        if self.function is not None:
            return self.function(old)
        return lambda x: self.value(old(self.point(x)))

    def holds(self, x: Points) -> bool:
        """Whether the promise is about this input."""
        return all(region.contains(np.ravel(there(x))) for region, there in self.only_on)

    @property
    def keeps_outputs(self) -> bool:
        """Whether outputs of the old graph are outputs of the new one as they are, or go into its `function` so."""
        return self.value is _same

    def after(self, earlier: Lift) -> Lift:
        """The lift through two rewrites, `earlier` first: old -> between -> new."""
        plain = self.function is None and earlier.function is None
        before = tuple((region, _chain(there, self.point)) for region, there in earlier.only_on)
        return Lift(
            point=_chain(earlier.point, self.point),
            value=_chain(self.value, earlier.value),
            function=None if plain else lambda old: self.reads(earlier.reads(old)),
            only_on=(*before, *self.only_on),
        )


def _chain(outer: Function, inner: Function) -> Function:
    if outer is _same or inner is _same:
        return inner if outer is _same else outer
    return lambda points: outer(inner(points))


@dataclass(frozen=True)
class Rewrite(Generic[Target]):
    """What a pass returns. A pass that finds nothing to do returns its argument itself as `result`.

    notes say what the pass could not do and why, or what the reader should know.
    """

    result: Target
    lift: Lift = field(default_factory=Lift)
    notes: tuple[str, ...] = ()


class Pass(ABC, Generic[Source, Target]):
    """A rewrite from one level to another. Subclasses are frozen dataclasses; their fields are the options.

    name:     its word in pipelines
    takes:    the type it rewrites, gives: the type it makes
    requires: properties (see `ircert.passes.properties`) the pipeline checks before it runs
    ensures:  properties the pipeline checks afterwards
    keeps_bounds: whether the bounds of its result (`Graph.bounds`) hold; the pipeline takes them away where it does not
    """

    name: ClassVar[str]
    takes: ClassVar[type]
    gives: ClassVar[type]
    requires: ClassVar[tuple[str, ...]] = ()
    ensures: ClassVar[tuple[str, ...]] = ()
    keeps_bounds: ClassVar[bool] = False

    @abstractmethod
    def run(self, source: Source) -> Rewrite[Target]:
        """Rewrite; the exact function may change only as the lift says."""


class GraphPass(Pass[Graph, Graph]):
    """A rewrite of graphs into graphs."""

    takes = Graph
    gives = Graph


def exactly(points: Points) -> Points:
    """The same numbers as Fractions."""
    given = np.asarray(points)
    return np.array([Fraction(v) for v in given.ravel().tolist()], dtype=object).reshape(given.shape)


def embed(free: NDArray[np.int64], fixed: dict[int, float], size: int) -> Callable[[Points], Points]:
    """A lift of points that puts numbers back at the inputs that were fixed."""

    def point(x: Points) -> Points:
        points = np.asarray(x)
        exact = points.dtype == object
        whole = np.empty((*points.shape[:-1], size), dtype=object if exact else np.float64)
        whole[..., free] = points
        for index, value in fixed.items():
            whole[..., index] = Fraction(value) if exact else value
        return whole

    return point
