"""The engine `milp`: the paper's method, programs of a formulation solved by a backend; trust `solver`."""

from __future__ import annotations

from ircert.engines.base import Answer, Engine, Question
from ircert.engines.milp.paper_search import PaperSearch
from ircert.engines.milp.tangent_search import TangentSearch
from ircert.engines.pinned import unpinned, without_pinned
from ircert.engines.sharing import of_a_ball, of_one_point, of_the_whole_space

SEARCHES: dict[str, type[PaperSearch | TangentSearch]] = {"paper": PaperSearch, "tangent": TangentSearch}


class Milp(Engine):
    """Two points with one image as far apart as can be (`paper`), or as near to the centre (`tangent`)."""

    name = "milp"
    options = frozenset({"backend", "formulation", "threads"})

    def refusal(self, question: Question) -> str | None:
        """It takes every question."""
        return None

    def answer(self, question: Question) -> Answer:
        """The answer of the programs of a formulation; nothing else is asked where there is more than one point."""
        alone = of_one_point(question)
        if alone is not None:
            return alone
        search = SEARCHES[question.formulation or "paper"](without_pinned(of_a_ball(question)))
        return of_the_whole_space(question, unpinned(search.answer(), question))
