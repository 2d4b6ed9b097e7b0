"""From a collision to ones that are further apart: linear programs over pairs of linear regions, one after the other.

All in floats, and nothing is proved: the pair that comes out is to be repaired and evaluated exactly.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ircert.ir.arrays import Array
from ircert.ir.graph import Graph
from ircert.limits import OutOfTime
from ircert.questions.query import Query
from ircert.witnesses.near_program import NearProgram
from ircert.witnesses.repair import MARGIN, Box, Pair, Regions, Vector

ROUNDS = 200
ROOMS = {"inf": (2.0,), "1": (2.0,), "2": (1.0, 0.1, 3e-2, 1e-2, 3e-3, 1e-3, 1e-4)}
"""How far a step may go, in parts of the radius: through the whole of a region, unless the ball is round."""
COORDINATES = 8
"""So many coordinates are tried in norm inf where the largest one does not grow."""
BETTER = 1 + 1e-7
BEYOND = 1e-5
"""How far beyond a kink a new region is looked for, in parts of the radius."""


def climbed(graph: Graph, query: Query, start: Pair, enough: float) -> Pair:
    """A pair further apart than a given one, if there is one in reach: all the way to `enough`, or until time is up.

    The graph must be canonical, and the given pair a collision in the ball.
    """
    climb = _Climb(graph, query)
    points = [start[0]] if query.problem == "pseudo" else list(start)
    goal = enough / (query.radius if query.other is None else 1.0)
    try:
        with np.errstate(all="ignore"):
            for _ in range(ROUNDS):
                program = climb.program(points)
                found = climb.further(program)
                if found is None:
                    break
                points = [climb.box.point(offsets) for offsets in found]
                if program.length(found) * BETTER >= goal:
                    break
    except OutOfTime:
        pass
    return points[0], points[1] if len(points) > 1 else climb.box.center


class _Climb:
    """Steps of a climb; those that are too long for a round ball are not tried again and again."""

    def __init__(self, graph: Graph, query: Query) -> None:
        self.graph, self.query, self.box = graph, query, Box.of(query)
        self._rooms = ROOMS[query.norm]
        self._level = 0

    def program(self, points: Sequence[Vector]) -> NearProgram:
        """The pairs on the linear regions of a pair."""
        return Regions(self.graph, self.query, self.box, list(points)).program

    def further(self, program: NearProgram) -> list[Array] | None:
        """The offsets of a pair that is further apart: on the same regions, or on those behind a kink."""
        here = [side.offsets for side in program.sides]
        value = program.length(here) * BETTER
        for level in range(max(0, self._level - 1), len(self._rooms)):
            found = self._step(program, here, value, self._rooms[level])
            if found is not None:
                self._level = level
                return found
        return self._other_coordinate(program, value)

    def _step(self, program: NearProgram, here: list[Array], value: float, room: float) -> list[Array] | None:
        found = program.best(MARGIN, room=room)
        if found is not None and program.length(found) > value:
            return found
        ahead = program.best(0.0, room=room, over_kinks=True)
        if ahead is None or program.length(ahead) <= value:
            return None
        behind = self.program([self.box.point(offsets) for offsets in _towards(here, ahead)])
        found = behind.best(MARGIN, room=room)
        return found if found is not None and behind.length(found) > value else None

    def _other_coordinate(self, program: NearProgram, value: float) -> list[Array] | None:
        for form in program.others(value)[:COORDINATES]:
            found = program.best(MARGIN, room=self._rooms[0], cost=form)
            if found is not None and program.length(found) > value:
                return found
        return None


def _towards(here: list[Array], ahead: list[Array]) -> list[Array]:
    way = max(float(np.abs(b - a).max(initial=0.0)) for a, b in zip(here, ahead, strict=True))
    share = min(1.0, BEYOND / way) if way > 0 else 0.0
    return [a + share * (b - a) for a, b in zip(here, ahead, strict=True)]
