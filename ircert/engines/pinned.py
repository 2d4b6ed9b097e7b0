"""Inputs that the domain pins down: they are fixed before an engine starts, and put back into its witness."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ircert.engines.base import Answer, Cause, Question, Stop
from ircert.questions.network import Networks


def without_pinned(question: Question) -> Question:
    """The question about the inputs that the domain leaves free; there is at least one."""
    values = _pinned(question)
    if not values:
        return question
    networks, free = question.networks.fix(values), [i for i in range(len(question.center)) if i not in values]
    return replace(
        question,
        graph=networks.network.asked,
        other=None if networks.other is None else networks.other.asked,
        networks=networks,
        place=question.place.keep(free),
        known=None if question.known is None else _without(question.known, free),
    )


def _pinned(question: Question) -> dict[int, float]:
    return {i: float(question.center[i]) for i in np.flatnonzero(question.low == question.high).tolist()}


def _without(answer: Answer, free: list[int]) -> Answer:
    if answer.witness is None:
        return answer
    x, y = ([point[i] for i in free] for point in answer.witness)
    return replace(answer, witness=(x, y))


def unpinned(answer: Answer, question: Question) -> Answer:
    """The answer to `without_pinned(question)` with its witness in all coordinates, by the lift of what fixed them."""
    values = _pinned(question)
    if values and answer.turned is not None:  # determinants are those of all inputs
        verdict = "unresolved" if answer.verdict == "refuted" else answer.verdict
        stop = answer.stop or Stop(Cause.UNDECIDED, "determinants of some inputs alone are not judged")
        answer = replace(answer, verdict=verdict, turned=None, refuted=None, stop=stop)
    if answer.witness is None or not values:
        return answer
    fixed: Networks = question.networks.fix(values)
    x, y = (fixed.network.restored(point) for point in answer.witness)
    return replace(answer, witness=(x, y))
