"""Asking an engine: what it does not take is refused before the work, and an interrupt is an answer."""

from __future__ import annotations

from collections.abc import Iterable

from ircert import engines
from ircert.engines.base import OPTIONS, Answer, Cause, Engine, Question, Stop
from ircert.engines.judge import NOTHING
from ircert.errors import QueryError
from ircert.limits import OutOfTime
from ircert.result.radius import End


def check(engine: Engine, question: Question) -> None:
    """QueryError unless the engine takes the question and every option that is given with it."""
    unknown = given_options(question) - engine.options
    if unknown:
        raise QueryError(
            f"the engine `{engine.name}` takes no {_named(unknown)}", remedy=_who_takes(given_options(question))
        )
    refusal = refused(engine, question)
    if refusal is not None:
        raise QueryError(f"the engine `{engine.name}` cannot answer: {refusal}", remedy='engine="auto" chooses one')


def refused(engine: Engine, question: Question) -> str | None:
    """Why an engine does not take a question: there are curves, or it says so itself."""
    if question.is_smooth and not engine.takes_smooth:
        return 'it needs linear regions, and the network has smooth operations; engine="boxes" takes them'
    with engines.REGISTRY.blaming(engine.name):
        return engine.refusal(question)


def given_options(question: Question) -> frozenset[str]:
    """The options of engines that the question comes with."""
    return frozenset(name for name, default in OPTIONS.items() if getattr(question, name) != default)


def ask(engine: Engine, question: Question) -> Answer:
    """The engine's answer; nothing is known where it is interrupted, or time is over, before it has a bracket."""
    try:
        with engines.REGISTRY.blaming(engine.name):
            found = engine.answer(question)
    except KeyboardInterrupt:
        return nothing_known(question, Stop(Cause.INTERRUPTED))
    except OutOfTime:
        return nothing_known(question, Stop(Cause.TIME))
    if not isinstance(found, Answer):
        problem, remedy = f"it returned {type(found).__name__} instead of an Answer", "see ircert.engines.base.Answer"
        raise engines.REGISTRY.refusal(engine.name, problem, remedy)
    return found


def nothing_known(question: Question, stop: Stop) -> Answer:
    """No answer, and why."""
    return Answer.undecided(question, End(0.0, NOTHING), stop)


def _named(options: Iterable[str]) -> str:
    return " and no ".join(f"`{option}`" for option in sorted(options))


def _who_takes(options: frozenset[str]) -> str:
    able = [name for name in engines.BUILT_IN if options <= engines.get(name).options]
    return f"leave it out, or choose {' or '.join(able)}" if able else "leave it out"
