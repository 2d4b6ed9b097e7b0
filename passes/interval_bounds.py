"""interval-bounds: the graph as it is, carrying bounds of its nodes that hold on a ball."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ircert.bounds.bounds import Bounds
from ircert.errors import PassError
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm, norm_of
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph
from ircert.ir.node_bounds import NodeBounds, Region
from ircert.passes.base import GraphPass, Rewrite
from ircert.programs.encodings.analyse import Method, analyse


@dataclass(frozen=True)
class IntervalBounds(GraphPass):
    """Bounds that hold in real arithmetic for every input in the ball, found by the analysis `method`.

    center, radius: may be left out in the pipeline of a program, whose question names the ball
    domain:         [low, high], a box that the ball is cut with
    copies:         the input is that many points of the ball, one after the other (2 behind `dual-copy`)
    """

    name = "interval-bounds"
    requires = ("canonical",)
    ensures = ("bounded",)
    keeps_bounds = True
    center: tuple[float, ...] | None = None
    radius: float | None = None
    norm: str | int = "inf"
    domain: tuple[tuple[float, ...], tuple[float, ...]] | None = None
    method: Method = "symbolic"
    copies: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "norm", norm_of(self.norm))

    def about(self, ball: Ball) -> IntervalBounds:
        """The same analysis of a ball that is named here, for one point."""
        box = None
        if np.isfinite(ball.low).any() or np.isfinite(ball.high).any():
            low, high = ball.box  # where the domain is infinite it is the ball's own box, which cuts nothing off
            box = (tuple(low.tolist()), tuple(high.tolist()))
        return replace(self, center=tuple(ball.center.tolist()), radius=ball.radius, norm=ball.norm, domain=box)

    @np.errstate(over="ignore", invalid="ignore")  # what is not finite is left out
    def run(self, source: Graph) -> Rewrite[Graph]:
        """One analysis; nodes without finite bounds get none."""
        region = self.region()
        if region.dim != source.input_dim:
            problem = f"it is about {region.dim} inputs; the graph has {source.input_dim}"
            raise PassError(problem, pass_name=self.name, remedy=self._fitting(source.input_dim))
        found = analyse(source, _around(region), self.method)
        names = [n for n in found.low if np.isfinite(found.low[n]).all() and np.isfinite(found.high[n]).all()]
        missing = [node.name for node in source.nodes if node.name not in names]
        low, high = ({name: side[name] for name in names} for side in (found.low, found.high))
        bounds = NodeBounds(region, self.method, low, high)
        notes = (f"`{missing[0]}` has no finite bounds on this ball",) if missing else ()
        if bounds.same_as(source.bounds):
            return Rewrite(source, notes=notes)
        return Rewrite(source.with_bounds(bounds), notes=notes)

    def _fitting(self, inputs: int) -> str:
        """How to write it for so many inputs."""
        words = {1: "no copies", 2: "copies=2 (behind `dual-copy`)"}
        ways = [word for points, word in words.items() if points * len(self.center or ()) == inputs]
        size, rest = divmod(inputs, self.copies)
        ways.append(f"a center of length {inputs} and no copies" if rest else f"a center of length {size}")
        return f"write {', or '.join(ways)}"

    def region(self) -> Region:
        """The set that the bounds will hold on."""
        if self.center is None or self.radius is None:
            raise PassError("it needs a ball", pass_name=self.name, remedy="write interval-bounds{center=…, radius=…}")
        low, high = (None, None) if self.domain is None else self.domain
        return Region(self.center, float(self.radius), str(self.norm), low, high, self.copies)


def bounds_of(graph: Graph) -> Bounds:
    """The bounds that a graph carries, as analyses give them: infinite where it has none."""
    assert graph.bounds is not None, "checked by the pipeline"
    known = graph.bounds
    low = {node.name: _side(known.low, node.name, graph.sizes[node.name], -np.inf) for node in graph.nodes}
    high = {node.name: _side(known.high, node.name, graph.sizes[node.name], np.inf) for node in graph.nodes}
    return Bounds(graph, low, high, known.method)


def _side(known: object, name: str, size: int, missing: float) -> Array:
    found: Array | None = known.get(name)  # type: ignore[attr-defined]
    return np.full(size, missing) if found is None else found


def _around(region: Region) -> Ball:
    """A ball that holds the region: of several points, one of a larger radius, cut with the box of each."""
    norm: Norm = norm_of(region.norm)
    infinite = np.full(len(region.center), np.inf)
    low = -infinite if region.low is None else np.array(region.low)
    high = infinite if region.high is None else np.array(region.high)
    one = Ball(np.array(region.center), region.radius, norm, low, high)
    if region.copies == 1:
        return one
    factor = {"inf": 1.0, "1": float(region.copies), "2": math.sqrt(region.copies)}[norm]
    radius = math.nextafter(math.nextafter(factor * region.radius, math.inf), math.inf)
    sides = [np.tile(side, region.copies) for side in (one.center, *one.box)]
    return Ball(sides[0], radius, norm, sides[1], sides[2])
