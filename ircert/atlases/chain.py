"""One centre after the other, each from what those before it have shown."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np

from ircert import engines
from ircert.atlases.asked import Asked
from ircert.atlases.neighbours import best_balls, best_witnesses
from ircert.atlases.row import Row, Shown, judged_row
from ircert.certification import answer_to
from ircert.engines.base import Answer, Question
from ircert.engines.boxes.search.following import Following
from ircert.engines.judge import NOTHING
from ircert.engines.sharing import merged, settled
from ircert.ir.arrays import Array
from ircert.limits import Deadline
from ircert.result.radius import End
from ircert.threads import one_thread

INSIDE = "it lies in the ball of radius {:.9g} around {}: {}"
WITNESS = "the witness of another centre, {}, lies within this radius"
SEARCHED, FOLLOWED, NEIGHBOUR = "search", "followed", "neighbours"
LONGEST = 400
"""Characters of evidence that are handed on: what was handed on before would grow."""


@dataclass
class Chain:
    """The rows of some centres, found one after the other.

    deadline: the end of the time for the whole atlas
    """

    asked: Asked
    deadline: Deadline
    rows: list[Row] = field(default_factory=list)
    following: Following = field(default_factory=Following)

    def add(self, at: int, center: Array) -> None:
        """Answer one centre."""
        start = time.perf_counter()
        asked = self.asked
        each = asked.time_each
        deadline = self.deadline if each is None else Deadline(min(each, self.deadline.left()))
        question = asked.question(center, deadline)
        known = self._known(question) if asked.is_lipschitz else None
        answer, way = self._answered(question, known)
        seconds = time.perf_counter() - start
        row = judged_row(asked.key_of(center), at, question, answer, way, seconds, asked.require)
        self.rows.append(replace(row, final=row.verdict != "unresolved" or not self.deadline.passed()))
        if way == SEARCHED and self._follows(question) and answer.witness is not None:
            self.following.learn(question, answer.witness)

    def _follows(self, question: Question) -> bool:
        """Whether a bracket may be found by following the last one; small questions are quicker by themselves."""
        return self.asked.engine in ("auto", "boxes") and len(question.center) > 2 and Following.serves(question)

    def _answered(self, question: Question, known: Answer | None) -> tuple[Answer, str]:
        if known is not None and settled(question, known):
            return replace(known, engine="neighbours"), NEIGHBOUR
        if self._follows(question):
            with one_thread():
                found = self.following.answer(question)
            if found is not None and (known is None or found.certified >= known.certified):
                return replace(found, engine="boxes"), FOLLOWED
        engine = engines.get(self.asked.engine)
        answer = answer_to(replace(question, known=known), engine)
        answer = replace(answer, engine=answer.engine or engine.name)
        return (answer if known is None else merged(known, answer)), SEARCHED

    def _known(self, question: Question) -> Answer | None:
        """What the rows so far say about a centre; None where that is nothing."""
        certified = self._ball(question)
        shown = self._witness(question)
        if certified is None and shown is None:
            return None
        refuted = None
        if shown is not None:
            distance = shown.distance(tuple(question.place.exact_center), question.norm)
            refuted = End(distance, WITNESS.format(f"{float(shown.x[0]):.6g}, …"))
            if distance > question.reach:
                shown = refuted = None
        given = {} if shown is None else shown.answer()
        return replace(Answer.bracket(certified or End(0.0, NOTHING), refuted), **given)

    def _ball(self, question: Question) -> End | None:
        exact = [row for row in self.rows if row.trust == "exact"]
        if not exact:
            return None
        centers, radii = np.array([row.center for row in exact]), np.array([row.certified for row in exact])
        found, which = best_balls(question.center[None], centers, radii, question.norm)
        if not found[0] > 0:
            return None
        row = exact[which[0]]
        return End(min(float(found[0]), question.reach) if found[0] < np.inf else np.inf, inside(row))

    def _witness(self, question: Question) -> Shown | None:
        shown = [row.shown for row in self.rows if row.shown is not None and row.refuted is not None]
        if not shown:
            return None
        x, y = (np.array([[float(v) for v in getattr(s, name)] for s in shown]) for name in "xy")
        _, which = best_witnesses(question.center[None], x, y, question.norm)
        return shown[which[0]]


def inside(row: Row) -> str:
    """The evidence that a ball inside the certified one of a row has."""
    point = ", ".join(f"{v:.6g}" for v in row.center[:4]) + (", …" if len(row.center) > 4 else "")
    evidence = row.evidence[0] if len(row.evidence[0]) <= LONGEST else f"{row.evidence[0][:LONGEST]} …"
    return INSIDE.format(row.certified, f"({point})", evidence)
