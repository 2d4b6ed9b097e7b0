"""Violations in the stem of a smooth network: two points at which all that curves read is the same, exactly."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from ircert.engines.base import Answer, Question, silent
from ircert.engines.boxes.search.search import Search
from ircert.engines.instant.engine import instant
from ircert.ir.boxed_pair import BoxedPair, fault_of
from ircert.ir.stem import shares_region, stem
from ircert.limits import Deadline
from ircert.questions.network import Networks

SHARE, LEAST, MOST = 0.05, 0.5, 5.0
"""The part of the time that a search in the stem may take, and seconds that it may take at least and at most."""


@dataclass(frozen=True)
class StemPair:
    """Two points with one image; `everywhere`: such pairs come arbitrarily close to the centre."""

    boxes: BoxedPair
    everywhere: bool


def stem_pair(question: Question) -> StemPair | None:
    """A violation of `local` or `pseudo` that the stem shows, as near as its own search finds one."""
    front = stem(question.graph) if question.problem != "transform" else None
    if front is None:
        return None
    asked = replace(
        question,
        graph=front,
        networks=Networks.of(front),
        report=silent,
        known=None,
        at_once=True,
        budget=None,
        threads=1,
    )
    found: Answer = instant(asked) or Search(replace(asked, deadline=_deadline(question))).answer()
    if found.witness is None:
        return None
    x, y = found.witness
    zeros = [Fraction(0)] * len(x)
    pair = BoxedPair(list(x), list(y), zeros, zeros)
    if fault_of(question.graph, pair) is not None:
        return None
    return StemPair(pair, shares_region(question.graph, [question.place.exact_center, pair.x, pair.y]))


def _deadline(question: Question) -> Deadline:
    left = question.deadline.left()
    return Deadline(min(max(SHARE * left, min(LEAST, left / 3)), MOST))
