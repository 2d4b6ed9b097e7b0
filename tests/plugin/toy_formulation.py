"""first-gap: how far two points with one image differ in their first coordinate."""

from dataclasses import dataclass

import numpy as np

from ircert.programs.build import ProgramBuilder
from ircert.programs.encodings.ball import point_of_ball
from ircert.programs.encodings.form import Form
from ircert.programs.encodings.network import NetworkCopy
from ircert.programs.formulations.about import about
from ircert.programs.formulations.base import Formulation
from ircert.programs.program import Origin


@dataclass(frozen=True)
class FirstGap(Formulation):
    """max x_0 - y_0 over pairs of the ball with f(x) = f(y)."""

    name = "first-gap"

    def program(self, asked):
        """Two copies of the network, equal outputs, one objective."""
        build, query, graph = ProgramBuilder(), asked.query, asked.bounds.graph
        points = [point_of_ball(build, query.ball, tag, Origin(graph.input, tag)) for tag in "xy"]
        x, y = (NetworkCopy(build, asked.bounds, point, tag) for point, tag in zip(points, "xy", strict=True))
        x.output.plus(y.output, -1.0).rows(build, "equal", "=", np.zeros(graph.output_dim), origin=Origin(graph.output))
        gap = build.variables("gap", 1, 0.0, 2 * query.radius)
        first = [Form.of(point).take(np.array([0])) for point in points]
        first[0].plus(first[1], -1.0).rows(build, "first", "=", np.zeros(1), (gap, -1.0))
        build.maximise(gap)
        return build.program(about=about(query, self.name, asked.bounds.summary(), asked.sha256))
