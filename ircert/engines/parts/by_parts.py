"""A question answered part by part: each part is asked for itself, and the least radius counts.

Equal parts are asked once. Parts share the time: each gets an equal share of what is left at first, and those that are
still open, the one with the least certified radius first, get what remains. A search of one part need not go beyond the
nearest violation of others, and parts that are injective so far by their secants are not searched.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from ircert.engines.base import Answer, Cause, Progress, Question, Stop, free_inputs
from ircert.engines.instant.engine import by_structure
from ircert.engines.judge import NOTHING
from ircert.engines.parts.quick import EVIDENCE, is_injective_on
from ircert.engines.parts.reduction import Piece, pieces
from ircert.engines.pinned import unpinned, without_pinned
from ircert.engines.refutation import BrokenProof, Refutation
from ircert.engines.sharing import merged, settled
from ircert.errors import IrcertError
from ircert.ir.boxed_pair import moved_onto
from ircert.limits import Deadline, OutOfTime, until
from ircert.result.radius import End
from ircert.result.result import Optimum
from ircert.structure.parts import Head

ROUNDS = 3
"""How often a part may be asked again."""
ENOUGH = 0.05
"""The part of the time for which no part is asked again."""
NOT_SHOWN = "a part is not injective, and exact arithmetic does not show it on the whole network"
NO_PAIR = Optimum(0.0, 0.0, "exact")
Ask = Callable[[Question], Answer]


def by_parts(question: Question, ask: Ask) -> Answer | None:
    """The answer, where the structure of the network leaves easier questions than the whole; else None."""
    if not free_inputs(question):
        return None
    asked = without_pinned(question)
    if asked.problem == "local" and asked.graph.output_dim < asked.graph.input_dim:
        return None
    try:
        with until(question.deadline):
            knowledge = asked.network.knowledge
            if knowledge.is_injective:  # only with inputs that are pinned: else it was said before
                return by_structure(asked)
            if not knowledge.known[asked.graph.output].all():
                return None
            found = pieces(asked, Head(knowledge))
    except OutOfTime:
        return None
    if found is None:
        return None
    answer = _Joint(asked, found, ask).answer()
    return None if answer is None else unpinned(answer, question)


@dataclass
class _Joint:
    """The parts of a question, and what is known of each."""

    question: Question
    pieces: list[Piece]
    ask: Ask
    answers: dict[int, Answer] = field(default_factory=dict)
    """By the first of equal parts."""

    def __post_init__(self) -> None:
        first: dict[Any, int] = {}
        self.first = [first.setdefault(_key(piece.question), i) for i, piece in enumerate(self.pieces)]
        self.different = sorted(first.values(), key=lambda i: (len(self.pieces[i].inputs), i))  # small ones first

    def answer(self) -> Answer | None:
        self._first_round()
        self._again()
        found = self._joined()
        shown = self._shown(found)
        if shown is not None:
            return shown
        if not self.question.deadline.passed():
            return None  # the network as it was given may show it
        found = replace(found, refuted=None, witness=None, boxes=None, turned=None)
        found = replace(found, stop=Stop(Cause.UNDECIDED, NOT_SHOWN))
        return found if self.question.radius is None else replace(found, verdict="unresolved")

    def _shown(self, found: Answer) -> Answer | None:
        """What interval arithmetic shows on the whole network: all of it, with boxes of the part or others close to
        them, or the turned points alone, where boxes do not reach through a tail; else None."""
        if self._proof(found) is not None:
            return found
        moved = self._moved(found)
        if moved is not None and self._proof(moved) is not None:
            return moved
        alone = replace(found, boxes=None)
        if found.turned is None or found.refuted is None:
            return None
        proof = self._proof(alone)
        if proof is None or proof.reach is None or proof.reach > float(found.refuted):
            return None
        radius = self.question.radius
        return alone if radius is None or proof.is_turned_inside(radius) else None

    def _moved(self, found: Answer) -> Answer | None:
        """With boxes that are solved for on the whole network: inputs with room in the domain may move."""
        if found.boxes is None:
            return None
        ends = list(zip(self.question.low.tolist(), self.question.high.tolist(), strict=True))
        fixed = {
            (k, j)
            for k, point in enumerate((found.boxes.x, found.boxes.y))
            for j, (v, (low, high)) in enumerate(zip(point, ends, strict=True))
            if not low < v < high or (k == 1 and self.question.problem == "pseudo")
        }
        try:
            boxes = moved_onto(self.question.graph, found.boxes, fixed)
        except IrcertError:  # an operation without an enclosure
            return None
        return None if boxes is None else replace(found, boxes=boxes)

    def _proof(self, found: Answer) -> Refutation | None:
        try:
            return Refutation.of(self.question, found)
        except (BrokenProof, IrcertError):
            return None

    # --- asking ------------------------------------------------------------------------------------------------------

    def _first_round(self) -> None:
        for position, i in enumerate(self.different):
            if not self._is_easy(i):
                self._ask(i, 1.0 / (len(self.different) - position))
            if self._is_over():
                return

    def _is_easy(self, i: int) -> bool:
        """Whether secants show that a part is good as far as it matters, if others say how far that is."""
        asked = self.pieces[i].question
        far = self._limit(asked) if asked.radius is None else asked.radius
        if len(self.different) == 1 or (asked.radius is None and far >= asked.max_radius):
            return False
        try:
            with until(self.question.deadline):
                good = is_injective_on(asked, far)
        except OutOfTime:
            return False
        if good:
            end = End(far, EVIDENCE)
            found = Answer.bracket(end) if asked.radius is None else Answer.good(end)
            self.answers[i] = replace(found, engine="instant")
        return good

    def _again(self) -> None:
        whole = self.question.deadline.left()
        for _ in range(ROUNDS):
            unfinished = [i for i in self.different if self._may_go_on(i)]
            if not unfinished or math.isinf(whole):
                return
            for position, i in enumerate(sorted(unfinished, key=lambda i: self._certified(i))):
                if self._is_over() or self.question.deadline.left() <= ENOUGH * whole:
                    return
                self._ask(i, 1.0 / (len(unfinished) - position))

    def _limit(self, asked: Question) -> float:
        """How far a search need go."""
        return min([asked.max_radius, *(float(a.refuted) for a in self.answers.values() if a.refuted)])

    def _ask(self, i: int, share: float) -> None:
        asked, known = self.pieces[i].question, self.answers.get(i)
        deadline = Deadline(share * self.question.deadline.left()) if share < 1.0 else self.question.deadline
        limit = self._limit(asked)
        if asked.radius is None and limit < asked.max_radius:
            asked = replace(asked, max_radius=limit)
        found = self.ask(replace(asked, deadline=deadline, known=known, report=self._report(i)))
        self.answers[i] = found if known is None else merged(known, found)

    def _is_over(self) -> bool:
        """Whether nothing that other parts say matters any more."""
        last = list(self.answers.values())[-1]
        if last.stop is not None and last.stop.cause is Cause.INTERRUPTED:
            return True
        if self.question.radius is not None and any(a.verdict == "refuted" for a in self.answers.values()):
            return True
        return self.question.deadline.passed() or any(a.refuted == 0.0 for a in self.answers.values())

    def _answer(self, i: int) -> Answer | None:
        return self.answers.get(self.first[i])

    def _may_go_on(self, i: int) -> bool:
        if i not in self.answers:
            return True
        found, best = self.answers[i], self._refuted()
        if best is not None and found.certified >= best:
            return False
        return not settled(self.pieces[i].question, found) and found.stop is not None and found.stop.more_helps

    def _certified(self, i: int) -> float:
        found = self._answer(i)
        return 0.0 if found is None else float(found.certified)

    def _refuted(self) -> float | None:
        return min((float(a.refuted) for a in self.answers.values() if a.refuted is not None), default=None)

    def _report(self, i: int) -> Callable[[Progress], None]:
        """The bracket of the whole, as far as this part changes it."""

        def report(progress: Progress) -> None:
            others = [self._certified(j) for j in self.different if j != i]
            bad = [r for r in (progress.refuted, self._refuted()) if r is not None]
            certified = min([progress.certified, *others])
            self.question.report(Progress(certified, min(bad, default=None), f"{self.pieces[i].name}: {progress.text}"))

        return report

    # --- joining -----------------------------------------------------------------------------------------------------

    def _joined(self) -> Answer:
        """The least ends of all parts."""
        weakest = min(self.different, key=self._certified)
        certified = self._end(weakest)
        bad = [i for i, a in self.answers.items() if a.refuted is not None or a.verdict == "refuted"]
        nearest = min(bad, key=lambda i: self._reach(i), default=None)
        answers = list(self.answers.values())
        unsettled = [i for i in self.different if i not in self.answers or self.answers[i].stop is not None]
        first = self.answers.get(weakest, answers[-1])
        found = Answer(
            verdict=self._verdict(),
            certified=certified,
            refuted=None,
            witness=None,
            trust="solver" if any(a.trust == "solver" for a in answers) else "exact",
            stats=self._stats(),
            optimum=self._optimum(),
            backend=first.backend,
            formulation=first.formulation,
            engine=first.engine,
            stop=self._stop(unsettled),
        )
        if nearest is None:
            return found
        there = self.pieces[nearest].restored(self.answers[nearest], self.question)
        end = None if there.refuted is None else _told(there.refuted, self._place(nearest))
        return replace(found, refuted=end, witness=there.witness, boxes=there.boxes, turned=there.turned)

    def _reach(self, i: int) -> float:
        end = self.answers[i].refuted
        return math.inf if end is None else float(end)

    def _end(self, i: int) -> End:
        if i not in self.answers:
            return End(0.0, NOTHING)
        count = len(self.pieces)
        said = self._place(i) if count == 1 else f"the least of {count} parts, {self._place(i)}"
        return _told(self.answers[i].certified, said)

    def _place(self, i: int) -> str:
        if len(self.pieces) == 1:
            return "by structure the question is one about the network up to a cut"
        return self.pieces[i].name

    def _verdict(self) -> Any:
        if self.question.radius is None:
            return None
        verdicts = [a.verdict for a in self.answers.values()]
        if "refuted" in verdicts:
            return "refuted"
        complete = len(verdicts) == len(self.different) and all(v == "certified" for v in verdicts)
        return "certified" if complete else "unresolved"

    def _stop(self, unsettled: list[int]) -> Stop | None:
        if not unsettled:
            return None
        stops = [self.answers[i].stop for i in unsettled if i in self.answers]
        interrupted = [s for s in stops if s is not None and s.cause is Cause.INTERRUPTED]
        return next(iter(interrupted), None) or next((s for s in stops if s is not None), Stop(Cause.TIME))

    def _optimum(self) -> Optimum | None:
        """p*: no pair of the whole is further apart, in norm inf, than the worst of the parts."""
        radius, found = self.question.radius, [a.optimum for a in self.answers.values()]
        if radius is None or all(o is None for o in found):
            return None
        pairs = zip(found, self.answers.values(), strict=True)
        found = [NO_PAIR if o is None and a.verdict == "certified" else o for o, a in pairs]
        if len(self.pieces) == 1:
            return found[0]
        value = max(o.value for o in found if o is not None)
        bounds = [o.bound for o in found if o is not None]
        trust = [o.trust for o in found if o is not None]
        if len(bounds) == len(self.different) and (self.question.norm == "inf" or not any(bounds)):
            return Optimum(value, max(bounds), "solver" if "solver" in trust else "exact")
        bound = self.question.trivial_bound(radius)
        return None if bound is None else Optimum(value, bound, "exact")

    def _stats(self) -> dict[str, Any]:
        seconds: dict[str, float] = {}
        listed = []
        for i, piece in enumerate(self.pieces):
            answer = self._answer(i)
            entry: dict[str, Any] = {"inputs": list(piece.part.own), "given": list(piece.part.given)}
            entry["outputs"] = {name: len(chosen) for name, chosen in piece.part.entries.items()}
            if answer is not None:
                entry |= {"engine": answer.engine, "certified": _plain(answer.certified)}
                entry |= {"refuted": _plain(answer.refuted), "reason": answer.reason}
            if answer is not None and i in self.answers:
                for name, spent in answer.stats.get("seconds", {}).items():
                    seconds[name] = seconds.get(name, 0.0) + spent
            listed.append(entry)
        return {"parts": listed, **({"seconds": seconds} if seconds else {})}


def _key(asked: Question) -> tuple[Any, ...]:
    """Parts that are the same question have one answer, up to names of inputs."""
    other = None if asked.other is None else asked.other.sha256
    return asked.graph.sha256, other, *(v.tobytes() for v in (asked.center, asked.low, asked.high))


def _told(end: End, where: str) -> End:
    return End(end, f"{where}: {end.evidence}", end.exact)


def _plain(end: End | None) -> float | str | None:
    return None if end is None else float(end) if end < math.inf else "inf"
