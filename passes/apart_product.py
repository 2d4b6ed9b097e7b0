"""apart-product: the nearest violation whose points differ by at least a given amount, as a mixed-integer program.

    local:      min r    |x - c|, |y - c| <= r,    f(x) = f(y),    |x - y| >= δ
    pseudo:     min r    |x - c| <= r,             f(x) = f(c),    |x - c| >= δ
    transform:  min r    |x - c|, |y - c| <= r,    f(x) = f(y),    |g(x) - g(y)| >= δ

Separations are in the L-infinity norm, radii in that of the question. r is minimised directly: no bisection, and the
dual bound is a radius within which there is no such pair. What differs by less is not looked at (`spec/program.md`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ircert.bounds.bounds import Bounds
from ircert.bounds.slopes import slope_bounds
from ircert.encodings.about import about
from ircert.encodings.analyse import Method, analyse
from ircert.encodings.apart import DifferenceCopy, difference_of_points, differences, keep_apart
from ircert.encodings.form import Form
from ircert.encodings.isolation import isolation
from ircert.encodings.network import NetworkCopy
from ircert.encodings.radius import point_within, variable_radius
from ircert.errors import QueryError
from ircert.ir.graph import Graph
from ircert.passes.base import Pass, Rewrite
from ircert.passes.fuse_affine import canonical
from ircert.passes.merge_multiples import merged
from ircert.programs.build import ProgramBuilder
from ircert.programs.program import Block, Origin, Program
from ircert.query import Query


@dataclass(frozen=True)
class ApartProduct(Pass[Graph, Program]):
    """The program for pairs that are at least `separation` apart, in the ball of a radius beyond which nothing matters.

    For `pseudo` no separation means the largest one that leaves nothing out near the centre.
    """

    name = "apart-product"
    takes = Graph
    gives = Program
    requires = ("canonical",)
    problem: str
    center: tuple[float, ...]
    radius: float
    separation: float | None = None
    norm: str = "inf"
    other: Graph | None = None
    domain: tuple[tuple[float, ...], ...] | None = None
    bounds: Method = "symbolic"

    @property
    def query(self) -> Query:
        """The question that the options ask."""
        box = None if self.domain is None else (self.domain[0], self.domain[1])
        return Query(self.problem, self.center, self.radius, self.norm, self.other, box)

    def run(self, source: Graph) -> Rewrite[Program]:
        """Bounds, copies, differences, separation."""
        query = self.query
        query.check(source)
        bounds = analyse(merged(source), query.ball, self.bounds)
        other = None if query.other is None else analyse(merged(canonical(query.other)), query.ball, self.bounds)
        return Rewrite(apart(bounds, query, source.sha256, self.separation, other))


def apart(
    bounds: Bounds, query: Query, sha256: str, separation: float | None = None, other: Bounds | None = None
) -> Program:
    """The program, given bounds on merged graphs over the question's ball (`other` for `transform`)."""
    if separation is None and query.problem == "pseudo":
        separation = isolation(bounds, query.ball)
    if separation is None or not 0 < separation < math.inf:
        raise QueryError(
            f"the separation must be a positive number, got {separation!r}", remedy="give the least gap to look for"
        )
    return _Apart(bounds, query, separation, other).program(sha256)


class _Apart:
    def __init__(self, bounds: Bounds, query: Query, separation: float, other: Bounds | None) -> None:
        self.bounds = bounds
        self.query = query
        self.separation = separation
        self.other = other
        self.build = ProgramBuilder()
        halves = {"local": separation / 2, "pseudo": separation, "transform": 0.0}
        self.r = variable_radius(self.build, query.ball, halves[query.problem])

    def program(self, sha256: str) -> Program:
        x = self._point("x")
        first = NetworkCopy(self.build, self.bounds, x, "x")
        if self.query.problem == "pseudo":
            value = self.bounds.graph.exact(self.query.center)
            first.output.equals(self.build, "equal", value, Origin(self.bounds.graph.output))
            offset = Form.of(x).plus(Form.fixed(self.query.center), -1.0)
            low, high = self.query.ball.box
            reach = np.maximum(self.query.center - low, high - self.query.center)
            keep_apart(self.build, offset, reach, self.separation, both_signs=True)
        else:
            self._pair(x, self._point("y"), first)
        more = {"separation": repr(self.separation)}
        facts = about(self.query, "tangent", self.bounds.summary(), sha256, **more)
        return self.build.program(maximise=False, about=facts)

    def _point(self, name: str) -> Block:
        return point_within(self.build, self.query.ball, self.r, name, Origin(self.bounds.graph.input, name))

    def _pair(self, x: Block, y: Block, first: NetworkCopy) -> None:
        """The second copy, the difference of both, and what must differ."""
        graph, ball = self.bounds.graph, self.query.ball
        d = difference_of_points(self.build, ball, x, y, Origin(graph.input, "d"))
        second = NetworkCopy(self.build, self.bounds, y, "y")
        slopes = slope_bounds(self.bounds, differences(ball))
        gap = DifferenceCopy(self.build, slopes, d, (first, second))
        gap.output.rows(self.build, "equal", "=", np.zeros(graph.output_dim), origin=Origin(graph.output, "d"))
        if self.other is None:
            reach = differences(ball).box[1]
            keep_apart(self.build, Form.of(d), reach, self.separation, both_signs=False)
            return
        copies = [NetworkCopy(self.build, self.other, p, n, prefix="other.") for p, n in ((x, "x"), (y, "y"))]
        slopes = slope_bounds(self.other, differences(ball))
        other = DifferenceCopy(self.build, slopes, d, (copies[0], copies[1]), prefix="other.")
        name = self.other.graph.output
        reach = np.maximum(-slopes.low[name], slopes.high[name])
        keep_apart(self.build, other.output, reach, self.separation, both_signs=False)
