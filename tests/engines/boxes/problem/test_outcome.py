"""What proofs count."""

from __future__ import annotations

from ircert.engines.boxes.problem.outcome import DEARER, NODE, SLOPES, WAVE, Counts


def test_work_and_effort_weigh_what_was_looked_at() -> None:
    counts = Counts(waves=2, boxes=30, pairs=4, slopes=5, nodes=3)
    assert counts.cutting == 34 + 2 * WAVE
    assert counts.work == counts.cutting + 3 * NODE
    assert counts.effort == 34 + 5 * SLOPES + (2 * WAVE + 3 * NODE) // DEARER


def test_what_came_after_an_earlier_state_adds_up() -> None:
    before, after = Counts(waves=1, boxes=10, leaves=2), Counts(waves=4, boxes=15, leaves=2, undecided=1)
    more = after.since(before)
    assert more == Counts(waves=3, boxes=5, undecided=1)
    before.add(more)
    assert before == after
