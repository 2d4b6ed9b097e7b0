"""What programs found out, as an answer: certified ends rest on a solver, refuted ones on an exact collision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ircert.engines.base import Answer, Cause, Question, Stop
from ircert.engines.judge import NOTHING
from ircert.engines.milp.ball import Ball
from ircert.engines.milp.collisions import Collisions
from ircert.engines.sharing import settled
from ircert.result.radius import End
from ircert.result.result import Trust

CONTRADICTION = "the solver's bound contradicts an exact collision: nothing that rests on it is claimed"


def of_a_search(
    question: Question, collisions: Collisions, certified: End, stop: Stop, stats: Mapping[str, Any]
) -> Answer:
    """The bracket; `stop` says why it is no narrower, where it does not answer the question."""
    pair = collisions.within(question.reach)
    nothing = End(0.0, NOTHING)
    if pair is not None and collisions.is_zero:
        return Answer(None, nothing, collisions.end, pair, "exact", stats)
    refuted = None if pair is None else collisions.end
    if refuted is not None and certified > refuted:
        stop = Stop(Cause.SOLVER, CONTRADICTION, stop.work)
        return Answer(None, nothing, refuted, pair, "exact", stats, stop=stop)
    found = Answer(None, certified, refuted, pair, "solver" if certified > 0 else "exact", stats)
    return found if settled(question, found) else replace(found, stop=stop)


def of_a_ball(question: Question, ball: Ball, evidence: str, stop: Stop, stats: Mapping[str, Any]) -> Answer:
    """The verdict of a fixed ball, with p* as far as it is known; `stop` says why it is open, if it is."""
    nothing = End(0.0, NOTHING)
    if ball.pair is not None:  # beside it no radius that rests on the solver
        return Answer("refuted", nothing, None, ball.pair, "exact", stats, ball.optimum)
    certified = End(ball.reached, evidence) if ball.reached > 0 else nothing
    if ball.certified:
        return Answer("certified", certified, None, None, "solver", stats, ball.optimum)
    trust: Trust = "solver" if ball.reached > 0 else "exact"
    return Answer("unresolved", certified, None, None, trust, stats, ball.optimum, stop=stop)
