"""The engine `auto`: whom it asks, and what one engine takes over from another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert import engines
from ircert.data.networks import bundled
from ircert.engines.auto import turns as planning
from ircert.engines.auto.turns import Plan, Turn
from ircert.engines.base import Answer, Cause, Progress, Question, Stop
from ircert.engines.boxes import engine as boxes
from ircert.engines.boxes.engine import Boxes
from ircert.engines.regions import engine as regions
from ircert.engines.regions.engine import Regions
from ircert.engines.sharing import good_radius, merged
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.limits import Deadline
from ircert.result.radius import End
from tests.engines.fake import Scripted
from tests.engines.regions.test_prediction import question_about

RADIUS = 3.154317
"""Of the network below, around 0 in norm inf."""


def network() -> ircert.Graph:
    return bundled("vanderpol-2-32-32-2")


def asked(**changes: Any) -> Question:
    return question_about(network(), [0, 0], at_once=False, **changes)


def known(certified: float, pair: Any = None, refuted: float | None = None) -> Answer:
    end = None if refuted is None else End(refuted, "seen before")
    return Answer(None, End(certified, "proved before"), end, pair, "exact", stop=Stop(Cause.TIME))


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """So few regions and boxes that all turns of a small network are needed."""
    monkeypatch.setattr(regions, "FEW", 100)
    monkeypatch.setattr(boxes, "RATE", 0.01 * regions.RATE)


def plan(*able: str, **changes: Any) -> list[Turn]:
    question = asked(**changes)
    efforts = {name: engines.get(name).effort(question) for name in able or ("boxes", "regions")}
    return list(Plan(efforts, question.deadline.left))


def test_who_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    few, later = Turn("regions", regions.FEW), [Turn("regions"), Turn("boxes")]
    assert [few, *later] == [turn for turn in plan() if turn.share == 1.0]
    assert plan(radius=1.0)[0] == few
    assert [turn.engine for turn in plan()] == ["regions", "boxes", "regions", "boxes"]
    assert plan("boxes") == [Turn("boxes")]
    assert plan("regions") == [Turn("regions")]
    assert [turn.engine for turn in plan(deadline=Deadline(0.1))] == ["regions", "boxes"]
    assert plan(radius=1.0)[1] == Turn("boxes", 8 * regions.FEW, planning.SHARE)
    monkeypatch.setattr(regions, "MOST", 20)
    assert plan(radius=1.0) == [few, Turn("boxes")]


def test_a_share_of_the_time() -> None:
    assert 40 < Turn("boxes", share=0.5).of(asked(deadline=Deadline(100.0))).deadline.left() <= 50
    assert Turn("boxes", share=0.5).of(asked()).deadline.left() == np.inf


@pytest.mark.rule("AU-2", "AU-4", "AU-5")
@pytest.mark.parametrize("problem", ["local", "pseudo"])
def test_all_turns_give_the_answer_of_one(few: None, problem: str) -> None:
    direct = ircert.certify(network(), [0, 0], problem=problem, engine="regions", max_radius=8.0)
    results = [ircert.certify(network(), [0, 0], problem=problem, max_radius=8.0) for _ in range(2)]
    for result in results:
        assert result.verdict == "certified"
        assert result.radius.certified == pytest.approx(direct.radius.certified, rel=2e-6)
        assert [turn["engine"] for turn in result.stats["turns"]] == ["regions", "boxes", "regions"]
        assert result.engine == "regions"
        assert "; up to " in result.radius.certified.evidence
        ends = [turn["certified"] for turn in result.stats["turns"]]
        assert ends == sorted(ends)
        assert ends[0] > 0
    assert results[0].radius == results[1].radius


@pytest.mark.rule("AU-2")
@pytest.mark.parametrize("radius", [3.0, 3.5])
def test_a_ball_in_turns(few: None, radius: float) -> None:
    result = ircert.certify(network(), [0, 0], radius=radius)
    assert result.verdict == ("certified" if radius < RADIUS else "refuted")
    turns = [turn["engine"] for turn in result.stats["turns"]]
    assert turns[:2] == ["regions", "boxes"]
    assert turns[2:] == ["regions"] or (radius > RADIUS and not turns[2:]), "a collision may be found before"


@pytest.mark.rule("AU-3")
def test_regions_start_beyond_the_ball_that_is_known() -> None:
    reports: list[list[Progress]] = [[], []]
    first = Regions().answer(asked(report=reports[0].append))
    second = Regions().answer(asked(report=reports[1].append, known=known(3.0)))
    assert first.refuted == second.refuted
    assert len(reports[1]) < len(reports[0])
    assert all(report.certified > 3.0 for report in reports[1])
    assert second.stats["pairs solved"] <= first.stats["pairs solved"]


@pytest.mark.rule("AU-3")
def test_regions_go_no_further_than_the_collision_that_is_known() -> None:
    found = Boxes().answer(asked())
    assert found.refuted is not None
    direct = Regions().answer(asked())
    again = Regions().answer(asked(known=replace(known(0.5), refuted=found.refuted, witness=found.witness)))
    assert again.stats["radius explored"] == float(found.refuted) < direct.stats["radius explored"]
    assert again.refuted == pytest.approx(RADIUS, rel=1e-6)


@pytest.mark.rule("AU-3")
def test_boxes_starts_from_the_bracket_that_is_known() -> None:
    first = Boxes().answer(asked())
    again = Boxes().answer(asked(known=replace(known(3.1), refuted=first.refuted, witness=first.witness)))
    assert again.witness == first.witness
    assert again.certified == pytest.approx(first.certified, rel=1e-6)
    assert 0 < again.stats["boxes"] < first.stats["boxes"]
    assert first.refuted is not None
    closed = replace(first, certified=End(first.refuted * (1 - 1e-7), "proved before"))
    done = Boxes().answer(asked(known=closed))
    assert done.stats["boxes"] == done.stats["pairs"] == 0


@pytest.mark.rule("AU-3")
def test_a_solver_s_word_is_no_start() -> None:
    assert good_radius(asked(known=replace(known(3.0), trust="solver"))) == 0.0
    assert 0 < 3.0 - good_radius(asked(known=known(3.0))) < 1e-12
    assert good_radius(asked(known=known(np.inf), max_radius=5.0)) == 5.0
    assert good_radius(asked(known=known(5e-324))) == 0.0


def test_pinned_inputs_share_as_well() -> None:
    """The pair that is known has all coordinates, and the search looks at the free ones."""
    place = Place(np.array([0.75, 2.0]), Norm.INF, np.array([-np.inf, 2.0]), np.array([np.inf, 2.0]))
    options: Any = {"place": place, "at_once": False}
    graph = ircert.load([([[1, 0], [-1, 0], [0, 1]], [0, 0, 0]), ([[1, 1, 1]], [0])])
    direct = Boxes().answer(question_about(graph, [0.75, 2.0], **options))
    assert direct.refuted == pytest.approx(0.75)
    earlier = known(0.5, direct.witness, direct.refuted)
    again = Boxes().answer(question_about(graph, [0.75, 2.0], known=earlier, **options))
    assert (again.witness, again.refuted) == (direct.witness, direct.refuted)


RADII = st.floats(0, 4)


@pytest.mark.rule("AU-4")
@given(RADII, RADII, st.none() | st.floats(5, 9), st.none() | st.floats(5, 9), st.booleans())
def test_merged_ends_are_the_better_ones(a: float, b: float, c: float | None, d: float | None, solver: bool) -> None:
    pairs = [([Fraction(i)], [Fraction(-i)]) for i in (1, 2)]
    first = known(a, None if c is None else pairs[0], c)
    second = replace(known(b, None if d is None else pairs[1], d), trust="solver" if solver else "exact")
    both = merged(first, second)
    assert both.certified == max(a, b)
    refuted = [end for end in (c, d) if end is not None]
    assert both.refuted == min(refuted, default=None)
    assert both.witness == next((x.witness for x in (second, first) if x.refuted and x.refuted == both.refuted), None)
    assert both.trust == ("solver" if solver and b > a else "exact")
    assert merged(None, second) is second


def test_evidence_names_both() -> None:
    later = replace(known(2.0), certified=End(2.0, "proved later"))
    assert merged(known(1.5), later).certified.evidence == "proved later; up to 1.5: proved before"
    assert merged(known(2.5), later).certified.evidence == "proved before"
    assert merged(known(0.0), later).certified.evidence == "proved later"


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch, script: Callable[..., None]) -> Callable[..., None]:
    """Puts a script in the place of the engine `boxes`."""
    monkeypatch.setattr(Boxes, "answer", lambda _, question: Scripted.script(question))
    return script


@pytest.mark.rule("AU-2")
def test_ctrl_c_in_a_later_turn_keeps_what_is_known(few: None, stub: Callable[..., None]) -> None:
    def press(question: Question) -> Answer:
        raise KeyboardInterrupt

    stub(press)
    result = ircert.certify(network(), [0, 0])
    assert (result.verdict, result.interrupted) == ("unresolved", True)
    assert str(result.reason).startswith("interrupted after ")
    assert result.radius.certified > 0


@pytest.mark.rule("AU-2")
def test_an_interrupted_engine_is_the_last_one(few: None, stub: Callable[..., None]) -> None:
    stub(lambda question: replace(known(0.0), stop=Stop(Cause.INTERRUPTED)))
    result = ircert.certify(network(), [0, 0])
    assert [turn["engine"] for turn in result.stats["turns"]] == ["regions", "boxes"]
    assert (result.verdict, result.interrupted, result.engine) == ("unresolved", True, "boxes")
    assert result.radius.certified > 0


@pytest.mark.rule("AU-4")
def test_trust_of_an_end_that_rests_on_a_solver(few: None, stub: Callable[..., None]) -> None:
    stub(lambda question: replace(known(3.0), trust="solver", stop=None))
    result = ircert.certify(network(), [0, 0])
    assert (result.trust, result.radius.certified) == ("solver", 3.0)
    strict = ircert.certify(network(), [0, 0], require="exact")
    assert strict.radius.certified == 0.0


@pytest.mark.rule("AU-2")
def test_no_turn_begins_after_the_time_limit(few: None, stub: Callable[..., None]) -> None:
    def slow(question: Question) -> Answer:
        while not question.deadline.passed():
            pass
        assert question.known is not None
        return known(0.0)

    stub(slow)
    result = ircert.certify(network(), [0, 0], time_limit=0.6)
    assert result.stats["turns"][1]["engine"] == "boxes"
    assert result.radius.certified > 0
