"""Engines for tests: a closed form for |x| around any centre, and answers that are wrong on purpose."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar

from ircert.engines.base import Answer, Cause, Effort, Engine, Progress, Question, Stop
from ircert.result.radius import End


class Fold(Engine):
    """|x| in one dimension: injective up to |c|; the centre's value is met again at -c."""

    name = "fold"

    def refusal(self, question: Question) -> str | None:
        return None if question.graph.input_dim == 1 else "it knows one network only"

    def answer(self, question: Question) -> Answer:
        center = Fraction(question.center.tolist()[0])
        best = abs(center) * (2 if question.problem == "pseudo" else 1)
        question.report(Progress(0.0, None, "folding"))
        if question.radius is None:
            step = best + Fraction(1, 2**60) if question.problem == "local" else best
            pair = self.pair(question, center, step)
            return Answer(None, End.below(best, "a closed form"), End.above(best, "a closed form"), pair, "exact")
        good = Fraction(question.radius) <= best if question.problem == "local" else Fraction(question.radius) < best
        if good:
            return Answer("certified", End(question.radius, "a closed form"), None, None, "exact")
        pair = self.pair(question, center, Fraction(question.radius))
        return Answer("refuted", End.below(best, "a closed form"), End.above(best, "a closed form"), pair, "exact")

    def pair(self, question: Question, center: Fraction, radius: Fraction) -> tuple[list[Fraction], list[Fraction]]:
        reach = center - radius if center > 0 else center + radius
        return ([-center], [center]) if question.problem == "pseudo" else ([reach], [-reach])


class Scripted(Engine):
    """Gives the answer that a test put here."""

    name = "scripted"
    script: ClassVar[Callable[[Question], Answer]]

    def refusal(self, question: Question) -> str | None:
        return None

    def answer(self, question: Question) -> Answer:
        return type(self).script(question)


class Toy(Engine):
    """A third engine for `auto`: it proves the radius it was given, and then has nothing more to say."""

    name = "toy"
    takes_turns = True
    declared: ClassVar[Effort] = Effort()
    proves: ClassVar[float] = 0.0
    ends_by: ClassVar[Cause | None] = Cause.UNDECIDED
    asked: ClassVar[list[Question]]

    def refusal(self, question: Question) -> str | None:
        return None

    def effort(self, question: Question) -> Effort:
        return self.declared

    def answer(self, question: Question) -> Answer:
        self.asked.append(question)
        stop = None if self.ends_by is None else Stop(self.ends_by, "a toy", {"toys": 1})
        return Answer(None, End(self.proves, "a toy's proof"), None, None, "exact", stop=stop)
