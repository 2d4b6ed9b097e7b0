"""tangent: how far a network is surely locally injective, as one mixed-integer program.

    T = min r    |x - c| <= r,    f'(x; v) = 0 with slopes that are free at kinks,    |v| <= 1 with v_j = 1 for some j

If f is not locally injective at x, then nearby pairs have equal images; their differences over their distances have
a limit v, which solves this at x. So T bounds the distance from c to such points from below. It says *nothing* about
points that are far apart, and a solution is no collision.

With thickness δ it excludes pairs up to δ apart (in the L-infinity norm): x is their middle, and slopes are free near
kinks too. Together with `apart`, which excludes the others, that is a bound on the radius of injectivity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ircert.bounds.bounds import Bounds
from ircert.bounds.slopes import slope_bounds
from ircert.errors import QueryError
from ircert.geometry.ball import Ball
from ircert.programs.build import ProgramBuilder
from ircert.programs.encodings.network import NetworkCopy
from ircert.programs.encodings.radius import point_within, variable_radius
from ircert.programs.encodings.tangent import DirectionCopy, KinkedCopy, direction, unit_directions
from ircert.programs.formulations.about import about
from ircert.programs.formulations.apart import Place, apart
from ircert.programs.formulations.base import Asked, Formulation
from ircert.programs.program import Origin, Program
from ircert.questions.network import LOWERING, MERGING
from ircert.questions.query import Query


@dataclass(frozen=True)
class Tangent(Formulation):
    """The program of T for the ball of a radius, beyond which nothing is looked at; `apart` for `pseudo`.

    Neurons that are multiples of each other share slopes: they are merged before anything else.

    thickness:  δ, 0 for derivatives
    coordinate: j, or none for a program that picks it
    """

    name = "tangent"
    passes = f"{LOWERING},{MERGING}"
    thickness: float = 0.0
    coordinate: int | None = None

    def check(self, query: Query) -> None:
        """QueryError for `transform`."""
        if query.problem == "transform":
            raise QueryError(
                "the formulation `tangent` is for `local` and `pseudo`",
                remedy="use the formulation `paper`, or apart{separation=…}",
            )

    def program(self, asked: Asked) -> Program:
        """T, or the nearest other point with the centre's image."""
        if asked.query.problem == "pseudo":
            return apart(Place(asked.query.ball, asked.bounds), None, asked.query, asked.sha256)
        return tangent(asked.bounds, asked.query, asked.sha256, self.thickness, self.coordinate)


def tangent(
    bounds: Bounds,
    query: Query,
    sha256: str,
    thickness: float = 0.0,
    coordinate: int | None = None,
    ball: Ball | None = None,
) -> Program:
    """The program of T (or of T with a thickness) for x in a ball, by default that of the question.

    `bounds` are those of a merged graph over the ball; with a thickness, over all that is half as far from it.
    """
    if not 0 <= thickness < math.inf:
        raise QueryError(f"the thickness must be a number of at least 0, got {thickness!r}")
    graph, ball = bounds.graph, ball or query.ball
    slopes = slope_bounds(bounds, unit_directions(ball, coordinate))
    build = ProgramBuilder()
    r = variable_radius(build, ball)
    x = point_within(build, ball, r, "x", Origin(graph.input, "x"))
    copy = (NetworkCopy if thickness else KinkedCopy)(build, bounds, x, "x")
    derivative = DirectionCopy(build, slopes, direction(build, slopes, coordinate), copy, thickness)
    zero = np.zeros(graph.output_dim)
    derivative.output.rows(build, "still", "=", zero, origin=Origin(graph.output, "v"))
    more = {"thickness": repr(thickness)} if thickness else {}
    return build.program(maximise=False, about=about(query, "tangent", bounds.summary(), sha256, **more))
