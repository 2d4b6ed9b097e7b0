"""What an engine's answer is worth: every witness is replayed, and the verdict follows from what remains."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ircert.engines.base import Answer, Cause, Question, Stop
from ircert.engines.refutation import BrokenProof as BrokenProof
from ircert.engines.refutation import Refutation, is_inside
from ircert.geometry.norm import Norm
from ircert.ir.boxed_pair import BoxedPair, least_gaps
from ircert.result.radius import End, Radius
from ircert.result.result import Optimum, Trust, Verdict
from ircert.result.witness import TurnedPair, Witness, length_down

NOTHING = "nothing is proved beyond the centre itself"
NEAR = 2.0**-30
"""A witness of collisions that come arbitrarily close to a distance lies within this relative distance of it."""


@dataclass(frozen=True)
class Judgement:
    """The part of a result that claims something."""

    verdict: Verdict
    trust: Trust
    radius: Radius
    witness: Witness | None
    optimum: Optimum | None
    reason: str | None
    turned: TurnedPair | None = None


def judge(question: Question, answer: Answer, require: str | None = None) -> Judgement:
    """The judgement of an answer; with require="exact", of what does not rest on a solver's float bound."""
    shown = Refutation.of(question, answer)
    if require == "exact":
        answer = replace(answer, optimum=_without_solver(question, answer.optimum))
        answer = _without_float_bounds(answer) if answer.trust == "solver" else answer
    answer = replace(answer, optimum=_measured(question, answer.optimum, shown.witness))
    if question.radius is not None:
        judged = _fixed(question, question.radius, answer, shown)
    else:
        judged = _search(question, answer, shown)
    return judged if require is None else replace(judged, trust="exact")


def _fixed(question: Question, radius: float, answer: Answer, shown: Refutation) -> Judgement:
    if not is_inside(question, shown.witness, radius):
        shown = replace(shown, witness=None, distance=None)
    if not shown.is_turned_inside(radius):
        shown = replace(shown, turned=None, reach=None)
    nearest = shown.nearest
    if answer.verdict == "refuted" and nearest is None:
        raise BrokenProof("the engine refuted the ball without a collision inside it")
    if answer.verdict == "certified" and nearest is not None:
        raise BrokenProof("the engine certified a ball that holds a collision, or is turned over somewhere")
    if nearest is not None:
        refuted = _shown(answer.refuted, min(nearest, End(radius, nearest.evidence)))
        certified = answer.certified if answer.trust == "exact" else End(0.0, NOTHING)
        bracket = _bracket(certified, refuted)
        return Judgement("refuted", "exact", bracket, shown.witness, answer.optimum, None, shown.turned)
    certified = answer.certified
    if answer.verdict == "certified":
        certified = max(certified, End(radius, certified.evidence))
        return Judgement("certified", answer.trust, Radius(certified), None, answer.optimum, None)
    reason = _why(question, answer)
    return Judgement("unresolved", answer.trust, _bracket(certified, None), None, answer.optimum, reason)


def _search(question: Question, answer: Answer, shown: Refutation) -> Judgement:
    refuted, nearest = answer.refuted, shown.nearest
    reason = answer.reason
    if nearest is None and refuted is not None:
        refuted, reason = None, "a collision was claimed, but none could be shown in exact arithmetic"
    elif nearest is not None:
        refuted = nearest if answer.trust == "solver" or shown.witness is None else _shown(refuted, nearest)
    radius, witness, turned = _bracket(answer.certified, refuted), shown.witness, shown.turned
    if radius.refuted == 0.0:  # no ball is good
        return Judgement("refuted", "exact", radius, witness, None, None)
    if settles(question, radius):
        return Judgement("certified", answer.trust, radius, witness, None, None, turned)
    return Judgement("unresolved", answer.trust, radius, witness, None, reason or _why(question, answer), turned)


def settles(question: Question, radius: Radius) -> bool:
    """Whether a search may end with this bracket."""
    return radius.closed(question.tol) or radius.certified >= question.max_radius


def _bracket(certified: End, refuted: End | None) -> Radius:
    try:
        return Radius(certified, refuted)
    except ValueError as error:
        raise BrokenProof(f"the engine's bracket contradicts itself: {error}") from None


def _shown(claimed: End | None, found: End) -> End:
    """The end that the witness shows: at its distance, or at a limit of collisions that it is close to, or 0."""
    if claimed is None or claimed > found:
        return found
    return claimed if claimed == 0.0 or found <= claimed * (1 + NEAR) else found


def _why(question: Question, answer: Answer) -> str:
    if answer.reason is not None:
        return answer.reason
    if question.deadline.passed():
        return str(Stop(Cause.TIME))
    if answer.refuted is not None and answer.trust == "exact":
        return "the bracket is as narrow as this engine makes it, and wider than tol"
    return "the engine stopped before it knew"


def _without_float_bounds(answer: Answer) -> Answer:
    stop = Stop(Cause.SOLVER, "the answer rests on a floating-point bound, and an exact one is required")
    verdict: Verdict | None = None if answer.verdict is None else "unresolved"
    if answer.verdict == "refuted":
        verdict = "refuted"  # by a replayed witness, which is exact
    return replace(answer, verdict=verdict, certified=End(0.0, NOTHING), stop=stop)


def _measured(question: Question, optimum: Optimum | None, witness: Witness | None) -> Optimum | None:
    """p* with the value of the exact witness; BrokenProof where that is less than was claimed, or exceeds the bound."""
    if optimum is None or witness is None:
        return optimum
    value = _value(question, witness, question.norm if optimum.norm is None else optimum.norm)
    if value < optimum.value:
        raise BrokenProof("the witness does not attain the value of p*")
    bound = optimum.bound if optimum.trust == "exact" else max(optimum.bound, math.nextafter(value, math.inf))
    if bound < value:
        raise BrokenProof("the witness exceeds what was proved to bound p*")
    return Optimum(value, bound, optimum.trust, optimum.evidence, optimum.norm, optimum.proved)


def _value(question: Question, witness: Witness, norm: Norm) -> float:
    """How far apart a witness is, rounded down; that of boxes is the least distance of their points."""
    ends = witness.exact.x, witness.exact.y
    if witness.radii is not None:
        pair = BoxedPair(*ends, witness.radii.x, witness.radii.y)
        return norm.length_down(norm.measure(least_gaps(pair, question.other)))
    if question.other is not None:
        ends = list(question.other.exact(ends[0])), list(question.other.exact(ends[1]))
    return length_down(norm, *ends)


def _without_solver(question: Question, optimum: Optimum | None) -> Optimum | None:
    """p* with a bound that rests on no solver, where there is one."""
    if optimum is None or optimum.trust == "exact" or question.radius is None:
        return optimum
    if optimum.proved is not None:
        return Optimum(optimum.value, optimum.proved, "exact", norm=optimum.norm)
    bound = None if optimum.norm is not None else question.trivial_bound(question.radius)
    return None if bound is None else Optimum(optimum.value, bound, "exact")
