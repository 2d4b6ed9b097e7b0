"""What engines declare: options they know, and what `auto` makes of a third one."""

from __future__ import annotations

import math
from itertools import islice
from typing import Any, ClassVar

import pytest

import ircert
from ircert import engines
from ircert.data.networks import bundled
from ircert.engines.auto.turns import FIRST, SHARE, Plan, Turn
from ircert.engines.base import Answer, Cause, Effort, Question
from ircert.engines.boxes import engine as boxes
from ircert.engines.regions import engine as regions
from ircert.errors import QueryError
from ircert.limits import OutOfTime
from tests.engines.fake import Toy
from tests.entry_points import FakePoint

RADIUS = 3.154317
"""Of the network below, around 0 in norm inf."""


def ask(**options: Any) -> Any:
    return ircert.certify(bundled("vanderpol-2-32-32-2"), [0, 0], **options)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> type[Toy]:
    """A third engine that `auto` may ask; regions and boxes alone need several turns."""
    monkeypatch.setitem(engines.BUILT_IN, "toy", "tests.engines.fake:Toy")
    monkeypatch.setattr(Toy, "asked", [], raising=False)
    monkeypatch.setattr(regions, "FEW", 100)
    monkeypatch.setattr(boxes, "RATE", 0.01 * regions.RATE)
    return Toy


def turns_of(result: Any) -> list[str]:
    return [turn["engine"] for turn in result.stats["turns"]]


# --- options ---------------------------------------------------------------------------------------------------------


@pytest.mark.rule("AU-6")
@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"backend": "scip"}, "takes no `backend`; leave it out, or choose milp"),
        ({"formulation": "tangent"}, "takes no `formulation`; leave it out, or choose milp"),
        ({"backend": "highs", "formulation": "paper"}, "takes no `backend` and no `formulation`; leave it out, or"),
        ({"threads": 2}, "takes no `threads`; leave it out, or choose auto or boxes or milp"),
    ],
)
def test_an_engine_refuses_options_that_it_does_not_know(given: dict[str, Any], says: str) -> None:
    with pytest.raises(QueryError, match=f"`regions` {says}"):
        ask(engine="regions", **given)
    for engine in ("auto", "boxes") if "threads" not in given else ():
        with pytest.raises(QueryError, match=f"`{engine}` {says}"):
            ask(engine=engine, **given)
    assert ask(engine="regions", threads=1, backend=None, formulation=None).verdict == "certified"


@pytest.mark.rule("AU-6")
def test_threads_are_an_offer() -> None:
    assert ask(threads=2).engine == "regions"


@pytest.mark.rule("AU-6")
def test_auto_takes_what_one_of_its_engines_takes(toy: type[Toy], monkeypatch: pytest.MonkeyPatch) -> None:
    assert engines.get("auto").options == {"threads"}
    monkeypatch.setattr(toy, "options", frozenset({"backend"}))
    assert engines.get("auto").options == {"backend", "threads"}
    result = ask(radius=0.5, backend="highs")
    assert (result.engine, len(toy.asked)) == ("toy", 1), "those who do not know it are not asked"
    monkeypatch.delitem(engines.BUILT_IN, "toy")
    monkeypatch.delitem(engines.BUILT_IN, "boxes")
    assert engines.get("auto").options == frozenset()
    with pytest.raises(QueryError, match=r"`auto` takes no `backend`; leave it out, or choose milp$"):
        ask(backend="highs")


# --- turns -----------------------------------------------------------------------------------------------------------


@pytest.mark.rule("AU-7")
def test_a_third_engine_takes_its_place(toy: type[Toy], monkeypatch: pytest.MonkeyPatch) -> None:
    """The schedule of the others stays as it is, and each goes on from what it has proved."""
    monkeypatch.setattr(toy, "proves", 3.0)
    result = ask()
    assert result.verdict == "certified"
    assert float(result.radius.certified) == pytest.approx(RADIUS, rel=1e-6)
    assert turns_of(result) == ["regions", "boxes", "toy", "regions"]
    assert "a toy's proof" in result.radius.certified.evidence
    (asked,) = toy.asked
    assert asked.known is not None
    assert asked.known.certified > 0
    assert asked.budget is not None


@pytest.mark.rule("AU-7")
def test_a_cheap_trial_comes_first(toy: type[Toy], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toy, "declared", Effort(rate=1e6, trial=1))
    assert turns_of(ask())[:2] == ["toy", "regions"]
    assert toy.asked[0].budget == 1
    monkeypatch.setattr(toy, "proves", math.inf)
    monkeypatch.setattr(toy, "ends_by", None)
    result = ask()
    assert (result.verdict, result.engine, float(result.radius.certified)) == ("certified", "toy", math.inf)


@pytest.mark.rule("AU-7")
def test_an_engine_that_has_no_more_to_say_is_not_asked_again(toy: type[Toy], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toy, "declared", Effort(trial=1))
    result = ask()
    assert turns_of(result).count("toy") == len(toy.asked) == 1
    monkeypatch.setattr(toy, "ends_by", Cause.BUDGET)
    toy.asked.clear()
    assert turns_of(ask()).count("toy") == len(toy.asked) > 1


@pytest.mark.rule("AU-2")
@pytest.mark.parametrize("error", [OutOfTime, KeyboardInterrupt])
def test_an_engine_that_gives_up_loses_nothing(toy: type[Toy], error: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What others have proved before is the answer, or where the next one starts."""

    def give_up(self: Toy, question: Question) -> Answer:
        raise error

    monkeypatch.setattr(toy, "answer", give_up)
    result = ask()
    assert turns_of(result)[:3] == ["regions", "boxes", "toy"]
    assert result.radius.certified > 0
    assert result.interrupted == (error is KeyboardInterrupt)
    assert (result.verdict == "certified") == (error is OutOfTime)


def plan(left: float = math.inf, tired: Any = (), **able: Effort) -> list[Turn]:
    return list(islice(Plan(able, lambda: left, tired), 12))


def work(units: float) -> Effort:
    return Effort(rate=100.0, whole=lambda: units)


@pytest.mark.rule("AU-7")
def test_predicted_efforts_come_in_order_and_endless_ones_between() -> None:
    endless = Effort(rate=10.0)
    assert plan(a=endless) == [Turn("a")]
    assert plan(a=work(9.0)) == [Turn("a")]
    assert plan(long=work(900.0), short=work(50.0), a=endless) == [
        Turn("a", 5, SHARE),
        Turn("short"),
        Turn("a", 90, SHARE),
        Turn("long"),
        Turn("a"),
    ]
    assert plan(left=1.0, long=work(900.0), short=work(50.0), a=endless) == [
        Turn("a", 5, SHARE),
        Turn("short"),
        Turn("a"),
    ]
    assert plan(left=1.0, long=work(900.0), longer=work(9000.0)) == [Turn("long"), Turn("longer")]
    for unknown in (math.inf, math.nan):
        assert plan(long=work(unknown), a=endless) == [Turn("a")]


@pytest.mark.rule("AU-7")
def test_endless_engines_wait_for_none_for_ever() -> None:
    a, b = Effort(rate=10.0), Effort(rate=20.0)
    budgets = [turn.budget for turn in plan(a=a, b=b)]
    assert budgets[:4] == [int(FIRST * 10), int(FIRST * 20), int(2 * FIRST * 10), int(2 * FIRST * 20)]
    assert len(budgets) == 12
    assert plan(left=1.5 * FIRST, a=a, b=b) == [
        Turn("a", int(FIRST * 10), SHARE),
        Turn("b", int(FIRST * 20), SHARE),
        Turn("a"),
    ]
    assert plan(tired={"a"}, a=a, b=b) == [Turn("b")]
    assert plan(tired={"a", "b"}, a=a, b=b) == []


# --- other packages --------------------------------------------------------------------------------------------------


@pytest.mark.rule("AU-7")
def test_an_engine_of_another_package(toy: type[Toy], monkeypatch: pytest.MonkeyPatch) -> None:
    class Plugged(Toy):
        name = "plugged"

    monkeypatch.delitem(engines.BUILT_IN, "toy")
    monkeypatch.setattr("ircert.plugins.Registry.plugins", lambda self: (FakePoint(Plugged, "plugged"),))
    assert "plugged" in engines.names()
    assert turns_of(ask()) == ["regions", "boxes", "plugged", "regions"]
    assert ask(engine="plugged").engine == "plugged"


@pytest.mark.rule("AU-7")
def test_an_engine_that_cannot_be_loaded_is_named_and_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ircert.plugins.Registry.plugins", lambda self: (FakePoint(ImportError("gone"), "plugged"),))
    with pytest.warns(UserWarning, match="plugged.*cannot be loaded.*gone.*uninstall"):
        assert ask().verdict == "certified"
    with pytest.raises(QueryError, match="cannot be loaded"):
        ask(engine="plugged")


@pytest.mark.rule("AU-7")
@pytest.mark.parametrize("method", ["refusal", "effort", "answer"])
def test_an_engine_of_another_package_that_fails_is_named_and_passed_over(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Toy, question: Question) -> Any:
        raise KeyError("nothing")

    class Plugged(Toy):
        name = "plugged"
        declared = Effort(trial=1, rate=1e6)
        asked: ClassVar[list[Question]] = []

    monkeypatch.setattr(Plugged, method, fail)
    monkeypatch.setattr("ircert.plugins.Registry.plugins", lambda self: (FakePoint(Plugged, "plugged"),))
    with pytest.warns(UserWarning, match=r"engine `plugged`: the plugin of fake:thing failed \(KeyError: 'nothing'\)"):
        assert ask().verdict == "certified"
    if method != "effort":
        with pytest.raises(QueryError, match="repair or uninstall fake:thing"):
            ask(engine="plugged")


def test_an_engine_that_answers_with_something_else(monkeypatch: pytest.MonkeyPatch) -> None:
    class Plugged(Toy):
        name = "plugged"

        def answer(self, question: Question) -> Any:
            return "certified"

    monkeypatch.setattr("ircert.plugins.Registry.plugins", lambda self: (FakePoint(Plugged, "plugged"),))
    with pytest.raises(QueryError, match="engine `plugged`: it returned str instead of an Answer"):
        ask(engine="plugged")
