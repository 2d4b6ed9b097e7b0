"""Ten thousand generated networks through every engine: no wrong verdict, and few that stay open."""

from __future__ import annotations

import pytest

from ircert.engines.boxes.effort.portfolio import Way
from ircert.engines.boxes.problem.outcome import Outcome
from ircert.engines.boxes.search.prover import MATRIX_BEYOND, Prover
from ircert.engines.boxes.search.search import Search
from tests.generated.checking import Tally, boxes_against_regions, check_all
from tests.generated.networks import DEEPEST, FEWEST, MOST, asked, neurons

ALL = 10_000
PARTS = 10
MIX = 7919
"""A prime: its multiples spread families, problems and norms over the parts."""
SECONDS = 10.0
"""For one question of the long run."""
ALONE = 2.0
"""… with one matrix alone, which gives up or goes on without an end where it does not reach."""


def accept(tally: Tally, most_open: dict[str, float]) -> None:
    """Nothing is wrong, and less than a part of each engine's questions is open."""
    print(tally)  # shown by pytest -s or -rP
    assert not tally.wrong, str(tally)
    for engine, part in most_open.items():
        assert tally.asked[engine], f"{engine} was never asked"
        assert tally.share(engine) < part, str(tally)


@pytest.mark.slow
@pytest.mark.timeout(4 * 3600)
@pytest.mark.parametrize("part", range(PARTS))
def test_ten_thousand_networks(part: int) -> None:
    """`pytest -m slow -k ten_thousand` runs them all, `-n 8` spreads the parts."""
    size = ALL // PARTS
    tally = check_all([k * MIX % ALL for k in range(part * size, (part + 1) * size)], SECONDS)
    assert tally.networks == size
    assert tally.positive >= 0.5 * tally.networks
    accept(tally, {"boxes": 0.02, "regions": 0.02, "auto": 0.02, "boxes, balls": 0.02, "regions, balls": 0.02})


@pytest.mark.rule("E-1", "E-2", "E-3")
def test_a_sample_of_them() -> None:
    """Short limits, so that more may stay open with `boxes`; the exact engine needs no more."""
    tally = check_all(range(11, ALL, 457), seconds=1.0)
    assert tally.full >= 10
    accept(tally, {"boxes": 0.5, "regions": 0.02, "auto": 0.5, "regions, balls": 0.02})


@pytest.fixture
def one_matrix_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """`boxes` proves balls by one matrix or not at all (for `transform`, those of the given outputs)."""

    def ways(self: Prover, radius: float) -> list[tuple[Way, float]]:
        found: list[tuple[Way, float]] = []
        if self.inner is not None:
            found.append((lambda stop: self._by_constrained_outputs(radius, stop), MATRIX_BEYOND))
        if self.covering is not None:
            found.append((lambda stop: self._by_matrix(radius, stop), MATRIX_BEYOND))
        return found

    def nothing(*_: object) -> Outcome:
        return "stopped"

    monkeypatch.setattr(Prover, "_ways_for", ways)
    monkeypatch.setattr(Prover, "_by_pairs", nothing)
    monkeypatch.setattr(Search, "_near_and_far", lambda self, _: self._stopped())


@pytest.mark.slow
@pytest.mark.timeout(4 * 3600)
@pytest.mark.rule("E-15")
@pytest.mark.usefixtures("one_matrix_alone")
@pytest.mark.parametrize("part", range(PARTS))
def test_many_by_one_matrix_alone(part: int) -> None:
    """Nothing else can hide a wrong proof; where there is no matrix for the ball, the question stays open."""
    size = ALL // PARTS
    indices = [k * MIX % ALL for k in range(part * size, (part + 1) * size)]
    accept(check_all(indices, ALONE, boxes_against_regions), {"boxes": 0.85, "regions": 0.1})


@pytest.mark.rule("E-15")
@pytest.mark.usefixtures("one_matrix_alone")
def test_a_sample_by_one_matrix_alone() -> None:
    accept(check_all(range(13, ALL, 907), 1.0, boxes_against_regions), {"boxes": 0.9})


def test_the_shares_of_all_kinds() -> None:
    """Half with weights of 53 bits, all numbers of inputs and layers, all problems and norms."""
    questions = [asked(index) for index in range(0, ALL, 37)]
    sizes = [(len(q.center), len(q.layers) - 1, neurons(q.layers)) for q in questions]
    assert {n for n, _, _ in sizes} == {1, 2, 3, 4}
    assert {depth for _, depth, _ in sizes} == set(range(1, DEEPEST + 1))
    assert min(count for _, _, count in sizes) >= FEWEST
    assert max(count for _, _, count in sizes) <= MOST
    assert sum(q.full for q in questions) == pytest.approx(0.5 * len(questions), rel=0.05)
    assert len({(q.problem, q.norm) for q in questions}) == 9
    first, again = (asked(9) for _ in range(2))
    assert str(first) == str(again)
    assert all((v == w).all() for (v, _), (w, _) in zip(first.layers, again.layers, strict=True))
