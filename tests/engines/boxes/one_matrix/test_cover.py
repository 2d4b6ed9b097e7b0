"""Covers that grow: a larger ball with the matrix that proved a smaller one, outside of that."""

from __future__ import annotations

import numpy as np
import pytest

from ircert.data.networks import bundled
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.one_matrix import covering as covering_module
from ircert.engines.boxes.one_matrix.cover import Cover
from ircert.engines.boxes.one_matrix.covering import Covering
from ircert.engines.boxes.one_matrix.domination import OneMatrix
from ircert.engines.boxes.one_matrix.points import Points
from ircert.engines.boxes.problem.outcome import Counts
from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.norm import Norm
from tests.engines.boxes.making import fold, setting_of

WAVES = 500


def covering_of(setting: Setting) -> Covering:
    return Covering(Batches(setting), Counts(), lambda: None)


def advanced(found: Covering, radius: float) -> str:
    with np.errstate(all="ignore"):
        return found.advance(radius, lambda: found.counts.waves > WAVES)


def waves(cover: Cover, radius: float) -> int:
    """The boxes that a cover takes."""
    cover.begin(radius)
    before = cover.spent
    with np.errstate(all="ignore"):
        while cover.step(radius, lambda: False) != "closed":
            assert cover.spent < 100_000
    return cover.spent - before


@pytest.mark.rule("E-15")
def test_a_larger_ball_with_the_same_matrix_takes_what_it_adds() -> None:
    found = covering_of(setting_of(bundled("lorenz-3-16-16-3"), np.zeros(3)))
    assert advanced(found, 1.0) == "closed"
    assert found.matrix is not None
    inner, whole = (
        Cover(OneMatrix(found.network, found.matrix), found.points, Counts(), lambda: None) for _ in range(2)
    )
    every = waves(whole, 1.0)
    assert waves(inner, 0.95) > 100
    larger = inner.for_larger()
    assert (larger.reached, larger.inner) == (0.95, inner.spent)
    assert waves(larger, 1.0) < 0.7 * every
    assert larger.reached == 1.0


@pytest.mark.rule("E-15")
@pytest.mark.parametrize("norm", list(Norm))
def test_what_a_larger_ball_adds_is_looked_at(norm: Norm) -> None:
    """The fold lies between the ball that is proved and the larger one, and far from all corners of boxes."""
    setting = setting_of(fold(at=0.96), np.zeros(2), norm=norm)
    cover = Cover(OneMatrix(Batches(setting), np.eye(2)), Points(setting), Counts(), lambda: None)
    assert waves(cover, 0.95) > 0
    larger = cover.for_larger()
    assert larger.advance(1.0, lambda: larger.spent > 2_000) != "closed"
    assert 0.95 <= larger.reached <= 0.96


@pytest.mark.rule("E-15")
def test_a_search_goes_on_with_a_matrix_that_proved_a_ball(monkeypatch: pytest.MonkeyPatch) -> None:
    """… unless that took hardly a box, when another matrix is found at once."""
    monkeypatch.setattr(covering_module, "CHEAP", 50)
    setting = setting_of(bundled("lorenz-3-16-16-3"), np.zeros(3))
    grown, alone = covering_of(setting), covering_of(setting)
    assert advanced(grown, 0.9) == advanced(alone, 0.93) == "closed"
    before, matrix = grown.counts.boxes, grown.matrix
    assert advanced(grown, 0.93) == "closed"
    assert matrix is not None
    assert grown.matrix is not None
    assert np.array_equal(grown.matrix, matrix)
    assert grown.counts.boxes - before < alone.counts.boxes


def test_a_cover_that_just_fits_what_is_left_of_the_effort_is_begun() -> None:
    """Other matrices are not tried until no cover fits any more."""
    found = covering_of(setting_of(bundled("lorenz-3-16-16-3"), np.zeros(3)))
    cheap = found._cheap
    dear = 10 * cheap  # boxes that are worth another matrix
    found._end = np.inf
    assert found._goes_on(dear, 0, 1, covering_module.MATRICES)
    found._end = found.counts.effort + 1.2 * dear
    assert not found._goes_on(dear, 0, 1, covering_module.MATRICES)
    found._end = found.counts.effort + 0.5 * dear  # it does not fit: another one may
    assert found._goes_on(dear, 0, 1, covering_module.MATRICES)
