"""Parts that are certainly injective on a ball: an interval matrix of their secants has no kernel.

f(x) - f(y) = J (x - y) for x and y of the ball, with a J between two matrices; if no such J has a kernel, different
points have different outputs. It takes no search, so that many parts need none.
"""

from __future__ import annotations

import numpy as np

from ircert.bounds.contraction import keeps_apart
from ircert.bounds.slopes import secants
from ircert.bounds.symbolic import symbolic_bounds
from ircert.engines.base import Question

EVIDENCE = "secants on the ball have no kernel"
LARGEST = 64
"""Inputs of parts that are looked at."""


def is_injective_on(question: Question, radius: float) -> bool:
    """Whether a network of linear regions is injective on the closed ball, for sure; False says nothing."""
    graph = question.graph
    if question.is_smooth or question.other is not None or graph.input_dim > LARGEST or not np.isfinite(radius):
        return False
    simple = graph if all(node.op.core for node in graph.nodes) else question.network.lowered
    with np.errstate(all="ignore"):
        return keeps_apart(*secants(symbolic_bounds(simple, question.place.ball(radius))))
