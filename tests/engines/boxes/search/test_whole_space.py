"""How much effort the whole space may take: a share of all, and all of it where its end is in sight."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from ircert.engines.boxes.enclosures.batches import MOST as MOST_AT_ONCE
from ircert.engines.boxes.problem.outcome import Counts
from ircert.engines.boxes.search.whole_space import CHEAP, FIRST, NEAR, SHARE, WORTH, WholeSpace


class Proof:
    """A proof of the whole space that takes a number of boxes, and is expected to take another one."""

    busy, is_free_of_kernels, has_few_neurons = 1.0, False, False
    network = SimpleNamespace(batch=MOST_AT_ONCE)
    setting = SimpleNamespace(size=3, constrained=3)

    def __init__(self, counts: Counts, takes: int, expected: float) -> None:
        self.counts, self.takes, self.left_everywhere = counts, takes, expected

    def prove_everywhere(self, stop: Any, effort: float) -> str:
        while self.takes and not stop():
            self.takes -= 1
            self.counts.boxes += 1
        return "stopped" if self.takes else "closed"


def asked(spent: int, takes: int, expected: float, clear: float = 1.0) -> tuple[str, int]:
    """What comes of a proof after some effort, when a ball is good, and how many boxes it took."""
    counts = Counts(boxes=spent)
    space = WholeSpace(Proof(counts, takes, expected), counts, lambda: False)  # type: ignore[arg-type]
    return space.advance(clear), counts.boxes - spent


@pytest.mark.rule("E-16")
def test_while_balls_are_cheap_larger_ones_come_first() -> None:
    assert asked(CHEAP - 1, 10, math.inf, clear=0.5) == ("stopped", 0)
    assert asked(CHEAP - 1, 10, math.inf, clear=1.0) == ("closed", 10)
    assert asked(CHEAP, 10, math.inf, clear=0.5) == ("closed", 10)
    assert asked(CHEAP, 10, math.inf, clear=0.5 * NEAR) == ("stopped", 0)


@pytest.mark.rule("E-16")
def test_without_an_end_in_sight_it_takes_a_share() -> None:
    outcome, boxes = asked(8_000, 1_000_000, math.inf)
    assert outcome == "stopped"
    assert boxes == FIRST + SHARE * 8_000 + 1


@pytest.mark.rule("E-16")
def test_what_is_expected_to_end_goes_on() -> None:
    assert asked(8_000, 40_000, WORTH * 8_000) == ("closed", 40_000)


@pytest.mark.rule("E-16")
def test_what_is_expected_to_take_too_long_does_not() -> None:
    outcome, boxes = asked(8_000, 40_000, WORTH * 8_000 + 1)
    assert outcome == "stopped"
    assert boxes < 5_000
