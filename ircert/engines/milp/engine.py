"""The engine `milp`: programs of a formulation, solved by a backend, whose bounds are believed with that trust."""

from __future__ import annotations

from dataclasses import replace

from ircert.engines.base import Answer, Engine, Question
from ircert.engines.boxes.engine import answered
from ircert.engines.milp.tangent_search import TangentSearch
from ircert.engines.sharing import of_a_ball, of_the_whole_space


class Milp(Engine):
    """Radii minimised by programs of tangents and of pairs."""

    name = "milp"
    options = frozenset({"backend", "formulation", "threads"})

    def refusal(self, question: Question) -> str | None:
        """It takes every question."""
        return None

    def answer(self, question: Question) -> Answer:
        """What can be said at once; else a search."""
        found = of_the_whole_space(question, answered(TangentSearch, of_a_ball(question)))
        return replace(found, formulation="tangent")
