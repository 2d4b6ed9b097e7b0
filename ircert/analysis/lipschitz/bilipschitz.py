"""`ircert.bilipschitz`: how much a network stretches and shrinks distances on a ball."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from ircert.analysis.asked_ball import BallLike, ball_for
from ircert.analysis.lipschitz import boxes, curves, enclosures, exact, one_matrix, parts
from ircert.analysis.lipschitz.bracket import BiLipschitz, Bracket, unless_pinned
from ircert.answering import certifiable, check_limits
from ircert.certification import certify
from ircert.frontends.load import load
from ircert.geometry.ball import Ball
from ircert.geometry.domain import Box, DomainLike
from ircert.geometry.norm import Norm, norm_of
from ircert.ir.graph import Graph
from ircert.ir.ops import is_smooth
from ircert.limits import Deadline, until
from ircert.questions.network import first_uncertifiable, lowered
from ircert.result.radius import End
from ircert.result.witness import Witness
from ircert.structure.known import Knowledge
from ircert.threads import one_thread

COLLISION = "two points with the same output"
ON_BOXES = 0.25
"""The part of the time that is kept for boxes that bound L."""
NARROW = 1e-6
"""A bracket of L' of this relative width is not made narrower."""
INJECTIVE = "f is injective on the ball, but no bound on the quotients is known"


def bilipschitz(
    graph: Any,
    ball: BallLike,
    norm: Any = None,
    *,
    domain: DomainLike | None = None,
    time_limit: float | None = 20.0,
    seed: int = 0,
) -> BiLipschitz:
    """L, L' and L* = max(L, 1/L') of a network on a closed ball (center, radius[, norm]), cut with a domain.

        L = sup |f(x) - f(y)| / |x - y|,   L' = inf |f(x) - f(y)| / |x - y|,   x != y in the ball

    `norm` is that of the quotients, by default the ball's. With one or two inputs L is exact, and L' is exact or in a
    narrow bracket where there are as many outputs as inputs, or one input; elsewhere both lie between certified bounds.
    The time limit is for networks with more inputs and for the question whether f is injective, where bounds leave it
    open.
    """
    check_limits(time_limit, seed)
    network = _asked(graph)
    body = ball_for(network, ball, domain)
    unless_pinned(body)
    measured = body.norm if norm is None else norm_of(norm)
    deadline = Deadline(math.inf if time_limit is None else float(time_limit))
    # what overflows says nothing, and need not be reported
    with one_thread(), np.errstate(all="ignore"):
        cut = _boxes(network, body, measured)
        own = deadline if cut is None else Deadline((1 - ON_BOXES) * deadline.left())
        upper, lower = _bounds(network, body, measured, own, seed)
        is_open = not lower.low and bool(lower.high)
        upper = _reduced(upper, cut, Deadline(deadline.left() / 2) if is_open else deadline)
    witness = None
    if is_open:
        lower, witness = _decided(network, body, lower, max(deadline.left(), 1.0), seed)
        with one_thread():
            upper = _reduced(upper, cut, deadline)
    return BiLipschitz(upper, lower, body, measured, network, witness)


def _asked(given: Any) -> Graph:
    """A graph that a search takes, or one that is injective by its structure."""
    graph = given if isinstance(given, Graph) else load(given)
    by_form = first_uncertifiable(graph) is not None and Knowledge(graph).is_injective
    return graph if by_form else certifiable(graph, "the network")


def _bounds(network: Graph, body: Ball, norm: Norm, deadline: Deadline, seed: int) -> tuple[Bracket, Bracket]:
    """L and L' without the question whether f is injective."""
    ends = parts.bounds(network, body, norm, deadline)
    if first_uncertifiable(network) is not None or any(is_smooth(node.op) for node in network.nodes):
        return _within(ends, *curves.bounds(network, body, norm, deadline, seed))
    if network.input_dim <= 2:
        upper, lower = exact.extremes(network, body, norm)
    else:
        upper, lower = enclosures.bounds(network, body, norm, deadline, seed)
    upper, lower = _within(ends, upper, lower)
    if network.output_dim >= network.input_dim > 2 or network.output_dim > network.input_dim == 2:
        lower = _raised(network, body, norm, lower, deadline, seed)
    return upper, lower


def _boxes(network: Graph, body: Ball, norm: Norm) -> boxes.StretchOnBoxes | None:
    """Boxes that may bound L, where nothing else knows it exactly."""
    if first_uncertifiable(network) is not None or not boxes.StretchOnBoxes.serves(network):
        return None
    if network.input_dim <= 2 and not any(is_smooth(node.op) for node in network.nodes):
        return None
    return boxes.StretchOnBoxes(lowered(network), body, norm)


def _reduced(upper: Bracket, cut: boxes.StretchOnBoxes | None, deadline: Deadline) -> Bracket:
    """L with a smaller upper end, where boxes show one in time."""
    if cut is None:
        return upper
    with until(deadline):
        cut.advance(float(upper.low))
    above = End(max(cut.bound, float(upper.low)), boxes.BOXES)
    return Bracket(upper.low, above) if above < upper.high else upper


def _within(ends: tuple[End, End], upper: Bracket, lower: Bracket) -> tuple[Bracket, Bracket]:
    """Brackets with better ends, where they are better; rounding must not turn a bracket around."""
    above, below = ends
    if above < upper.high:
        upper = Bracket(upper.low, max(above, End(float(upper.low), above.evidence)))
    if below > lower.low:
        lower = Bracket(min(below, End(float(lower.high), below.evidence)), lower.high)
    return upper, lower


def _raised(graph: Graph, ball: Ball, norm: Norm, lower: Bracket, deadline: Deadline, seed: int) -> Bracket:
    """L' with a larger lower end where one matrix gives it; half of the time is left where nothing else is known."""
    if lower.low >= lower.high * (1 - NARROW):
        return lower
    own = deadline if lower.low else Deadline(deadline.left() / 2)
    found = one_matrix.at_least(lowered(graph), ball, norm, lower.low, own, seed)
    return Bracket(found if found <= lower.high else End(float(lower.high), found.evidence), lower.high)


def _decided(graph: Graph, ball: Ball, lower: Bracket, seconds: float, seed: int) -> tuple[Bracket, Witness | None]:
    """L' = 0 where f is not injective; otherwise what is known."""
    domain = Box(ball.low, ball.high) if np.isfinite([ball.low, ball.high]).any() else None
    found = certify(
        graph, ball.center, norm=ball.norm, radius=ball.radius, domain=domain, time_limit=seconds, seed=seed
    )
    if found.verdict == "certified":
        return Bracket(End(0.0, INJECTIVE), lower.high), None
    if found.verdict == "unresolved":
        return lower, None
    zero = End(0.0, COLLISION, Fraction(0))
    return Bracket(zero, zero), found.witness
