"""Constants of a network's parts: of the network, and of its inverse where its structure has one (L-9)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ircert.bounds.operator_norms import Unbounded
from ircert.exact.rounding import rounded_down, rounded_up
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.ir.graph import Graph
from ircert.limits import Deadline, OutOfTime, until
from ircert.result.radius import End
from ircert.structure.growth import lipschitz_bound_in
from ircert.structure.inverse import length_up, stretches
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
    try:
        with until(Deadline(SHARE * deadline.left())):
            if graph.output_dim >= graph.input_dim:
                below = inverse_bound(graph, inputs, norm)
            above = _bound(graph, inputs, norm)
    except OutOfTime:
        pass
    return above, below


def _bound(graph: Graph, inputs: Range, norm: Norm) -> End:
    try:
        return End(rounded_up(lipschitz_bound_in(graph, ranges(graph, inputs), norm)), CONSTANTS)
    except Unbounded:
        return End(np.inf, CONSTANTS)


def inverse_bound(graph: Graph, inputs: Range, norm: Norm) -> End:
    """A bound below of L', of a network that is injective by structure; 0 where none is found."""
    knowledge = Knowledge(graph)
    size = length_up(stretches(knowledge, inputs), norm) if knowledge.is_injective else math.inf
    return End(rounded_down(1 / Fraction(size)) if size < math.inf else 0.0, INVERSES)
