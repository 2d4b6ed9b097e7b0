"""auto: instant answers first, then the engine that suits the network."""

from __future__ import annotations

import math
from dataclasses import replace

from ircert import engines
from ircert.engines.base import Answer, Engine, Question
from ircert.engines.judge import NOTHING
from ircert.result.radius import End
from ircert.result.result import Verdict

ORDER = ("regions", "milp")
"""Engines in the order in which they are asked; those that are not there are passed over."""

WIDE = 64


class Auto(Engine):
    """Asks the instant answers, then each engine that does not refuse."""

    name = "auto"

    def refusal(self, question: Question) -> str | None:
        """It takes every question; where no engine can answer, the answer is `unresolved` and says why."""
        return None

    def answer(self, question: Question) -> Answer:
        """The first answer."""
        try:
            return self._first(question)
        except KeyboardInterrupt:
            return _unresolved(question, "interrupted before an engine began")

    def _first(self, question: Question) -> Answer:
        from ircert.engines.instant import always, instant

        # Where the regions engine is at home, exact arithmetic on wide layers would take longer than its answer.
        wide = max(question.graph.sizes.values()) > WIDE and engines.get("regions").refusal(question) is None
        found = None if wide else instant(question)
        if found is not None:
            return replace(found, engine="instant")
        question = replace(question, at_once=wide)
        refusals = []
        for name in ORDER:
            if name in engines.names():
                engine = engines.get(name)
                refusal = engine.refusal(question)
                if refusal is None:
                    answer = replace(engine.answer(question), engine=name)
                    everywhere = always(question) if wide and _nothing_found(answer) else None
                    return answer if everywhere is None else replace(everywhere, engine="instant")
                refusals.append(f"{name}: {refusal}")
        return _unresolved(question, f"no engine can answer ({'; '.join(refusals)})")


def _nothing_found(answer: Answer) -> bool:
    """Whether a search went to its limit without a violation."""
    return answer.refuted is None and answer.reason is None and answer.certified < math.inf


def _unresolved(question: Question, reason: str) -> Answer:
    verdict: Verdict | None = None if question.radius is None else "unresolved"
    return Answer(verdict, End(0.0, NOTHING), None, None, "exact", reason=reason)
