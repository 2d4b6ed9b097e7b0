"""What an engine's answer is worth: every witness is replayed, and the verdict follows from what remains."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from ircert.engines.base import Answer, Cause, Question, Stop
from ircert.geometry.domain import Box
from ircert.questions.query import Query
from ircert.result.radius import End, Radius
from ircert.result.result import Optimum, Trust, Verdict
from ircert.result.witness import TurnedPair, Witness, length, report, turned_pair
from ircert.witnesses.replay import refutes

TURNED = "determinants of opposite signs at two points within this radius, proved by interval arithmetic"
REPLAYED = "a collision within this radius, replayed in exact arithmetic on the loaded network"
NOTHING = "nothing is proved beyond the centre itself"
NEAR = 2.0**-30
"""A witness of collisions that come arbitrarily close to a distance lies within this relative distance of it."""


class BrokenProof(RuntimeError):
    """An engine claimed what exact arithmetic denies: a bug, and never a verdict."""


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
    witness, distance = _replayed(question, answer)
    turned = _verified(question, answer)
    if require == "exact":
        answer = replace(answer, optimum=_without_solver(question, answer.optimum))
        answer = _without_float_bounds(answer) if answer.trust == "solver" else answer
    if question.radius is not None:
        judged = _fixed(question, question.radius, answer, witness, distance, turned)
    else:
        judged = _search(question, answer, witness, distance, turned)
    return judged if require is None else replace(judged, trust="exact")


def _replayed(question: Question, answer: Answer) -> tuple[Witness | None, float | None]:
    """The witness after exact evaluation of the loaded networks, and the radius of a ball that holds it."""
    if answer.witness is None:
        return None, None
    x, y = answer.witness
    center = [Fraction(v) for v in question.center.tolist()]
    distance = max(length(question.norm, x, center), length(question.norm, y, center))
    fault = refutes(question.graph, _query(question, distance), x, y) if distance > 0 else "the points are equal"
    if fault is not None:
        raise BrokenProof(f"the engine's witness fails in exact arithmetic: {fault}")
    return report(question.graph, question.other, question.norm, x, y), distance


def _verified(question: Question, answer: Answer) -> TurnedPair | None:
    """Two points of opposite orientation, after interval arithmetic on the loaded network (R-12)."""
    if answer.turned is None:
        return None
    if question.problem != "local" or question.graph.output_dim != question.graph.input_dim:
        raise BrokenProof("determinants say nothing about this question")
    found = turned_pair(question.graph, *answer.turned)
    if found is None:
        raise BrokenProof("the engine's determinants are not of opposite signs in interval arithmetic")
    for point in (found.exact.x, found.exact.y):
        if not all(a < v < b for v, a, b in zip(point, question.low.tolist(), question.high.tolist(), strict=True)):
            raise BrokenProof("a point with a determinant does not lie in the interior of the domain")
    return found


def _reach(question: Question, turned: TurnedPair) -> float:
    """A radius such that the interior of every larger ball holds both points."""
    center = [Fraction(v) for v in question.center.tolist()]
    return max(length(question.norm, point, center) for point in (turned.exact.x, turned.exact.y))


def _query(question: Question, radius: float) -> Query:
    box = Box(question.low, question.high)
    return Query(question.problem, question.center, radius, question.norm, question.other, box)


def _fixed(
    question: Question,
    radius: float,
    answer: Answer,
    witness: Witness | None,
    distance: float | None,
    turned: TurnedPair | None,
) -> Judgement:
    ball = _query(question, radius).ball
    inside = witness is not None and ball.contains(witness.exact.x) and ball.contains(witness.exact.y)
    within = turned is not None and _reach(question, turned) < radius
    if not inside and within:
        return _folded(question, answer, turned)
    if answer.verdict == "refuted" and not inside:
        raise BrokenProof("the engine refuted the ball without a collision inside it")
    if answer.verdict == "certified" and inside:
        raise BrokenProof("the engine certified a ball that holds a collision")
    if inside:
        assert distance is not None
        refuted = _shown(answer.refuted, End(min(distance, radius), REPLAYED))
        certified = answer.certified if answer.trust == "exact" else End(0.0, NOTHING)
        return Judgement("refuted", "exact", _bracket(certified, refuted), witness, answer.optimum, None)
    certified = answer.certified
    if answer.verdict == "certified":
        certified = max(certified, End(radius, certified.evidence))
        return Judgement("certified", answer.trust, Radius(certified), None, answer.optimum, None)
    reason = _why(question, answer)
    return Judgement("unresolved", answer.trust, _bracket(certified, None), None, answer.optimum, reason)


def _folded(question: Question, answer: Answer, turned: TurnedPair | None) -> Judgement:
    """A ball whose interior has both orientations."""
    assert turned is not None
    if answer.verdict == "certified":
        raise BrokenProof("the engine certified a ball that is turned over somewhere")
    certified = answer.certified if answer.trust == "exact" else End(0.0, NOTHING)
    bracket = _bracket(certified, End(_reach(question, turned), TURNED))
    return Judgement("refuted", "exact", bracket, None, answer.optimum, None, turned)


def _search(
    question: Question, answer: Answer, witness: Witness | None, distance: float | None, turned: TurnedPair | None
) -> Judgement:
    refuted = answer.refuted
    reason = answer.reason
    reach = None if turned is None else _reach(question, turned)
    if reach is not None and (distance is None or reach < distance):
        refuted = End(reach, TURNED)
    elif distance is None and refuted is not None:
        refuted, reason = None, "a collision was claimed, but none could be shown in exact arithmetic"
    elif distance is not None:
        found = End(distance, REPLAYED)
        refuted = found if answer.trust == "solver" else _shown(refuted, found)
    radius = _bracket(answer.certified, refuted)
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
    stop = Stop(Cause.SOLVER, "the answer rests on a solver's floating-point bound, and an exact one is required")
    verdict: Verdict | None = None if answer.verdict is None else "unresolved"
    if answer.verdict == "refuted":
        verdict = "refuted"  # by a replayed witness, which is exact
    return replace(answer, verdict=verdict, certified=End(0.0, NOTHING), stop=stop)


def _without_solver(question: Question, optimum: Optimum | None) -> Optimum | None:
    """p* with a bound that rests on no solver, where there is one."""
    if optimum is None or optimum.trust == "exact" or question.radius is None:
        return optimum
    bound = question.trivial_bound(question.radius)
    return None if bound is None else Optimum(optimum.value, bound, "exact")
