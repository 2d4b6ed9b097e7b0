"""One centre after the other, each from what those before it have shown."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ircert import engines
from ircert.answering import answer_to
from ircert.atlases.asked import Asked
from ircert.atlases.neighbours import best_balls, best_witnesses
from ircert.atlases.row import Row, Shown, judged_row
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
SHARE = 0.5
"""The part of the time that following may take: the rest is for searches."""
LONGEST = 400
"""Characters of evidence that are handed on: what was handed on before would grow."""


FRUITFUL = 0.25
"""The part of the centres that following has to answer to be asked about the rest again."""


@dataclass
class Chain:
    """The rows of some centres, found one after the other, or many from what others have shown.

    deadline: the end of the time for the whole atlas
    """

    asked: Asked
    deadline: Deadline
    rows: list[Row] = field(default_factory=list)
    following: Following = field(default_factory=Following)
    _hints: dict[int, Answer] = field(default_factory=dict)

    def add_all(self, centers: list[tuple[int, Array]]) -> None:
        """Answer centres (number, point), neighbours after each other, for as long as there is time."""
        left, follow = centers, len(centers) > 1 and self._follows
        while left and not self.deadline.passed():
            if follow:
                before = len(left)
                left = self._followed(left)
                follow = before - len(left) >= FRUITFUL * before
            if left and not self.deadline.passed():
                self.add(*left[0])
                left = left[1:]

    def add(self, at: int, center: Array) -> None:
        """Answer one centre by a search, unless others say enough."""
        start = time.perf_counter()
        asked = self.asked
        each = asked.time_each
        deadline = self.deadline if each is None else Deadline(min(each, self.deadline.left()))
        question = asked.question(center, deadline)
        known = self._known(question) if asked.is_lipschitz else None
        hint = self._hints.get(at)
        if hint is not None:
            known = merged(known, hint)
        answer, way = self._answered(question, known)
        seconds = time.perf_counter() - start
        row = judged_row(asked.key_of(center), at, question, answer, way, seconds, asked.require)
        self.rows.append(replace(row, final=row.verdict != "unresolved" or not self.deadline.passed()))
        if self._follows and answer.witness is not None:
            self.following.learn(question, answer.witness)

    @cached_property
    def _follows(self) -> bool:
        """Whether brackets may be found by following others; small questions are quicker by themselves."""
        asked = self.asked
        if asked.engine not in ("auto", "boxes") or asked.graph.input_dim <= 2 or not asked.is_piecewise_linear:
            return False
        return Following.serves(asked.question(np.clip(np.zeros(asked.graph.input_dim), *asked.sides), Deadline()))

    def _followed(self, centers: list[tuple[int, Array]]) -> list[tuple[int, Array]]:
        """Answer centres from what others have shown; those that are left to searches."""
        start, each = time.perf_counter(), self.asked.time_each
        seconds = SHARE * min(self.deadline.left(), math.inf if each is None else each * len(centers))
        deadline = Deadline(seconds)
        questions = [self.asked.question(center, deadline) for _, center in centers]
        with one_thread():
            answers = self.following.answers(questions, deadline)
        taken = (time.perf_counter() - start) / len(centers)
        left = []
        for (at, center), question, answer in zip(centers, questions, answers, strict=True):
            if answer is not None and settled(question, answer):
                given = question, replace(answer, engine="boxes"), FOLLOWED, taken, self.asked.require
                self.rows.append(judged_row(self.asked.key_of(center), at, *given))
                continue
            left.append((at, center))
            if answer is not None:
                self._hints[at] = answer
        return left

    def _answered(self, question: Question, known: Answer | None) -> tuple[Answer, str]:
        if known is not None and settled(question, known):
            return replace(known, engine="neighbours"), NEIGHBOUR
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
