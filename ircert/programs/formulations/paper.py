"""paper: the question about pairs of points, as a mixed-integer program.

    local:      max |x - y|          x, y in the ball,  f(x) = f(y)
    pseudo:     max |x - c|          x in the ball,     f(x) = f(c)     (the copy at c is numbers: no binaries)
    transform:  max |g(x) - g(y)|    x, y in the ball,  f(x) = f(y)

This is the paper's formulation, with its slips mended: each copy has binaries of its own, and for `transform` the slack
of the indicators comes from the bounds of g's outputs, because 4 r would cut off real gaps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ircert.bounds.bounds import Bounds
from ircert.ir.arrays import Array
from ircert.programs.build import ProgramBuilder
from ircert.programs.encodings.ball import point_of_ball
from ircert.programs.encodings.distance import maximise_length
from ircert.programs.encodings.form import Form
from ircert.programs.encodings.network import NetworkCopy
from ircert.programs.formulations.about import about
from ircert.programs.formulations.base import Asked, Formulation
from ircert.programs.program import Block, Origin, Program


@dataclass(frozen=True)
class Paper(Formulation):
    """The program of a question about two copies of the network (or one copy and a constant, for `pseudo`).

    indicators: `paper` has F and F'; `half` has F alone, for `local` with the L-infinity objective only, where
                swapping x and y changes nothing
    """

    name = "paper"
    indicators: Literal["paper", "half"] = "paper"

    def program(self, asked: Asked) -> Program:
        """Copies, output equality, objective."""
        return _Question(asked, half=self.indicators == "half" and asked.query.problem == "local").program()


class _Question:
    def __init__(self, asked: Asked, half: bool) -> None:
        self.asked = asked
        self.graph = asked.bounds.graph
        self.query = asked.query
        self.half = half
        self.build = ProgramBuilder()
        self.bounds = asked.bounds

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
            if self.asked.other is not None:
                d, reach = self._other_difference(self.asked.other, x, y)
        maximise_length(self.build, d, reach, self.query.objective_norm, half=self.half)
        norm = {"objective norm": self.query.objective_norm}
        return self.build.program(about=about(self.query, "paper", self.bounds.summary(), self.asked.sha256, **norm))

    def _equal(self, a: Form, b: Form) -> None:
        a.plus(b, -1.0).rows(self.build, "equal", "=", np.zeros(len(a)), origin=Origin(self.graph.output))

    def _reach_from_center(self) -> Array:
        low, high = self.query.ball.box
        return np.maximum(self.query.center - low, high - self.query.center)

    def _other_difference(self, bounds: Bounds, x: Block, y: Block) -> tuple[Form, Array]:
        graph = bounds.graph
        copies = [NetworkCopy(self.build, bounds, point, tag, prefix="other.") for point, tag in ((x, "x"), (y, "y"))]
        low, high = bounds.low[graph.output], bounds.high[graph.output]
        return copies[0].output.plus(copies[1].output, -1.0), high - low
