"""auto: instant answers first, then the engine that suits the network."""

from __future__ import annotations

from dataclasses import replace

from ircert import engines
from ircert.engines.base import Answer, Engine, Question
from ircert.engines.judge import NOTHING
from ircert.result.radius import End
from ircert.result.result import Verdict

ORDER = ("regions",)
"""Engines in the order in which they are asked; those that are not there are passed over."""


class Auto(Engine):
    """Asks the instant answers, then each engine that does not refuse."""

    name = "auto"

    def refusal(self, question: Question) -> str | None:
        """It takes every question; where no engine can answer, the answer is `unresolved` and says why."""
        return None

    def answer(self, question: Question) -> Answer:
        """The first answer."""
        from ircert.engines.instant import instant

        found = instant(question)
        if found is not None:
            return replace(found, engine="instant")
        refusals = []
        for name in ORDER:
            if name in engines.names():
                engine = engines.get(name)
                refusal = engine.refusal(question)
                if refusal is None:
                    return replace(engine.answer(question), engine=name)
                refusals.append(f"{name}: {refusal}")
        reason = "; ".join(refusals) or "no cheap argument decides this"
        verdict: Verdict | None = None if question.radius is None else "unresolved"
        return Answer(verdict, End(0.0, NOTHING), None, None, "exact", reason=f"no engine can answer ({reason})")
