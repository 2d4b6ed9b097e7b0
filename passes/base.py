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

Source = TypeVar("Source")
Target = TypeVar("Target")

# A point or a batch (last axis = coordinates), of floats or of Fractions.
Points: TypeAlias = NDArray[Any]


def _same(points: Points) -> Points:
    return points


@dataclass(frozen=True)
class Lift:
    """How the new graph reads in the old one: new(x) == value(old(point(x))), exactly.

    point maps inputs of the new graph to inputs of the old one, value maps outputs of the old graph to outputs of the
    new one; both take float and Fraction arrays, one point or a batch.
    """

    point: Callable[[Points], Points] = _same
    value: Callable[[Points], Points] = _same

    def after(self, earlier: Lift) -> Lift:
        """The lift through two rewrites, `earlier` first: old -> between -> new."""
        return Lift(
            point=lambda x: earlier.point(self.point(x)),
            value=lambda y: self.value(earlier.value(y)),
        )


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
    """

    name: ClassVar[str]
    takes: ClassVar[type]
    gives: ClassVar[type]
    requires: ClassVar[tuple[str, ...]] = ()
    ensures: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def run(self, source: Source) -> Rewrite[Target]:
        """Rewrite; the exact function may change only as the lift says."""


class GraphPass(Pass[Graph, Graph]):
    """A rewrite of graphs into graphs."""

    takes = Graph
    gives = Graph


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
