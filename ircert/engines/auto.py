"""auto: instant answers first, then the engines that suit the network, each from where the last one came to."""

from __future__ import annotations

import math
from dataclasses import replace

from ircert import engines
from ircert.engines.base import Answer, Engine, Question
from ircert.engines.judge import NOTHING
from ircert.engines.sharing import merged, settled, statistics
from ircert.engines.turns import turns
from ircert.result.radius import End
from ircert.result.result import Verdict

ORDER = ("regions", "milp")
"""The engines that may be asked; those that are not there are passed over."""

WIDE = 64


class Auto(Engine):
    """Asks the instant answers, then the engines that do not refuse, in turns."""

    name = "auto"

    def refusal(self, question: Question) -> str | None:
        """It takes every question; where no engine can answer, the answer is `unresolved` and says why."""
        return None

    def answer(self, question: Question) -> Answer:
        """The first answer, or what is known when time is up."""
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
        refusals = {name: engines.get(name).refusal(question) for name in ORDER if name in engines.names()}
        able = [name for name, refusal in refusals.items() if refusal is None]
        if not able:
            why = "; ".join(f"{name}: {refusal}" for name, refusal in refusals.items())
            return _unresolved(question, f"no engine can answer ({why})")
        answer = _in_turns(question, able)
        everywhere = always(question) if wide and _nothing_found(answer) else None
        return answer if everywhere is None else replace(everywhere, engine="instant")


def _in_turns(question: Question, able: list[str]) -> Answer:
    """The answers of engines that go on from each other's."""
    known: Answer | None = None
    done: list[tuple[str, Answer]] = []
    try:
        for turn in turns(question, able):
            found = engines.get(turn.engine).answer(turn.of(replace(question, known=known)))
            known = merged(known, found)
            done.append((turn.engine, known))
            known = replace(known, engine=turn.engine, stats=statistics(done))
            if not found.unfinished or settled(question, known) or question.deadline.passed():
                return known
    except KeyboardInterrupt:
        if known is None:
            raise
        return replace(known, reason="interrupted", unfinished=False)
    assert known is not None, "an engine was able"
    return known


def _nothing_found(answer: Answer) -> bool:
    """Whether a search went to its limit without a violation."""
    return answer.refuted is None and answer.reason is None and answer.certified < math.inf


def _unresolved(question: Question, reason: str) -> Answer:
    verdict: Verdict | None = None if question.radius is None else "unresolved"
    return Answer(verdict, End(0.0, NOTHING), None, None, "exact", reason=reason)
