"""Constants of a network's parts: of the network, and of its inverse where its structure has one (L-9)."""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction

import numpy as np

from ircert.bounds.operator_norms import Unbounded
from ircert.bounds.rounding import UNIT
from ircert.exact.rounding import rounded_down, rounded_up
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.ir.graph import Graph
from ircert.limits import Deadline, OutOfTime, until
from ircert.result.radius import End
from ircert.structure.growth import lipschitz_bound_in
from ircert.structure.inverse import length_up, stretches
from ircert.structure.inverse_lengths import inverse_length
from ircert.structure.known import Knowledge
from ircert.structure.range import Range
from ircert.structure.ranges import ranges

SHARE = 0.3
"""The part of the time for them."""
CONSTANTS = "norms of the affine maps times slopes of the functions on the ball"
INVERSES = "constants of the inverses of the network's parts on the ball"


def bounds(graph: Graph, ball: Ball, norm: Norm, deadline: Deadline) -> tuple[End, End]:
    """A bound of L and one of L' on the ball; infinite and 0 where none is found in time."""
    inputs = Range.closed(*ball.box)
    above, below = End(math.inf, CONSTANTS), End(0.0, INVERSES)
    with suppress(OutOfTime), until(Deadline(SHARE * deadline.left())):
        knowledge = Knowledge(graph) if graph.output_dim >= graph.input_dim else None
        if knowledge is not None and knowledge.is_injective:
            below = _end(length_up(stretches(knowledge, inputs), norm))
        values = ranges(graph, inputs)
        above = _bound(graph, values, norm)
        if knowledge is not None and knowledge.is_injective:
            below = max(below, *(_end(_by_lengths(knowledge, values, norm, other)) for other in Norm))
    return above, below


def _bound(graph: Graph, values: dict[str, Range], norm: Norm) -> End:
    try:
        return End(rounded_up(lipschitz_bound_in(graph, values, norm)), CONSTANTS)
    except Unbounded:
        return End(np.inf, CONSTANTS)


def _by_lengths(knowledge: Knowledge, values: dict[str, Range], norm: Norm, other: Norm) -> float:
    """A constant of the inverse in one norm, from that in another one (L-12)."""
    graph, found = knowledge.graph, inverse_length(knowledge, values, other)
    changed = _ratio(graph.input_dim, norm, other) * _ratio(graph.output_dim, other, norm)
    return found * changed * (1 + 8 * UNIT)


def _end(size: float) -> End:
    return End(rounded_down(1 / Fraction(size)) if 0.0 < size < math.inf else 0.0, INVERSES)


def _ratio(count: int, first: Norm, second: Norm) -> float:
    """The largest quotient of two norms of so many numbers, rounded up."""
    power = {Norm.ONE: 2, Norm.TWO: 1, Norm.INF: 0}
    return float(np.nextafter(math.sqrt(count) ** max(0, power[first] - power[second]), np.inf)) * (1 + 8 * UNIT)
