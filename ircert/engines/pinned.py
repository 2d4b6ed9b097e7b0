"""Inputs that the domain pins down: they are fixed before an engine starts, and put back into its witness."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from ircert.engines.base import Answer, Question


def without_pinned(question: Question) -> Question:
    """The question about the inputs that the domain leaves free; there is at least one."""
    pinned = np.flatnonzero(question.low == question.high).tolist()
    if not pinned:
        return question
    values = {i: float(question.center[i]) for i in pinned}
    free = [i for i in range(len(question.center)) if i not in values]
    return replace(
        question,
        graph=question.graph.fix(values),
        other=None if question.other is None else question.other.fix(values),
        center=question.center[free],
        low=question.low[free],
        high=question.high[free],
        known=None if question.known is None else _without(question.known, free),
    )


def _without(answer: Answer, free: list[int]) -> Answer:
    if answer.witness is None:
        return answer
    x, y = ([point[i] for i in free] for point in answer.witness)
    return replace(answer, witness=(x, y))


def unpinned(answer: Answer, question: Question) -> Answer:
    """The answer with its witness in all coordinates."""
    if answer.witness is None:
        return answer
    x, y = (_filled(point, question) for point in answer.witness)
    return replace(answer, witness=(x, y))


def _filled(point: list[Fraction], question: Question) -> list[Fraction]:
    free = iter(point) if len(point) < len(question.center) else None
    if free is None:
        return point
    return [
        Fraction(c) if low == high else next(free)
        for c, low, high in zip(question.center.tolist(), question.low.tolist(), question.high.tolist(), strict=True)
    ]
