"""What other centres say: balls in balls, and witnesses elsewhere."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert.atlases.joining import cross_check
from ircert.atlases.layout import grid
from ircert.atlases.neighbours import balls_inside, best_balls, best_witnesses
from ircert.atlases.region import Region
from ircert.atlases.row import Row, Shown
from ircert.engines.refutation import BrokenProof
from ircert.geometry.norm import Norm

numbers = st.floats(-1e6, 1e6)


@pytest.mark.rule("A-1", "A-2")
@given(st.sampled_from(list(Norm)), st.lists(numbers, min_size=6, max_size=6), st.floats(0, 1e7))
def test_balls_inside_are_inside_exactly(norm: Norm, given: list[float], radius: float) -> None:
    c, d = np.array(given[:3]), np.array(given[3:])
    found = float(balls_inside(d, c[None], np.array([radius]), norm)[0])
    if found > 0:
        apart = norm.distance(map(Fraction, c.tolist()), map(Fraction, d.tolist()))
        assert apart <= (Fraction(radius) - Fraction(found)) ** norm.power


def test_the_best_of_many() -> None:
    centers = np.array([[0.0, 0.0], [3.0, 0.0]])
    radii, which = best_balls(np.array([[0.5, 0.0], [2.9, 0.0], [9.0, 9.0]]), centers, np.array([1.0, 2.0]), Norm.INF)
    assert which.tolist()[:2] == [0, 1]
    assert radii == pytest.approx([0.5, 1.9, 0.0])
    far, which = best_witnesses(np.zeros((1, 2)), np.array([[3.0, 0], [1, 0]]), np.array([[0, 1.0], [0, 2]]), Norm.ONE)
    assert (far[0], which[0]) == (2.0, 1)
    assert best_witnesses(np.zeros((1, 2)), np.zeros((0, 2)), np.zeros((0, 2)), Norm.ONE)[1][0] == -1


@pytest.mark.rule("A-3")
def test_a_witness_refutes_wherever_it_lies() -> None:
    shown = Shown("pair", (Fraction(1), Fraction(0)), (Fraction(-1), Fraction(0)))
    assert shown.distance((Fraction(1, 2), Fraction(0)), Norm.INF) == 1.5
    assert Shown.from_json(shown.to_json()) == shown
    boxes = replace(shown, kind="boxes", radii=((Fraction(1, 4),) * 2, (Fraction(0),) * 2))
    assert boxes.distance((Fraction(0), Fraction(0)), Norm.INF) == 1.25
    assert Shown.from_json(boxes.to_json()) == boxes


@pytest.mark.rule("A-4")
def test_contradictions_are_bugs() -> None:
    atlas = ircert.atlas(_folding(), grid((0.5, 1.5, 3), (-1, 1, 3)))
    rows = list(atlas)
    assert rows[0].certified == pytest.approx(0.5)
    cross_check(rows, Norm.INF)
    wrong: list[Row] = [replace(rows[0], certified=0.9), *rows[1:]]
    with pytest.raises(BrokenProof, match="holds the witness"):
        cross_check(wrong, Norm.INF)


@pytest.mark.rule("A-5")
def test_open_rows_are_narrowed() -> None:
    from ircert.atlases.joining import joined

    atlas = ircert.atlas(_folding(), grid((0.5, 1.5, 5), (-1, 1, 2)))
    kept = {row.key: row for row in atlas if row.at != 4}
    again = joined(atlas.asked, atlas.layout, kept, 0.0, interrupted=True)
    assert again[4].way == "neighbours"
    assert 0 < again[4].certified <= atlas[4].certified
    assert again[4].refuted is not None
    assert atlas[4].refuted is not None
    assert again[4].refuted >= atlas[4].certified


def test_the_region_is_a_union_of_balls() -> None:
    region = Region.of(np.array([[0.0, 0.0], [0.1, 0.0], [5.0, 0.0]]), np.array([1.0, 0.5, 0.0]), Norm.TWO)
    assert len(region) == 1
    assert region.contains(np.array([[0.7, 0.7], [0.8, 0.8]])).tolist() == [True, False]


def _folding() -> ircert.Graph:
    # (|x|, y) folds at x = 0
    return ircert.load(
        [
            (np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]]), np.zeros(4)),
            (np.array([[1.0, 1, 0, 0], [0, 0, 1, -1]]), np.zeros(2)),
        ]
    )
