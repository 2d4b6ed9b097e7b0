"""product: the question about pairs of points, as a mixed-integer program.

    local:      max |x - y|          x, y in the ball,  f(x) = f(y)
    pseudo:     max |x - c|          x in the ball,     f(x) = f(c)     (the copy at c is numbers: no binaries)
    transform:  max |g(x) - g(y)|    x, y in the ball,  f(x) = f(y)

This is the paper's formulation, with its slips mended: each copy has binaries of its own, and for `transform` the slack
of the indicators comes from the bounds of g's outputs, because 4 r would cut off real gaps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from ircert.errors import QueryError
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph
from ircert.passes.apart_product import Place, apart
from ircert.passes.base import Pass, Rewrite
from ircert.passes.fuse_affine import canonical as canonical
from ircert.passes.merge_multiples import merged
from ircert.passes.tangent_product import tangent
from ircert.programs.build import ProgramBuilder
from ircert.programs.encodings.analyse import Method, analyse
from ircert.programs.encodings.ball import point_of_ball
from ircert.programs.encodings.distance import maximise_length
from ircert.programs.encodings.form import Form
from ircert.programs.encodings.network import NetworkCopy
from ircert.programs.formulations.about import about
from ircert.programs.program import Block, Origin, Program
from ircert.questions.query import Query

Indicators = Literal["paper", "half"]
Formulation = Literal["paper", "tangent"]


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
    domain: tuple[tuple[float, ...], tuple[float, ...]] | None = None
    bounds: Method = "symbolic"
    indicators: Indicators = "paper"

    @property
    def query(self) -> Query:
        """The question that the options ask."""
        box = None if self.domain is None else {"low": self.domain[0], "high": self.domain[1]}
        return Query(self.problem, self.center, self.radius, self.norm, self.other, box, self.objective_norm)

    @np.errstate(over="ignore", invalid="ignore")
    def run(self, source: Graph) -> Rewrite[Program]:
        """Bounds, copies, output equality, objective."""
        return Rewrite(_Question(source, self.query, self.bounds, self.indicators, source.sha256).program())


@np.errstate(over="ignore", invalid="ignore")  # what is not finite is refused by the program itself
def program(
    graph: Graph,
    query: Query,
    formulation: Formulation = "paper",
    *,
    bounds: Method = "symbolic",
    indicators: Indicators = "paper",
) -> Program:
    """The mixed-integer program of a question about any piecewise-linear graph, as data.

    `paper` maximises the distance of two points with one image; `tangent` minimises a radius (`tangent-product` for
    `local`, `apart-product` for `pseudo`), which is at most that of the question.
    """
    for what, given, known in (
        ("formulation", formulation, get_args(Formulation)),
        ("bounds analysis", bounds, get_args(Method)),
        ("kind of indicators", indicators, get_args(Indicators)),
    ):
        if given not in known:
            raise QueryError(f"there is no {what} {given!r}", remedy=f"there are: {', '.join(known)}")
    if formulation == "tangent":
        return _nearest(graph, query, bounds)
    return _Question(canonical(graph), query, bounds, indicators, graph.sha256).program()


def _nearest(graph: Graph, query: Query, method: Method) -> Program:
    query.check(graph)
    if query.problem == "transform":
        raise QueryError(
            "the formulation `tangent` is for `local` and `pseudo`",
            remedy="use the formulation `paper`, or the pass `apart-product` with a separation",
        )
    bounds = analyse(merged(canonical(graph)), query.ball, method)
    if query.problem == "pseudo":
        return apart(Place(query.ball, bounds), None, query, graph.sha256)
    return tangent(bounds, query, graph.sha256)


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
            value = self.graph.exact(self.query.center)
            first.output.equals(self.build, "equal", value, Origin(self.graph.output))
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
        norm = {"objective norm": self.query.objective_norm}
        return self.build.program(about=about(self.query, "paper", self.bounds.summary(), self.sha256, **norm))

    def _equal(self, a: Form, b: Form) -> None:
        a.plus(b, -1.0).rows(self.build, "equal", "=", np.zeros(len(a)), origin=Origin(self.graph.output))

    def _reach_from_center(self) -> Array:
        low, high = self.query.ball.box
        return np.maximum(self.query.center - low, high - self.query.center)

    def _other_difference(self, other: Graph, x: Block, y: Block) -> tuple[Form, Array]:
        graph = canonical(other)
        bounds = analyse(graph, self.query.ball, self.method)
        copies = [NetworkCopy(self.build, bounds, point, tag, prefix="other.") for point, tag in ((x, "x"), (y, "y"))]
        low, high = bounds.low[graph.output], bounds.high[graph.output]
        return copies[0].output.plus(copies[1].output, -1.0), high - low
