"""auto: instant answers first, then the engines that suit the network, each from where the last one came to."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import Any

from ircert import engines
from ircert.engines.asking import ask, given_options, nothing_known, refused
from ircert.engines.auto.turns import Plan
from ircert.engines.base import OPTIONS, Answer, Cause, Effort, Engine, Question, Stop, free_inputs
from ircert.engines.sharing import merged, settled, statistics
from ircert.errors import IrcertError

WIDE = 64
ALLOWED = frozenset({"threads"})
"""Options that say what an engine may use, not what it must: engines that do not know them are asked all the same."""


class Auto(Engine):
    """Asks the instant answers, then the engines that do not refuse, in turns."""

    name = "auto"
    takes_smooth = True

    def __init__(self) -> None:
        self._engines = {engine.name: engine for engine in _participants()}
        self.options = frozenset[str]().union(*(engine.options for engine in self._engines.values()))

    def refusal(self, question: Question) -> str | None:
        """It takes every question; where no engine can answer, the answer is `unresolved` and says why."""
        return None

    def answer(self, question: Question) -> Answer:
        """The first answer, or what is known when time is up; part by part, where structure takes a network apart."""
        from ircert.engines.instant.center_ball import from_center_ball

        return from_center_ball(question, self._answered) if question.at_once else self._answered(question)

    def _answered(self, question: Question) -> Answer:
        from ircert.engines.instant.engine import always, by_structure, instant
        from ircert.engines.parts.by_parts import by_parts

        looked = {name: _looked_at(engine, question) for name, engine in self._engines.items()}
        efforts = {name: effort for name, effort in looked.items() if isinstance(effort, Effort)}
        # Where an engine has a quick way of its own, exact arithmetic on wide layers would take longer than its answer.
        quick = any(effort.trial for effort in efforts.values())
        wide = quick and max(question.graph.sizes.values()) > WIDE
        found = by_structure(question) if wide else instant(question)
        if found is not None:
            return replace(_with_optimum(question, found), engine="instant")
        parted = by_parts(question, self._asked_about_a_part) if question.at_once else None
        if parted is not None:
            return parted
        if not efforts:
            why = "; ".join(f"{name}: {refusal}" for name, refusal in looked.items())
            return nothing_known(question, Stop(Cause.REFUSED, f"no engine can answer ({why})"))
        answer = _in_turns(replace(question, at_once=wide), self._engines, efforts)
        everywhere = always(question) if wide and _nothing_found(answer) else None
        return answer if everywhere is None else replace(everywhere, engine="instant")

    def _asked_about_a_part(self, question: Question) -> Answer:
        return ask(self, question)


def _with_optimum(question: Question, answer: Answer) -> Answer:
    """The answer; for a ball that fewer outputs than inputs refute anyway, with p*, which says more."""
    if question.radius is None or answer.witness is None or question.optimum_later:
        return answer
    if question.graph.output_dim >= len(free_inputs(question)):
        return answer
    from ircert.engines.boxes.search.search import Search

    try:
        search = Search(question)
        return replace(search.with_optimum(answer, question.radius), backend=search.backend)
    except KeyboardInterrupt:  # the verdict is known
        return answer


def _participants() -> list[Engine]:
    """The engines that take part, by their own declaration; one that cannot be loaded is named and passed over."""
    found = []
    for name in engines.names():
        try:
            if engines.kind(name).takes_turns:
                found.append(engines.get(name))
        except IrcertError as error:
            warnings.warn(str(error), stacklevel=2)
    return found


def _looked_at(engine: Engine, question: Question) -> Effort | str:
    """What to expect of an engine, or why it is not asked; one of another package that fails is named in a warning."""
    try:
        refusal = _refusal(engine, question)
        if refusal is not None:
            return refusal
        with engines.REGISTRY.blaming(engine.name):
            return engine.effort(question)
    except IrcertError as error:
        return _passed_over(engine, error)


def _passed_over(engine: Engine, error: IrcertError) -> str:
    """The failure of an engine of another package, which others make up for; that of one built in is raised."""
    if engines.REGISTRY.origin(engine.name) is None:
        raise error
    warnings.warn(str(error), stacklevel=2)
    return str(error)


def _refusal(engine: Engine, question: Question) -> str | None:
    """Why an engine is not asked: it does not know what was asked for, or says so itself."""
    unknown = sorted(given_options(question) - engine.options - ALLOWED)
    return f"it takes no `{'`, `'.join(unknown)}`" if unknown else refused(engine, question)


def _in_turns(question: Question, able: dict[str, Engine], efforts: dict[str, Effort]) -> Answer:
    """The answers of engines that go on from each other's."""
    known = question.known
    done: list[tuple[str, Answer, Stop | None]] = []
    tired: set[str] = set()
    failure = ""
    try:
        for turn in Plan(efforts, question.deadline.left, tired):
            engine = able[turn.engine]
            try:
                found = ask(engine, turn.of(replace(question, known=known, **_defaults(engine))))
            except IrcertError as error:
                failure = _passed_over(engine, error)
                tired.add(turn.engine)
                continue
            known = merged(known, found)
            done.append((turn.engine, known, found.stop))
            known = replace(known, engine=turn.engine, stats=statistics(done))
            if not found.unfinished or settled(question, known) or question.deadline.passed():
                return known
            if found.stop is not None and not found.stop.more_helps:
                tired.add(turn.engine)
    except KeyboardInterrupt:
        stop = Stop(Cause.INTERRUPTED)
        return nothing_known(question, stop) if known is None else replace(known, stop=stop.after(known.stop))
    return nothing_known(question, Stop(Cause.REFUSED, failure)) if known is None else known


def _defaults(engine: Engine) -> dict[str, Any]:
    """The options that an engine is asked without."""
    return {name: default for name, default in OPTIONS.items() if name not in engine.options}


def _nothing_found(answer: Answer) -> bool:
    """Whether a search went to its limit without a violation."""
    return answer.refuted is None and answer.stop is None and answer.certified < math.inf
