"""An engine's answer about a fixed ball, with p* as far as the time that is left goes.

Better pairs make better witnesses: the answer's becomes the one that is furthest apart, and a ball that an engine left
open is refuted by any.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ircert.engines.base import Answer, Cause, Progress, Question, Stop, free_inputs
from ircert.engines.judge import NOTHING
from ircert.engines.optimum.beside import able_solver, solver_bound
from ircert.engines.optimum.bracket import Asked, Bracket, bracketed
from ircert.geometry.norm import Norm
from ircert.limits import Deadline
from ircert.result.radius import End
from ircert.result.result import Optimum

LONGEST = 60.0
"""Seconds for p* in a question without a time limit …"""
LONGEST_UNASKED = 10.0
"""… and where it is there by default."""
FIRST = 0.3
"""The part of the time that an engine may take for the verdict, where p* is found after it."""
WORK = 0.93
"""The part of what is left that is used: the pair has to be evaluated exactly once more."""
BACKEND = 0.1
"""The part of that for a solver's mixed-integer program …"""
NAMED_BACKEND = 0.5
"""… and where the solver was named."""
CERTIFIED = "the ball is certified"


def is_wanted(question: Question, optimum: bool | None) -> bool:
    """Whether p* is to be bracketed: where it is asked for, and where fewer outputs than inputs make it the answer."""
    if question.radius is None or optimum is False:
        return False
    return optimum is True or question.graph.output_dim < len(free_inputs(question))


def time_for_the_verdict(question: Question) -> Deadline:
    """When an engine has to answer, so that there is time for p*."""
    left = question.deadline.left()
    return question.deadline if left == math.inf else Deadline(FIRST * left)


def with_optimum(question: Question, answer: Answer, norm: Norm, *, exact: bool, asked_for: bool = True) -> Answer:
    """The answer with p* in a norm; no solver is believed where an exact bound is required."""
    if answer.verdict == "certified" and answer.trust == "exact":
        return replace(answer, optimum=Optimum(0.0, 0.0, "exact", CERTIFIED, _other(question, norm)))
    begin = time.perf_counter()
    left, longest = question.deadline.left(), LONGEST if asked_for else LONGEST_UNASKED
    whole = Deadline(WORK * (longest if left == math.inf else left))
    asked = Asked(question, norm, _reported(question, answer), question.tol)
    asks = not exact and able_solver(asked) is not None
    share = 1.0 - (BACKEND if question.backend is None else NAMED_BACKEND) if asks else 1.0
    bracket = bracketed(asked, answer.witness, Deadline(share * whole.left()))
    backend = solver_bound(asked, bracket, whole) if asks and not bracket.interrupted else None
    return _joined(question, answer, bracket, norm, backend, time.perf_counter() - begin)


def _reported(question: Question, answer: Answer) -> Any:
    refuted = None if answer.refuted is None else float(answer.refuted)

    def report(value: float, bound: float, words: str) -> None:
        text = f"p* in [{value:.6g}, {bound:.6g}]" + (f" ({words})" if words else "")
        question.report(Progress(float(answer.certified), refuted, text))

    return report


def _joined(
    question: Question, answer: Answer, bracket: Bracket, norm: Norm, backend: str | None, seconds: float
) -> Answer:
    """The answer with what was found, its own bound where that is less, and how long it took."""
    found = _better(answer.optimum, bracket.optimum(_other(question, norm)), norm == question.norm)
    stats = {**answer.stats, "seconds": {**_phases(answer.stats), "optimum": seconds}, "optimum": bracket.stats()}
    used = backend if found is not None and found.trust == "solver" else None
    stop = Stop(Cause.INTERRUPTED).after(answer.stop) if bracket.interrupted else answer.stop
    answer = replace(answer, optimum=found, stats=stats, backend=answer.backend or used, stop=stop)
    pair = bracket.values.pair
    if pair is None:
        return answer
    stop = stop if bracket.interrupted else None
    certified = answer.certified if answer.trust == "exact" else End(0.0, NOTHING)  # a pair denies a solver's word
    return replace(answer, verdict="refuted", trust="exact", stop=stop, witness=pair, certified=certified)


def _phases(stats: Mapping[str, Any]) -> Mapping[str, Any]:
    found = stats.get("seconds")
    return found if isinstance(found, Mapping) else {}


def _other(question: Question, norm: Norm) -> Norm | None:
    return None if norm == question.norm else norm


def _better(old: Optimum | None, new: Optimum | None, comparable: bool) -> Optimum | None:
    """The bracket with the best of both ends."""
    if new is None or old is None or not comparable or old.bound >= new.bound:
        return new if new is not None or not comparable else old
    return Optimum(new.value, max(old.bound, new.value), old.trust, old.evidence, new.norm, new.proved or new.bound)
