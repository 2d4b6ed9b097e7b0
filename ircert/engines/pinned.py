"""Inputs that the domain pins down: they are fixed before an engine starts, and put back into its witness."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from ircert.engines.base import Answer, Points, Question
from ircert.ir.boxed_pair import BoxedPair

Vector: TypeAlias = list[Fraction]


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


def unpinned(answer: Answer, question: Question) -> Answer:
    """The answer to `without_pinned(question)` with its points in all coordinates, by the lift of what fixed them."""
    values = _pinned(question)
    if not values:
        return answer

    def wider(radii: Vector) -> Vector:
        rest = iter(radii)
        return [Fraction(0) if j in values else next(rest) for j in range(len(radii) + len(values))]

    return _moved(answer, question.networks.fix(values).network.restored, wider)


def _without(answer: Answer, free: list[int]) -> Answer:
    def chosen(point: Vector) -> Vector:
        return [point[i] for i in free]

    return _moved(answer, chosen, chosen)


def _moved(answer: Answer, point: Callable[[Vector], Vector], radii: Callable[[Vector], Vector]) -> Answer:
    """The answer with its points, and the radii of boxes, in other coordinates."""

    def both(points: Points | None) -> Points | None:
        return None if points is None else (point(points[0]), point(points[1]))

    boxes = answer.boxes
    if boxes is not None:
        boxes = BoxedPair(point(boxes.x), point(boxes.y), radii(boxes.x_radii), radii(boxes.y_radii))
    return replace(answer, witness=both(answer.witness), turned=both(answer.turned), boxes=boxes)
