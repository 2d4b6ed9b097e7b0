"""Why a search ended: a value, whose sentence is made in one place."""

from __future__ import annotations

import re

import pytest

import ircert
from ircert.data.networks import bundled
from ircert.engines.base import Question
from ircert.engines.boxes.engine import Boxes
from ircert.engines.regions.engine import Regions
from ircert.result.stop import Cause, Stop
from tests.engines.regions.test_prediction import question_about


@pytest.mark.rule("R-9")
@pytest.mark.parametrize("cause", Cause)
def test_every_cause_makes_a_sentence(cause: Cause) -> None:
    assert str(Stop(cause, "for a reason")).endswith("for a reason")
    assert str(Stop(cause, "for a reason", {"boxes": 1})).count("after 1 box") == 1
    assert Stop(cause).unfinished == (cause not in (Cause.INTERRUPTED, Cause.PRECISION, Cause.REFUSED))
    assert not Stop(cause).more_helps or Stop(cause).unfinished


@pytest.mark.rule("R-9")
def test_work_is_counted_in_words() -> None:
    done = {"linear regions": 1, "boxes": 903, "pairs": 4413, "tree nodes": 0}
    assert str(Stop(Cause.TIME, work=done)) == (
        "the time limit was reached after 1 linear region, 903 boxes and 4,413 pairs"
    )
    assert str(Stop(Cause.TIME, work={"tree nodes": 0})) == "the time limit was reached"
    assert str(Stop(Cause.PROCESS, "a process ended", {"pairs": 2})) == "a process ended (after 2 pairs)"
    both = Stop(Cause.TIME, work={"boxes": 1}).after(Stop(Cause.BUDGET, work={"boxes": 2, "pairs": 3}))
    assert (both.cause, both.work) == (Cause.TIME, {"boxes": 3, "pairs": 3})
    assert Stop(Cause.TIME).after(None) == Stop(Cause.TIME)


def asked(budget: int | None = None) -> Question:
    return question_about(bundled("vanderpol-2-32-32-2"), [0, 0], at_once=False, budget=budget)


@pytest.mark.rule("R-9")
def test_a_budget_is_no_time_limit_and_no_memory() -> None:
    """… and the work named is the work that was done."""
    by_boxes, by_regions = Boxes().answer(asked(budget=500)), Regions().answer(asked(budget=50))
    for found in (by_boxes, by_regions):
        assert found.stop is not None
        assert found.stop.cause is Cause.BUDGET
        assert found.unfinished
    assert by_boxes.stats["boxes"] > 0
    assert f"{by_boxes.stats['boxes']:,} boxes" in str(by_boxes.reason)
    assert f"{by_regions.stats['cells']} linear regions" in str(by_regions.reason)


@pytest.mark.rule("R-9")
def test_a_search_that_ends_by_itself_is_not_stopped() -> None:
    assert Boxes().answer(asked()).stop is None
    assert Regions().answer(asked()).stop is None


@pytest.mark.rule("R-9")
def test_the_reason_counts_all_that_was_done() -> None:
    """Boxes, pairs and nodes, whichever there are: not only the nodes."""
    result = ircert.certify(bundled("coupled-vanderpol-4-32-32-4"), [0] * 4, engine="boxes", time_limit=1.5)
    assert result.stop is not None
    assert result.stop.cause is Cause.TIME
    for name, key in (("box(es)?", "boxes"), ("pairs?", "pairs"), ("tree nodes?", "nodes")):
        said = re.search(rf"([\d,]+) {name}", str(result.reason))
        assert (0 if said is None else int(said.group(1).replace(",", ""))) == result.stats[key]
