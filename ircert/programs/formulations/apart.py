"""apart: the nearest violation whose points differ by at least a given amount, as a mixed-integer program.

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
from ircert.errors import QueryError
from ircert.geometry.ball import Ball
from ircert.programs.build import ProgramBuilder
from ircert.programs.encodings.apart import DifferenceCopy, difference_of_points, differences, keep_apart
from ircert.programs.encodings.form import Form
from ircert.programs.encodings.isolation import isolation
from ircert.programs.encodings.network import NetworkCopy
from ircert.programs.encodings.radius import point_within, variable_radius
from ircert.programs.formulations.about import about
from ircert.programs.formulations.base import Asked, Formulation
from ircert.programs.program import Block, Origin, Program
from ircert.questions.network import LOWERING, MERGING
from ircert.questions.query import Query


@dataclass(frozen=True)
class Apart(Formulation):
    """The program for pairs that are at least `separation` apart, in the ball of a radius beyond which nothing matters.

    For `pseudo` no separation means the largest one that leaves nothing out near the centre. Neurons that are multiples
    of each other share slopes: they are merged before anything else.
    """

    name = "apart"
    passes = f"{LOWERING},{MERGING}"
    separation: float | None = None

    def program(self, asked: Asked) -> Program:
        """Copies, differences, separation."""
        place = Place(asked.query.ball, asked.bounds, asked.other)
        return apart(place, None, asked.query, asked.sha256, self.separation, self.name)


@dataclass(frozen=True)
class Place:
    """Where one of the points lies: a ball (cut with a box), and bounds of merged graphs over it."""

    ball: Ball
    bounds: Bounds
    other: Bounds | None = None


def apart(
    first: Place,
    second: Place | None,
    query: Query,
    sha256: str,
    separation: float | None = None,
    formulation: str = "tangent",
) -> Program:
    """The program for x in one place and y in another (None: the same); for `pseudo` y is the centre."""
    if separation is None and query.problem == "pseudo":
        separation = isolation(first.bounds, first.ball)
    if separation is None:
        raise QueryError(
            "the formulation `apart` needs the least gap to look for", remedy="write for example apart{separation=0.1}"
        )
    if not 0 < separation < math.inf:
        raise QueryError(
            f"the separation must be a positive number, got {separation!r}", remedy="give the least gap to look for"
        )
    return _Apart((first, second or first), query, separation).program(sha256, formulation)


class _Apart:
    def __init__(self, places: tuple[Place, Place], query: Query, separation: float) -> None:
        self.places = places
        self.graph = places[0].bounds.graph
        self.query = query
        self.separation = separation
        self.build = ProgramBuilder()
        halves = {"local": separation / 2, "pseudo": separation, "transform": 0.0}
        self.r = variable_radius(self.build, places[0].ball, halves[query.problem])

    def program(self, sha256: str, formulation: str) -> Program:
        x, place = self._point("x", self.places[0]), self.places[0]
        first = NetworkCopy(self.build, place.bounds, x, "x")
        if self.query.problem == "pseudo":
            center = self.query.center
            first.output.equals(self.build, "equal", self.graph.exact(center), Origin(self.graph.output))
            offset = Form.of(x).plus(Form.fixed(center), -1.0)
            low, high = (side - center for side in place.ball.box)
            keep_apart(self.build, offset, low, high, self.separation, both_signs=True)
        else:
            self._pair(x, self._point("y", self.places[1]), first)
        more = {"separation": repr(self.separation)}
        facts = about(self.query, formulation, place.bounds.summary(), sha256, **more)
        return self.build.program(maximise=False, about=facts)

    def _point(self, name: str, place: Place) -> Block:
        return point_within(self.build, place.ball, self.r, name, Origin(self.graph.input, name))

    def _pair(self, x: Block, y: Block, first: NetworkCopy) -> None:
        """The second copy, the difference of both, and what must differ."""
        here, there = self.places
        ball = differences(here.ball, there.ball)
        d = difference_of_points(self.build, ball, x, y, Origin(self.graph.input, "d"))
        second = NetworkCopy(self.build, there.bounds, y, "y")
        gap = DifferenceCopy(self.build, slope_bounds(here.bounds.joined(there.bounds), ball), d, (first, second))
        zero = np.zeros(self.graph.output_dim)
        gap.output.rows(self.build, "equal", "=", zero, origin=Origin(self.graph.output, "d"))
        form, (low, high) = Form.of(d), ball.box
        if here.other is not None and there.other is not None:
            sides = ((here.other, x, "x"), (there.other, y, "y"))
            copies = [NetworkCopy(self.build, bounds, point, name, prefix="other.") for bounds, point, name in sides]
            slopes = slope_bounds(here.other.joined(there.other), ball)
            form = DifferenceCopy(self.build, slopes, d, (copies[0], copies[1]), prefix="other.").output
            low, high = (side[slopes.graph.output] for side in (slopes.low, slopes.high))
        keep_apart(self.build, form, low, high, self.separation, both_signs=False)
