"""Bounds that a graph carries: for some of its nodes an interval per entry, and the set of inputs where they hold."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ircert.errors import GraphError
from ircert.ir.arrays import LARGEST, Array

if TYPE_CHECKING:
    from ircert.ir.graph import Graph

NORMS = ("inf", "1", "2")
RULE = "IR-18"


@dataclass(frozen=True)
class Region:
    """A closed ball cut with a box (None where there is none), or several points in it at once.

    copies: the input is that many points, one after the other, each of them in the ball
    """

    center: tuple[float, ...]
    radius: float
    norm: str = "inf"
    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None
    copies: int = 1

    def __post_init__(self) -> None:
        fault = self._fault()
        if fault:
            raise GraphError(
                f"bounds hold on a ball, and {fault}", rule=RULE, remedy="name a ball as `spec/ir.md` does"
            )

    def _fault(self) -> str | None:
        sides = [side for side in (self.low, self.high) if side is not None]
        if not self.center or not all(map(math.isfinite, [*self.center, self.radius, *(v for s in sides for v in s)])):
            return "its numbers must be finite"
        if self.radius < 0 or self.norm not in NORMS:
            return f"it has a radius of at least 0 and a norm of {', '.join(NORMS)}"
        if not 1 <= self.copies <= LARGEST:
            return "there is at least one copy of it"
        if len(sides) == 1 or any(len(side) != len(self.center) for side in sides):
            return "its box has a low and a high number for every coordinate"
        return None if self.holds([self.center]) else "its centre lies outside its box"

    @property
    def points(self) -> list[tuple[float, ...]]:
        """The centre, once for every copy."""
        return [self.center] * self.copies

    @property
    def dim(self) -> int:
        """The number of inputs."""
        return self.copies * len(self.center)

    def contains(self, point: Iterable[Any]) -> bool:
        """Whether an input (all copies, one after the other) lies in it; exact."""
        flat, size = [Fraction(v) for v in point], len(self.center)
        return self.holds([flat[i : i + size] for i in range(0, len(flat), size)])

    def holds(self, points: Iterable[Iterable[Any]]) -> bool:
        """Whether each of these points of one copy lies in the ball and the box; exact."""
        return all(self._holds([Fraction(v) for v in point]) for point in points)

    def _holds(self, point: list[Fraction]) -> bool:
        offsets = [abs(x - Fraction(c)) for x, c in zip(point, self.center, strict=True)]
        return self._length_fits(offsets, Fraction(self.radius)) and self._in_box(point, point)

    def _length_fits(self, offsets: list[Fraction], radius: Fraction) -> bool:
        if radius < 0:
            return False
        if self.norm == "2":
            return sum(d * d for d in offsets) <= radius * radius
        return (max(offsets) if self.norm == "inf" else sum(offsets)) <= radius

    def _in_box(self, low: list[Fraction], high: list[Fraction]) -> bool:
        if self.low is None or self.high is None:
            return True
        return all(a <= b for a, b in zip(self.low, low, strict=True)) and all(
            a <= b for a, b in zip(high, self.high, strict=True)
        )

    def covers(self, other: Region) -> bool:
        """Whether every point of another region surely lies in this one (False where that takes more than a look)."""
        if len(other.center) != len(self.center):
            return False
        if not self._in_box(*other._sides()):
            return False
        offsets = [abs(Fraction(a) - Fraction(b)) for a, b in zip(self.center, other.center, strict=True)]
        if self.norm == other.norm:
            return self._length_fits(offsets, Fraction(self.radius) - Fraction(other.radius))
        corners = zip(*other._sides(), map(Fraction, self.center), strict=True)
        farthest = [max(abs(a - c), abs(b - c)) for a, b, c in corners]
        return self._length_fits(farthest, Fraction(self.radius))

    def _sides(self) -> tuple[list[Fraction], list[Fraction]]:
        """The smallest box around the ball, cut with its own."""
        radius = Fraction(self.radius)
        low, high = [Fraction(c) - radius for c in self.center], [Fraction(c) + radius for c in self.center]
        if self.low is not None and self.high is not None:
            low = [max(a, Fraction(b)) for a, b in zip(low, self.low, strict=True)]
            high = [min(a, Fraction(b)) for a, b in zip(high, self.high, strict=True)]
        return low, high


@dataclass(frozen=True, eq=False)
class NodeBounds:
    """For some nodes of a graph, numbers between which every entry lies, in real arithmetic, for x in the region.

    method: the analysis that found them
    """

    region: Region
    method: str
    low: Mapping[str, Array]
    high: Mapping[str, Array]

    def __post_init__(self) -> None:
        for side in ("low", "high"):
            frozen = {name: _frozen(name, values) for name, values in getattr(self, side).items()}
            object.__setattr__(self, side, MappingProxyType(frozen))

    def __reduce__(self) -> tuple[object, ...]:
        return (NodeBounds, (self.region, self.method, dict(self.low), dict(self.high)))

    def same_as(self, other: NodeBounds | None) -> bool:
        """Whether the numbers, the set and the method are the same."""
        if other is None or (self.region, self.method, self.low.keys()) != (
            other.region,
            other.method,
            other.low.keys(),
        ):
            return False
        return all(
            np.array_equal(mine[name], theirs[name])
            for mine, theirs in ((self.low, other.low), (self.high, other.high))
            for name in mine
        )

    def check(self, graph: Graph) -> None:
        """GraphError unless these may be bounds of that graph: names, sizes, order, and the values at the centre."""
        if self.region.dim != graph.input_dim:
            raise GraphError(
                f"the bounds are about {self.region.dim} inputs, the graph has {graph.input_dim}",
                rule=RULE,
                remedy="run `interval-bounds` on this graph",
            )
        for name in {**self.low, **self.high}:
            self._check_node(graph, name)
        self._check_center(graph)

    def _check_node(self, graph: Graph, name: str) -> None:
        if name not in graph or name not in self.low or name not in self.high:
            raise GraphError(f"there are bounds of `{name[:60]}` but no such node, or one side alone", rule=RULE)
        low, high = self.low[name], self.high[name]
        if low.shape != (graph.sizes[name],) or high.shape != low.shape:
            problem = f"it has {graph.sizes[name]} entries but bounds for {low.size} and {high.size}"
            raise GraphError(problem, rule=RULE, node=name)
        if (low > high).any():
            raise GraphError(f"entry {int((low > high).argmax())} has low > high", rule=RULE, node=name)

    def _check_center(self, graph: Graph) -> None:
        """Floats first; what they put outside is decided exactly."""
        from ircert.ir.evaluate import all_values

        with np.errstate(all="ignore"):
            values = all_values(graph, [v for point in self.region.points for v in point])
        for name, low in self.low.items():
            outside = ~((low <= values[name][0]) & (values[name][0] <= self.high[name]))
            if outside.any() and not self._exactly_inside(graph, name):
                raise GraphError("its value at the centre lies outside its bounds", rule=RULE, node=name)

    def _exactly_inside(self, graph: Graph, name: str) -> bool:
        from ircert.ir.build import needed_nodes
        from ircert.ir.graph import Graph

        part = Graph(needed_nodes({node.name: node for node in graph.nodes}, name), name)
        exact = part.exact([v for point in self.region.points for v in point])
        sides = zip(self.low[name].tolist(), exact, self.high[name].tolist(), strict=True)
        return all(a <= value <= b for a, value, b in sides)


def _frozen(name: str, given: object) -> Array:
    try:
        values = np.array(given, dtype=np.float64, ndmin=1) + 0.0
    except (TypeError, ValueError):
        raise GraphError("its bounds are no lists of numbers", rule=RULE, node=name) from None
    if values.ndim != 1 or not np.isfinite(values).all():
        raise GraphError("its bounds must be lists of finite numbers", rule=RULE, node=name)
    values.setflags(write=False)
    return values
