"""Questions about parts in the place of one about a whole network (`ircert/structure/parts.py`), and the way back.

For `local` and `pseudo` the whole is good on a ball if and only if each part is, in its own coordinates, on the ball of
the same radius (ST-10); for `transform` the network up to the front says as much as the network (ST-9).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from ircert.engines.base import Answer, Points, Question
from ircert.engines.parts.carving import Carver
from ircert.ir.boxed_pair import BoxedPair
from ircert.limits import checkpoint
from ircert.passes.fix_inputs import FixInputs
from ircert.questions.network import first_uncertifiable
from ircert.structure.parts import Head, Part, listed, neurons


@dataclass(frozen=True, eq=False)
class Piece:
    """A question about a part, and which inputs of the whole its inputs are."""

    question: Question
    part: Part
    inputs: list[int]

    def restored(self, answer: Answer, whole: Question) -> Answer:
        """The answer with its points among all inputs: those of other parts stand at the centre."""
        center = whole.place.exact_center

        def all_inputs(point: list[Fraction]) -> list[Fraction]:
            found = list(center)
            for i, value in zip(self.inputs, point, strict=True):
                found[i] = value
            return found

        def all_radii(radii: list[Fraction]) -> list[Fraction]:
            there = dict(zip(self.inputs, radii, strict=True))
            return [there.get(i, Fraction(0)) for i in range(len(center))]

        def both(points: Points | None) -> Points | None:
            return None if points is None else (all_inputs(points[0]), all_inputs(points[1]))

        boxes = answer.boxes
        if boxes is not None:
            sides = all_inputs(boxes.x), all_inputs(boxes.y), all_radii(boxes.x_radii), all_radii(boxes.y_radii)
            boxes = BoxedPair(*sides)
        return replace(answer, witness=both(answer.witness), turned=both(answer.turned), boxes=boxes)

    @property
    def name(self) -> str:
        """For people: the inputs it is about."""
        return f"the part of input{'s' * (len(self.part.own) != 1)} {listed(self.part.own)}"


def pieces(question: Question, head: Head) -> list[Piece] | None:
    """The questions that say as much as this one, if they are easier; None if they are not, or no search takes one."""
    if question.problem == "transform":
        parts: list[Part] | None = [Part(tuple(range(question.graph.input_dim)), (), head.entries)]
    else:
        parts = head.parts
    if parts is None or not all(part.entries for part in parts) or not _are_easier(question, head, parts):
        return None  # without entries to look at there is no easier network: the whole one is constant
    carver, found = Carver(question.graph), []
    for part in parts:
        checkpoint()
        found.append(_piece(question, part, carver))
    return None if any(first_uncertifiable(piece.question.graph) is not None for piece in found) else found


def _are_easier(question: Question, head: Head, parts: list[Part]) -> bool:
    """Whether there are several parts, fewer inputs or fewer neurons."""
    graph = question.graph
    if len(parts) != 1 or first_uncertifiable(graph) is not None or head.neurons < neurons(graph):
        return True
    return len(_inputs(question, parts[0])) < graph.input_dim


def _inputs(question: Question, part: Part) -> list[int]:
    return sorted(part.own) if question.problem == "pseudo" else part.inputs


def _piece(question: Question, part: Part, carver: Carver) -> Piece:
    """`pseudo`: what is given is what it is at the centre; else it is among the outputs, because it is known."""
    graph, pseudo = question.graph, question.problem == "pseudo"
    inputs = _inputs(question, part)
    entries = dict(part.entries)
    if not pseudo and part.given:
        entries[graph.input] = tuple(sorted({*entries.get(graph.input, ()), *part.given}))
    cut, read = carver.carved(entries, inputs)
    own = set(inputs)
    at_center = set(part.given) if pseudo else set()
    values = {k: float(question.center[i]) if i in at_center else 0.0 for k, i in enumerate(read) if i not in own}
    fixed = FixInputs(values).run(cut).result if values else cut
    asked = replace(question, graph=fixed, place=question.place.keep(inputs), known=None)
    return Piece(asked, part, inputs)
