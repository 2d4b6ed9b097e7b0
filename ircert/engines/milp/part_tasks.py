"""What is looked for in parts of a ball: tangents, pairs, and other points with the centre's image.

Before a program is made, bounds over the part exclude most of them: images that do not meet, and secants J with
|I - C J| < 1, for which J (x - y) = 0 leaves x = y only.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ircert.bounds.bounds import Bounds
from ircert.bounds.contraction import keeps_apart, largest_kernel
from ircert.bounds.slopes import secants, slope_bounds
from ircert.engines.milp.part_search import Candidate, Look, Task, TooDelicate
from ircert.engines.optimum.far_pairs import balanced
from ircert.errors import ProgramError
from ircert.geometry.ball import Ball
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph
from ircert.programs.encodings.analyse import analyse
from ircert.programs.encodings.apart import differences
from ircert.programs.formulations.apart import Place, apart
from ircert.programs.formulations.tangent import tangent
from ircert.programs.program import Program
from ircert.questions.query import Query

SEAM = 2.0**-20
"""Parts overlap by this share of the radius, so that a kink on the border of two parts is open in both."""
STEPS = (2.0**-4, 2.0**-8, 2.0**-14)
"""How far on both sides of a tangent candidates lie, in parts of the radius."""


def checked(program: Program) -> Program:
    """The program, or one that holds it and has coefficients closer together; TooDelicate if there is none."""
    try:
        return balanced(program)
    except ProgramError as error:
        raise TooDelicate(str(error)) from None


@dataclass
class Kinks(Task):
    """Points with a tangent (thickness 0), or middles of pairs that are up to the thickness apart."""

    graph: Graph
    query: Query
    thickness: float = 0.0
    points: int = 1

    def __post_init__(self) -> None:
        self.finest = self.thickness / 2

    def look(self, parts: list[Ball]) -> Look | None:
        (part,) = parts
        room = max(self.thickness / 2 * (1 + 1e-12), SEAM * part.radius)
        wider = replace(
            part,
            low=np.maximum(part.low - room, self.query.ball.low),
            high=np.minimum(part.high + room, self.query.ball.high),
        )
        bounds = analyse(self.graph, wider)
        if keeps_apart(*secants(bounds)):
            return None
        return Look(
            bounds.count_unstable(),
            lambda: checked(tangent(bounds, self.query, self.graph.sha256, self.thickness, ball=part)),
        )

    def candidates(self, program: Program, point: Array, center: Array) -> list[Candidate]:
        """Pairs on both sides of the point, along its direction."""
        x, v = (point[program.block(name).where] for name in ("x", "v"))
        radius = float(np.abs(x - center).max()) or 1.0
        steps = [step * radius for step in STEPS] + [self.thickness / 2] * (self.thickness > 0)
        return [(x + step * v, x - step * v) for step in steps]


@dataclass
class Pairs(Task):
    """Pairs with one image that are (or whose gaps in another network are) at least a separation apart."""

    graph: Graph
    other: Graph | None
    query: Query
    separation: float
    points: int = 2
    finest: float = 0.0
    _places: dict[bytes, Place] = field(default_factory=dict)

    def look(self, parts: list[Ball]) -> Look | None:
        first, second = (self._place(part) for part in parts)
        if _image_misses(first.bounds, second.bounds):
            return None
        ball = differences(first.ball, second.ball)
        if first.other is None or second.other is None:
            most = ball.box[1]
        else:
            slopes = slope_bounds(first.other.joined(second.other), ball)
            most = slopes.high[slopes.graph.output]
        if not (most >= self.separation).any() or self._excluded(first, second, ball):
            return None
        return Look(
            sum(place.bounds.count_unstable() for place in (first, second)),
            lambda: checked(apart(first, second, self.query, self.graph.sha256, self.separation)),
        )

    def _excluded(self, first: Place, second: Place, ball: Ball) -> bool:
        """Whether the secants leave no difference of two points, or (without another network) only small ones."""
        low, high = secants(first.bounds.joined(second.bounds))
        if keeps_apart(low, high):
            return True
        largest = largest_kernel(low, high, ball.box)
        return largest is None or (self.other is None and bool((largest < self.separation).all()))

    def candidates(self, program: Program, point: Array, center: Array) -> list[Candidate]:
        """The pair itself."""
        return [(point[program.block("x").where], point[program.block("y").where])]

    def _place(self, part: Ball) -> Place:
        key = part.low.tobytes() + part.high.tobytes() + np.float64(part.radius).tobytes()
        if key not in self._places:
            other = None if self.other is None else analyse(self.other, part)
            self._places[key] = Place(part, analyse(self.graph, part), other)
        return self._places[key]


@dataclass
class Others(Task):
    """Points with the centre's image, at least a separation away from it."""

    graph: Graph
    query: Query
    separation: float
    points: int = 1
    finest: float = 0.0

    def __post_init__(self) -> None:
        center = self.query.center
        self._at_center = analyse(self.graph, replace(self.query.ball, low=center, high=center))

    def look(self, parts: list[Ball]) -> Look | None:
        (part,) = parts
        bounds = analyse(self.graph, part)
        if _image_misses(bounds, self._at_center) or keeps_apart(*secants(bounds.joined(self._at_center))):
            return None
        return Look(
            bounds.count_unstable(),
            lambda: checked(apart(Place(part, bounds), None, self.query, self.graph.sha256, self.separation)),
        )

    def candidates(self, program: Program, point: Array, center: Array) -> list[Candidate]:
        """The point and the centre."""
        return [(point[program.block("x").where], center)]


def _image_misses(a: Bounds, b: Bounds) -> bool:
    name = a.graph.output
    return bool(((a.low[name] > b.high[name]) | (a.high[name] < b.low[name])).any())
