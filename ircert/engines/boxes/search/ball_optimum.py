"""p* of a refuted ball: the separation of the farthest exact pair that is known, and a bound."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

from ircert.engines.base import Answer, Question
from ircert.engines.optimum.far_pairs import FarPairs, far_pairs, takes_squares
from ircert.geometry.norm import Norm
from ircert.result.radius import End
from ircert.result.result import Optimum, Trust
from ircert.result.witness import length_down

Points: TypeAlias = tuple[list[Fraction], list[Fraction]]


def bounded_optimum(
    question: Question, answer: Answer, witness: Points, radius: float, seconds: float, end: Callable[[], End]
) -> tuple[Answer, FarPairs | None]:
    """A refuted ball with p*, and what the program said that was asked for some seconds, if there were any.

    The witness becomes the program's pair where that is farther apart; `end` says what was refuted before.
    """
    value, bound = _separation(question, *witness), question.trivial_bound(radius)
    trust: Trust = "exact"
    far: FarPairs | None = None
    if seconds > 0:
        norm = question.norm if question.norm != "2" or takes_squares(question) else Norm.INF
        far = far_pairs(question, radius, seconds, norm, witness)
        if far.bound is not None:
            entries = len(question.center) if question.other is None else question.other.output_dim
            found = far.bound * (1.0 if norm == question.norm else math.sqrt(entries) * (1 + 1e-15))
            if bound is None or found < bound:
                bound, trust = found, "solver"
        farther = value if far.pair in (None, witness) else _separation(question, *far.pair)
        if farther > value:
            refuted = end() if answer.refuted is None else answer.refuted
            value, answer = farther, replace(answer, witness=far.pair, refuted=refuted)
    if bound is None:
        return answer, far
    if trust == "solver":  # where it is wrong, the pair says so
        bound = max(bound, math.nextafter(value, math.inf))
    return replace(answer, optimum=Optimum(value, bound, trust)), far


def _separation(question: Question, x: list[Fraction], y: list[Fraction]) -> float:
    other = question.other
    apart = (x, y) if other is None else (list(other.exact(x)), list(other.exact(y)))
    return length_down(question.norm, *apart)
