"""A first ball for large networks, before anything else: that in which no neuron switches."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ircert.bounds.center_region import center_region
from ircert.engines.base import Answer, Cause, Question, Stop, free_inputs
from ircert.engines.instant.derivatives import work
from ircert.engines.sharing import merged
from ircert.limits import OutOfTime, until
from ircert.result.radius import End
from ircert.result.result import Optimum

LEAST_WORK = 1_000_000
"""Weights times inputs from which a search takes a while to begin."""
EVIDENCE = "no neuron switches in it, and its linear map has no kernel"


def from_center_ball(question: Question, ask: Callable[[Question], Answer]) -> Answer:
    """The answer of an engine that starts from the ball around the centre in which no neuron switches, if that is good.

    Time that ends before the engine knows anything leaves the ball.
    """
    known = center_ball(question)
    if known is None:
        return ask(question)
    if question.radius is not None and known.certified >= question.radius:
        return replace(known, verdict="certified", optimum=Optimum(0.0, 0.0, "exact"), stop=None)
    try:
        found = ask(replace(question, known=known))
    except OutOfTime:
        return replace(known, stop=Stop(Cause.TIME))
    except KeyboardInterrupt:
        return replace(known, stop=Stop(Cause.INTERRUPTED))
    is_there = found.certified == math.inf or EVIDENCE in found.certified.evidence
    return found if is_there else merged(known, found)


def center_ball(question: Question) -> Answer | None:
    """The ball, where the network is large and nothing is known yet; None where there is none, or it takes too long."""
    columns = free_inputs(question)
    if question.is_smooth or question.known is not None or not 0 < len(columns) <= question.graph.output_dim:
        return None
    try:
        with until(question.deadline):
            graph = question.network.lowered
            if work(graph, len(columns)) < LEAST_WORK:
                return None
            region = center_region(graph, question.center, question.norm, np.array(columns))
            if region is None or not region.is_injective():
                return None
    except OutOfTime:
        return None
    return Answer.undecided(question, End(min(region.radius, question.reach), EVIDENCE), Stop(Cause.TIME))
