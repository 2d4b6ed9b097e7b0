"""The engine `milp`: pairs of points by their boxes and phases, for any number of inputs."""

from __future__ import annotations

from dataclasses import replace

from ircert.engines.base import Answer, Effort, Engine, Question
from ircert.engines.instant import instant
from ircert.engines.pinned import unpinned, without_pinned
from ircert.engines.search import Search
from ircert.engines.sharing import of_a_ball, of_the_whole_space
from ircert.engines.tangent_search import TangentSearch

RATE = 16_000.0
"""Boxes and pairs in a second, about."""


class Milp(Engine):
    """Boxes and trees of phases, with the paper's program beside them; or the programs of tangents."""

    name = "milp"
    options = frozenset({"backend", "formulation", "threads"})
    takes_turns = True

    def refusal(self, question: Question) -> str | None:
        """It takes every question."""
        return None

    def effort(self, question: Question) -> Effort:
        """Nobody can tell."""
        return Effort(RATE)

    def answer(self, question: Question) -> Answer:
        """What can be said at once; else a search."""
        return of_the_whole_space(question, self._answer(of_a_ball(question)))

    def _answer(self, question: Question) -> Answer:
        formulation = question.formulation or "paper"
        searches = {"paper": Search, "tangent": TangentSearch}[formulation]
        found = instant(question) if question.at_once else None
        if found is None:
            search = searches(without_pinned(question))
            found = unpinned(search.answer(), question)
        else:
            search = searches(question)
            found = found if question.radius is None else search.with_optimum(found, question.radius)
        return replace(found, formulation=formulation, backend=search.backend)
