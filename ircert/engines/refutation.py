"""What refutes: an engine's pair, boxes or turned points, verified anew on the loaded network before they count."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ircert.engines.base import Answer, Question, free_inputs
from ircert.geometry.domain import Box
from ircert.ir.boxed_pair import BoxedPair, fault_of
from ircert.ir.enclosure import leaves_room
from ircert.ir.neck import neck
from ircert.ir.stem import agrees, shares_region
from ircert.questions.query import Query
from ircert.result.radius import End
from ircert.result.witness import TurnedPair, Witness, boxed_report, length, report, turned_pair
from ircert.witnesses.replay import refutes

REPLAYED = "a collision within this radius, replayed in exact arithmetic on the loaded network"
BOXED = "a collision within this radius, proved to lie in two small boxes by interval arithmetic"
TURNED = "determinants of opposite signs at two points within this radius, proved by interval arithmetic"


class BrokenProof(RuntimeError):
    """An engine claimed what exact arithmetic denies: a bug, and never a verdict."""


@dataclass(frozen=True)
class Refutation:
    """What remains after it was verified; nothing, perhaps.

    distance: the radius of a ball that holds the witness, rounded up
    reach:    a radius such that the interior of every larger ball holds both turned points
    """

    witness: Witness | None = None
    distance: float | None = None
    turned: TurnedPair | None = None
    reach: float | None = None

    @staticmethod
    def of(question: Question, answer: Answer) -> Refutation:
        """That of an answer; BrokenProof if something does not hold."""
        witness, distance = _reproved(question, answer) if answer.boxes is not None else _replayed(question, answer)
        turned = _verified(question, answer)
        reach = None if turned is None else _distance(question, [turned.exact.x, turned.exact.y])
        return Refutation(witness, distance, turned, reach)

    @property
    def nearest(self) -> End | None:
        """The least radius that this shows to be too large."""
        if self.reach is not None and (self.distance is None or self.reach < self.distance):
            return End(self.reach, TURNED)
        if self.distance is None:
            return None
        assert self.witness is not None
        return End(self.distance, REPLAYED if self.witness.radii is None else BOXED)

    def is_turned_inside(self, radius: float) -> bool:
        """Whether the interior of a ball holds both turned points."""
        return self.reach is not None and self.reach < radius


def query_of(question: Question, radius: float) -> Query:
    """The question about one ball."""
    box = Box(question.low, question.high)
    return Query(question.problem, question.center, radius, question.norm, question.other, box)


def is_inside(question: Question, witness: Witness | None, radius: float) -> bool:
    """Whether a closed ball, cut with the domain, holds a witness: both points, or both boxes."""
    if witness is None:
        return False
    ball = query_of(question, radius).ball
    if witness.radii is None:
        return ball.contains(witness.exact.x) and ball.contains(witness.exact.y)
    pair = BoxedPair(witness.exact.x, witness.exact.y, witness.radii.x, witness.radii.y)
    limit = Fraction(radius) ** question.norm.power
    near = all(question.norm.measure(reach) <= limit for reach in pair.reaches(question.place.exact_center))
    return near and _is_in_domain(question, pair)


def _replayed(question: Question, answer: Answer) -> tuple[Witness | None, float | None]:
    """The witness after exact evaluation of the loaded networks, and the radius of a ball that holds it."""
    if answer.witness is None:
        return None, None
    x, y = answer.witness
    distance = _distance(question, [x, y])
    fault = refutes(question.graph, query_of(question, distance), x, y) if distance > 0 else "the points are equal"
    if fault is not None:
        raise BrokenProof(f"the engine's witness fails in exact arithmetic: {fault}")
    return report(question.graph, question.other, question.norm, x, y), distance


def _reproved(question: Question, answer: Answer) -> tuple[Witness, float]:
    """Boxes after Krawczyk's test on the loaded network (R-13)."""
    pair = answer.boxes
    assert pair is not None
    if answer.witness is not None:
        raise BrokenProof("a witness is a pair of points or of boxes, not both")
    center = question.place.exact_center
    if question.problem == "pseudo" and (pair.y != center or any(pair.y_radii)):
        raise BrokenProof("the second box is not the centre")
    if not _is_in_domain(question, pair):
        raise BrokenProof("a box does not lie in the domain")
    fault = fault_of(question.graph, pair, question.other)
    if fault is not None:
        raise BrokenProof(f"the engine's boxes fail in interval arithmetic: {fault}")
    distance = max(question.norm.length_up(question.norm.measure(reach)) for reach in pair.reaches(center))
    if answer.refuted == 0.0 and not (_shrinks(question, pair) or is_bad_everywhere(question)):
        raise BrokenProof("collisions are not shown to come arbitrarily close to the centre")
    return boxed_report(question.graph, question.other, question.norm, pair), distance


def _shrinks(question: Question, pair: BoxedPair) -> bool:
    """Whether pairs like this one come arbitrarily close to the centre: the stem has one value at both points and is
    affine on their hull with the centre: so it has one value at c + t (x - c) and c + t (y - c) too, 0 < t <= 1."""
    if any(r for _, radii in pair.sides for r in radii) or not agrees(question.graph, pair.x, pair.y):
        return False
    return shares_region(question.graph, [question.place.exact_center, pair.x, pair.y])


def _is_in_domain(question: Question, pair: BoxedPair) -> bool:
    low, high = question.low.tolist(), question.high.tolist()
    return all(
        a <= v - r and v + r <= b
        for middle, radii in pair.sides
        for v, r, a, b in zip(middle, radii, low, high, strict=True)
    )


def is_bad_everywhere(question: Question) -> bool:
    """Whether every ball around the centre holds a violation, for one of two reasons.

    Outputs are those of the network's neck, if it has one (`ircert/ir/neck.py`).
    `local`: there are more inputs that may vary than outputs: no continuous map of an open set into a space of less
    dimension is injective. `pseudo`, `transform`: near the centre some inputs, one more than there are outputs, are
    told apart by the outputs and one more function (an input, or an output of the other network) together, by secants
    that are regular: so these outputs take all values nearby together (invariance of domain), also the centre's with
    another value of the function.
    """
    free = free_inputs(question)
    graph = neck(question.graph) or question.graph
    if question.problem == "local":
        return len(free) > graph.output_dim
    inner = [j for j in free if question.low[j] < question.center[j] < question.high[j]]
    return leaves_room(graph, question.center.tolist(), inner, question.other)


def _verified(question: Question, answer: Answer) -> TurnedPair | None:
    """Two points of opposite orientation, after interval arithmetic on the loaded network (R-12)."""
    if answer.turned is None:
        return None
    free = free_inputs(question)
    if question.problem != "local" or question.graph.output_dim != len(free):
        raise BrokenProof("determinants say nothing about this question")
    found = turned_pair(question.graph, *answer.turned, free)
    if found is None:
        raise BrokenProof("the engine's determinants are not of opposite signs in interval arithmetic")
    for point in (found.exact.x, found.exact.y):
        sides = zip(point, question.low.tolist(), question.high.tolist(), strict=True)
        if not all(a < v < b or a == v == b for v, a, b in sides):
            raise BrokenProof("a point with a determinant does not lie in the interior of the domain")
    return found


def _distance(question: Question, points: list[list[Fraction]]) -> float:
    return max(length(question.norm, point, question.place.exact_center) for point in points)
