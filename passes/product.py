"""product: the question about pairs of points, as a mixed-integer program.

    local:      max |x - y|          x, y in the ball,  f(x) = f(y)
    pseudo:     max |x - c|          x in the ball,     f(x) = f(c)     (the copy at c is numbers: no binaries)
    transform:  max |g(x) - g(y)|    x, y in the ball,  f(x) = f(y)

This is the paper's formulation, with its slips mended: each copy has binaries of its own, and for `transform` the slack
of the indicators comes from the bounds of g's outputs, because 4 r would cut off real gaps.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

import numpy as np

from ircert import __version__
from ircert.encodings.analyse import Method, analyse
from ircert.encodings.ball import point_of_ball
from ircert.encodings.distance import maximise_length
from ircert.encodings.form import Form
from ircert.encodings.network import NetworkCopy
from ircert.errors import QueryError
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph
from ircert.passes.base import Pass, Rewrite
from ircert.passes.canonicalize import Canonicalize
from ircert.passes.fuse_affine import FuseAffine
from ircert.programs.build import ProgramBuilder
from ircert.programs.program import Block, Origin, Program
from ircert.query import Query

Indicators = Literal["paper", "half"]


@dataclass(frozen=True)
class Product(Pass[Graph, Program]):
    """The program of a question about two copies of the network (or one copy and a constant, for `pseudo`).

    bounds:     which analysis bounds the neurons (interval, symbolic or lp)
    indicators: `paper` has F and F'; `half` has F alone, for `local` with the L-infinity objective only, where
                swapping x and y changes nothing
    """

    name = "product"
    takes = Graph
    gives = Program
    requires = ("canonical",)
    problem: str
    center: tuple[float, ...]
    radius: float
    norm: str = "inf"
    objective_norm: str | None = None
    other: Graph | None = None
    domain: tuple[tuple[float, ...], ...] | None = None
    bounds: Method = "symbolic"
    indicators: Indicators = "paper"

    @property
    def query(self) -> Query:
        """The question that the options ask."""
        box = None if self.domain is None else (self.domain[0], self.domain[1])
        return Query(self.problem, self.center, self.radius, self.norm, self.other, box, self.objective_norm)

    def run(self, source: Graph) -> Rewrite[Program]:
        """Bounds, copies, output equality, objective."""
        return Rewrite(_Question(source, self.query, self.bounds, self.indicators, source.sha256).program())


def program(
    graph: Graph,
    query: Query,
    formulation: Literal["paper"] = "paper",
    *,
    bounds: Method = "symbolic",
    indicators: Indicators = "paper",
) -> Program:
    """The mixed-integer program of a question about any piecewise-linear graph, as data."""
    for what, given, known in (
        ("formulation", formulation, ("paper",)),
        ("bounds analysis", bounds, get_args(Method)),
        ("kind of indicators", indicators, get_args(Indicators)),
    ):
        if given not in known:
            raise QueryError(f"there is no {what} {given!r}", remedy=f"there are: {', '.join(known)}")
    return _Question(canonical(graph), query, bounds, indicators, graph.sha256).program()


def canonical(graph: Graph) -> Graph:
    """The graph as encodings want it: core operations only, neighbouring affine maps fused where that is exact."""
    return FuseAffine().run(Canonicalize().run(graph).result).result


class _Question:
    def __init__(self, graph: Graph, query: Query, method: Method, indicators: Indicators, sha256: str) -> None:
        query.check(graph)
        self.graph = graph
        self.sha256 = sha256
        self.query = query
        self.method = method
        self.half = indicators == "half" and query.problem == "local"
        self.build = ProgramBuilder()
        self.bounds = analyse(graph, query.ball, method)

    def program(self) -> Program:
        x = point_of_ball(self.build, self.query.ball, "x", Origin(self.graph.input, "x"))
        first = NetworkCopy(self.build, self.bounds, x, "x")
        if self.query.problem == "pseudo":
            self._equal_to_center(first.output)
            d, reach = Form.of(x).plus(Form.fixed(self.query.center), -1.0), self._reach_from_center()
        else:
            y = point_of_ball(self.build, self.query.ball, "y", Origin(self.graph.input, "y"))
            second = NetworkCopy(self.build, self.bounds, y, "y")
            self._equal(first.output, second.output)
            low, high = self.query.ball.box
            d, reach = Form.of(x).plus(Form.of(y), -1.0), high - low
            if self.query.other is not None:
                d, reach = self._other_difference(self.query.other, x, y)
        maximise_length(self.build, d, reach, self.query.objective_norm, half=self.half)
        return self.build.program(about=self._about())

    def _equal(self, a: Form, b: Form) -> None:
        a.plus(b, -1.0).rows(self.build, "equal", "=", np.zeros(len(a)), origin=Origin(self.graph.output))

    def _equal_to_center(self, output: Form) -> None:
        """f(x) = f(c): the constants cancel before anything rounds."""
        values = zip(self.graph.exact(self.query.center), output.constant.tolist(), strict=True)
        rest = np.array([float(value - Fraction(constant)) for value, constant in values])
        linear = Form(output.terms, np.zeros(len(rest)))
        linear.rows(self.build, "equal", "=", rest, origin=Origin(self.graph.output))

    def _reach_from_center(self) -> Array:
        low, high = self.query.ball.box
        return np.maximum(self.query.center - low, high - self.query.center)

    def _other_difference(self, other: Graph, x: Block, y: Block) -> tuple[Form, Array]:
        graph = canonical(other)
        bounds = analyse(graph, self.query.ball, self.method)
        copies = [NetworkCopy(self.build, bounds, point, tag, prefix="other.") for point, tag in ((x, "x"), (y, "y"))]
        low, high = bounds.low[graph.output], bounds.high[graph.output]
        return copies[0].output.plus(copies[1].output, -1.0), high - low

    def _about(self) -> dict[str, str]:
        query = self.query
        facts = {
            "problem": query.problem,
            "formulation": "paper",
            "norm": query.norm,
            "objective norm": query.objective_norm,
            "center": ",".join(repr(v) for v in query.center.tolist()),
            "radius": repr(query.radius),
            "bounds": self.bounds.summary(),
            "model sha256": self.sha256,
        }
        if query.other is not None:
            facts["other sha256"] = query.other.sha256
        return {**facts, "made by": f"ircert {__version__}"}
