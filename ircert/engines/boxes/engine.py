"""The engine `boxes`: exact proofs about boxes of points and their phases, for any number of inputs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from ircert.engines.base import Answer, Effort, Engine, Question
from ircert.engines.boxes.search.search import Search
from ircert.engines.instant.center_ball import from_center_ball
from ircert.engines.instant.engine import instant
from ircert.engines.parts.by_parts import by_parts
from ircert.engines.pinned import unpinned, without_pinned
from ircert.engines.sharing import of_a_ball, of_the_whole_space
from ircert.ir.neck import neck
from ircert.questions.network import Networks

RATE = 16_000.0
"""Boxes and pairs in a second, about."""


class Boxes(Engine):
    """Boxes and trees of phases, with a program for p* beside them."""

    name = "boxes"
    options = frozenset({"threads"})
    takes_turns = True
    takes_smooth = True

    def refusal(self, question: Question) -> str | None:
        """It takes every question."""
        return None

    def effort(self, question: Question) -> Effort:
        """It is not known beforehand."""
        return Effort(RATE)

    def answer(self, question: Question) -> Answer:
        """What can be said at once, or part by part of a network with curves; else a search."""
        if question.is_smooth:
            parted = by_parts(question, self.answer) if question.at_once else None
            return parted or of_the_whole_space(question, _smooth(of_a_ball(question)))
        search = partial(Search, whole=question.reach == math.inf)
        asked = of_a_ball(question)
        found = from_center_ball(asked, partial(answered, search)) if question.at_once else answered(search, asked)
        return of_the_whole_space(question, found)


def _smooth(question: Question) -> Answer:
    """The answer about a network with curves."""
    from ircert.engines.boxes.search.smooth_search import SmoothSearch  # other networks need none of it

    found = instant(question) if question.at_once else None
    return found or unpinned(SmoothSearch(narrowed(without_pinned(question))).answer(), question)


def narrowed(question: Question) -> Question:
    """The question about the network's neck, where that has fewer entries than there are inputs: what it does not tell
    apart the network does not."""
    front = neck(question.graph)
    if front is None or front.output_dim >= front.input_dim:
        return question
    return replace(question, graph=front, networks=Networks.of(front, question.other))


def answered(made: Callable[[Question], Search], question: Question) -> Answer:
    """The answer of a search, unless something can be said at once."""
    found = instant(question) if question.at_once else None
    if found is None:
        search = made(without_pinned(question))
        found = unpinned(search.answer(), question)
    else:
        search = made(question)
        found = found if question.radius is None else search.with_optimum(found, question.radius)
    return replace(found, backend=search.backend)
