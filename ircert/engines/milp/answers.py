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
        return Answer.bracket(nothing, collisions.end, pair, stats)
    refuted = None if pair is None else collisions.end
    if refuted is not None and certified > refuted:
        stop = Stop(Cause.SOLVER, CONTRADICTION, stop.work)
        return Answer.bracket(nothing, refuted, pair, stats, stop=stop)
    found = Answer.bracket(certified, refuted, pair, stats, "solver" if certified > 0 else "exact")
    return found if settled(question, found) else replace(found, stop=stop)


def of_a_ball(question: Question, ball: Ball, evidence: str, stop: Stop, stats: Mapping[str, Any]) -> Answer:
    """The verdict of a fixed ball, with p* as far as it is known; `stop` says why it is open, if it is."""
    nothing = End(0.0, NOTHING)
    if ball.pair is not None:  # beside it no radius that rests on the solver
        return Answer.bad(ball.pair, nothing, None, stats, ball.optimum)
    certified = End(ball.reached, evidence) if ball.reached > 0 else nothing
    if ball.certified:
        return Answer.good(certified, stats, ball.optimum, "solver")
    trust: Trust = "solver" if ball.reached > 0 else "exact"
    return Answer.undecided(question, certified, stop, stats, ball.optimum, trust)
