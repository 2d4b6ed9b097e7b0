"""Checks of engines: ours pass, wrong ones are caught."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest

from ircert import engines
from ircert.engines.base import Answer, Cause, Engine, Question, Stop
from ircert.engines.judge import BrokenProof
from ircert.result.radius import End
from ircert.testing import check_engine, known_radii


@pytest.mark.parametrize("name", ["regions", pytest.param("boxes", marks=pytest.mark.slow)])
def test_ours_answer_all_of_them(name: str) -> None:
    report = check_engine(engines.get(name))
    assert report.refused == ()
    assert len(report.answered) + len(report.open) == len(known_radii())
    assert len(report.open) <= len(known_radii()) // 8, report.open


def test_every_question_has_its_own_name() -> None:
    names = [known.name for known in known_radii()]
    assert len(set(names)) == len(names)


class Told(Engine):
    """Says what a test put here."""

    name = "told"

    def __init__(self, answer: Callable[[Question], Answer], refuses: bool = False) -> None:
        self.told, self.refuses = answer, refuses

    def refusal(self, question: Question) -> str | None:
        return "not today" if self.refuses else None

    def answer(self, question: Question) -> Answer:
        return self.told(question)


def nothing(question: Question) -> Answer:
    return Answer.undecided(question, End(0.0, "nothing"), Stop(Cause.UNDECIDED, "it knows nothing"))


def test_whoever_says_nothing_says_nothing_wrong() -> None:
    report = check_engine(Told(nothing))
    assert (report.answered, report.refused) == ((), ())


def test_whoever_refuses_everything_is_no_engine() -> None:
    with pytest.raises(AssertionError, match="refuses every question"):
        check_engine(Told(nothing, refuses=True))


def everything(question: Question) -> Answer:
    end = End(question.reach, "trust me")
    return Answer.bracket(end) if question.radius is None else Answer.good(end)


def too_much(question: Question) -> Answer:
    return Answer.bracket(End(0.75, "trust me")) if question.radius is None else nothing(question)


def false_witness(question: Question) -> Answer:
    if question.radius is None:
        return nothing(question)
    pair = [Fraction(1, 8)] * len(question.center), [Fraction(0)] * len(question.center)
    return Answer.bad(pair, End(0.0, "nothing"))


@pytest.mark.parametrize(
    ("answer", "error", "says"),
    [
        (everything, AssertionError, "but the largest good radius is 0.5"),
        (too_much, AssertionError, "but the largest good radius is 0.5"),
        (false_witness, BrokenProof, "fails in exact arithmetic"),
    ],
)
def test_wrong_ones_are_caught(answer: Callable[[Question], Answer], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        check_engine(Told(answer))


def test_two_answers_to_one_question_are_caught() -> None:
    calls: list[Question] = []

    def fickle(question: Question) -> Answer:
        calls.append(question)
        end = End(0.01 * (len(calls) % 2), "now and then")
        return Answer.undecided(question, end, Stop(Cause.UNDECIDED, "it knows no more"))

    with pytest.raises(AssertionError, match="two answers"):
        check_engine(Told(fickle))


def test_options_that_do_not_exist() -> None:
    engine = Told(nothing)
    engine.options = frozenset({"colour"})
    with pytest.raises(AssertionError, match="options that no engine has"):
        check_engine(engine)


def test_the_questions_have_all_problems_and_radii() -> None:
    assert {known.question.problem for known in known_radii()} == {"local", "pseudo", "transform"}
    assert {known.radius for known in known_radii()} == {0.0, 0.5, 1.0, math.inf}
