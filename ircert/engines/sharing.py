"""What one engine found out, handed to the next one: where it may start, and the better ends of both."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ircert.engines.base import Answer, Cause, Question, Stop, farthest, free_inputs
from ircert.engines.judge import settles
from ircert.result.radius import End, Radius

BEYOND = 1.125
"""Searches in a domain go this much farther than it does, so that the open ball that they prove holds it …"""
SMALLEST = 2.0**-1000
"""… but for domains so small that floats may not tell."""
NOT_EVERYWHERE = "balls were proved, and not the whole space: nothing was found as far as this engine looked"
ONE_POINT = "the domain is a single point"
INSIDE = 1 - 2.0**-50
"""A certified radius speaks of the open ball, which holds the closed one of this part of it."""


def of_one_point(question: Question) -> Answer | None:
    """The answer where the domain holds the centre alone, so that nothing is left to search; else None."""
    if free_inputs(question):
        return None
    end = End(math.inf, ONE_POINT)
    return Answer.bracket(end) if question.radius is None else Answer.good(end)


def of_a_ball(question: Question) -> Question:
    """The question of a search that proves balls: no farther than a search goes, or than there is a domain."""
    if question.radius is not None:
        return question
    far = farthest(question.center, question.norm) if question.max_radius == math.inf else question.max_radius
    domain = question.place.reach
    return replace(question, max_radius=min(far, BEYOND * domain) if domain > SMALLEST else far)


def of_the_whole_space(question: Question, answer: Answer) -> Answer:
    """The answer to `of_a_ball(question)` as one to the question itself: a ball that holds the domain is as good as
    all, but without one a large ball is not the whole space."""
    if question.radius is not None or answer.refuted is not None or answer.certified == math.inf:
        return answer
    if question.place.reach < answer.certified:
        certified = End(math.inf, f"{answer.certified.evidence}; the ball holds the domain")
        return replace(answer, certified=certified, stop=None)
    if answer.stop is not None or question.max_radius < math.inf:
        return answer
    return replace(answer, stop=Stop(Cause.UNDECIDED, NOT_EVERYWHERE))


def good_radius(question: Question) -> float:
    """The radius of a closed ball that is known to be good, by a proof that rests on no solver."""
    known = question.known
    if known is None or known.trust == "solver":
        return 0.0
    # a factor changes nothing where floats are subnormal
    return min(math.nextafter(known.certified * INSIDE, 0.0), question.reach)


def known_refuted(question: Question) -> float | None:
    """The radius of a closed ball that is known to hold a violation."""
    return None if question.known is None or question.known.refuted is None else float(question.known.refuted)


def settled(question: Question, answer: Answer) -> bool:
    """Whether nothing is left to find out."""
    if question.radius is not None:
        return answer.verdict != "unresolved"
    return settles(question, Radius(answer.certified, answer.refuted))


def merged(known: Answer | None, later: Answer) -> Answer:
    """The later answer with the better ends of both, each with what it rests on."""
    if known is None:
        return later
    later = replace(later, stop=None if later.stop is None else later.stop.after(known.stop))
    found = replace(later, certified=_beyond(known.certified, later.certified))
    if later.certified <= known.certified:
        found = replace(later, certified=known.certified, trust=known.trust)
    if (known.witness or known.boxes) is not None and not _is_nearer(later, known):
        found = replace(found, refuted=known.refuted, witness=known.witness, boxes=known.boxes)
    if known.turned is not None and (later.refuted is None or (known.refuted or math.inf) < later.refuted):
        found = replace(found, refuted=known.refuted, turned=known.turned)
    return found


def _beyond(known: End, later: End) -> End:
    """The later end; its engine may have looked only outside the ball that was known to be good."""
    if not known:
        return later
    return End(later, f"{later.evidence}; up to {float(known):g}: {known.evidence}", later.exact)


def _is_nearer(later: Answer, known: Answer) -> bool:
    shown = (later.witness or later.boxes) is not None
    if not shown or later.verdict == "refuted":
        return shown
    return known.refuted is None or (later.refuted is not None and later.refuted <= known.refuted)


def statistics(turns: list[tuple[str, Answer, Stop | None]]) -> Mapping[str, Any]:
    """What the last engine says, where the time of all went, and with several, what each did and the bracket then."""
    last = turns[-1][1].stats
    if len(turns) == 1:
        return last
    seconds: dict[str, float] = {}
    for _, answer, _ in turns:
        for name, spent in answer.stats.get("seconds", {}).items():
            seconds[name] = seconds.get(name, 0.0) + spent
    each = [
        {
            "engine": name,
            "certified": _plain(answer.certified),
            "refuted": _plain(answer.refuted),
            "reason": None if stop is None else str(stop),
            **answer.stats,
        }
        for name, answer, stop in turns
    ]
    return {**last, "seconds": seconds, "turns": each}


def _plain(end: End | None) -> float | str | None:
    """A number for JSON, as the bracket's own ends are written."""
    return None if end is None else float(end) if end < float("inf") else "inf"
