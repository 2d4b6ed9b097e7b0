"""paper: the question about pairs of points, as a mixed-integer program.

    local:      max |x - y|          x, y in the ball,  f(x) = f(y)
    pseudo:     max |x - c|          x in the ball,     f(x) = f(c)     (the copy at c is numbers: no binaries)
    transform:  max |g(x) - g(y)|    x, y in the ball,  f(x) = f(y)

This is the paper's formulation, with its slips mended: each copy has binaries of its own, and for `transform` the slack
of the indicators comes from the bounds of g's outputs, because 4 r would cut off real gaps. For `local` and `transform`
it reads the graph of both points that `dual-copy` makes: its first outputs must vanish, its second ones are measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ircert.bounds.bounds import Bounds
from ircert.errors import ProgramError
from ircert.ir.arrays import Array
from ircert.programs.build import ProgramBuilder
from ircert.programs.encodings.ball import point_of_ball
from ircert.programs.encodings.distance import maximise_length
from ircert.programs.encodings.form import Form
from ircert.programs.encodings.network import NetworkCopy
from ircert.programs.formulations.about import about
from ircert.programs.formulations.base import Asked, Formulation
from ircert.programs.formulations.differences import DifferenceRows, differential_bounds
from ircert.programs.formulations.pair import PairRows
from ircert.programs.program import Block, Origin, Program


@dataclass(frozen=True)
class Paper(Formulation):
    """The program of a question about two copies of the network (or one copy and a constant, for `pseudo`).

    indicators: `paper` has F and F'; `half` has F alone, for `local` with the L-infinity objective only, where
                swapping x and y changes nothing
    differences: rows on the differences of what both copies compute, where there are two: they are implied, and help
    """

    name = "paper"
    indicators: Literal["paper", "half"] = "paper"
    differences: bool = False

    def reads_pairs(self, problem: str) -> bool:
        """All but `pseudo`, whose second copy is one exact vector."""
        return problem != "pseudo"

    def program(self, asked: Asked) -> Program:
        """Copies, output equality, objective."""
        query, build = asked.query, ProgramBuilder()
        if query.problem == "pseudo":
            gap, reach = _from_center(build, asked)
        else:
            gap, reach = _between_points(build, asked, differences=self.differences)
        half = self.indicators == "half" and query.problem == "local"
        maximise_length(build, gap, reach, query.objective_norm, half=half)
        norm = {"objective norm": query.objective_norm}
        return build.program(about=about(query, "paper", asked.bounds.summary(), asked.sha256, **norm))


def _between_points(build: ProgramBuilder, asked: Asked, *, differences: bool) -> tuple[Form, Array]:
    """The gap of the second outputs of both points' graph, and bounds on its size, where the first outputs vanish."""
    graph, query = asked.bounds.graph, asked.query

    def point(name: str) -> Block:
        return point_of_ball(build, query.ball, name, Origin(graph.input, name))

    rows = PairRows(build, asked.bounds, point)
    if differences:
        DifferenceRows(build, rows, differential_bounds(asked.bounds))
    apart = rows.output
    size = query.other.output_dim if query.other is not None else len(query.center)
    equal, gap = (apart.take(part) for part in np.split(np.arange(len(apart)), [-size]))
    equal.rows(build, "equal", "=", np.zeros(len(equal)), origin=Origin(graph.output))
    if query.other is None:
        low, high = query.ball.box
        return gap, np.nextafter(high - low, np.inf)
    return gap, _reach(asked.bounds)[-size:]


def _reach(bounds: Bounds) -> Array:
    """Bounds on the sizes of the outputs."""
    output = bounds.graph.output
    reach = np.maximum(-bounds.low[output], bounds.high[output])
    if not np.isfinite(reach).all():
        raise ProgramError(f"node `{output}` has no finite bounds on this ball", remedy="use a smaller ball")
    return reach


def _from_center(build: ProgramBuilder, asked: Asked) -> tuple[Form, Array]:
    """The gap x - c and bounds on its size, where x has the centre's image; that image is exact."""
    graph, query = asked.bounds.graph, asked.query
    x = point_of_ball(build, query.ball, "x", Origin(graph.input, "x"))
    output = NetworkCopy(build, asked.bounds, x, "x").output
    output.equals(build, "equal", graph.exact(query.center), Origin(graph.output))
    low, high = query.ball.box
    reach = np.nextafter(np.maximum(query.center - low, high - query.center), np.inf)
    return Form.of(x).plus(Form.fixed(query.center), -1.0), reach
