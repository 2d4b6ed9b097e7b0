"""Pairs of the boundary: told apart or left open, in every norm, however long sides are that do not matter."""

from __future__ import annotations

import numpy as np
import pytest

from ircert.engines.boxes.cutting.boundary_pairs import BoundaryPairs
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.problem.outcome import Counts
from ircert.geometry.norm import Norm
from tests.engines.boxes.cutting.test_smooth_degree import HALF, fourth_power
from tests.engines.boxes.making import setting_of

EFFORT, LITTLE = 40_000, 4_000
"""More than what is closed takes, and enough to see that a search goes on."""
SHARE = {Norm.INF: 0.8, Norm.ONE: 0.3, Norm.TWO: 0.5}


def searched(norm: Norm, share: float, more: int, low: float = -np.inf) -> str:
    counts, most = Counts(), EFFORT if share < 1 or low > -9 else LITTLE
    lowest = np.array([-9.0, low, -9.0])[: 2 + more]
    setting = setting_of(fourth_power(more), [1.0, 0.0, 0.3][: 2 + more], norm=norm, low=lowest)
    pairs = BoundaryPairs(Batches(setting), [], counts, lambda: None)
    return pairs.advance(share * HALF[norm], lambda: counts.effort > most)


@pytest.mark.rule("E-18")
@pytest.mark.parametrize("norm", list(HALF))
@pytest.mark.parametrize("more", [0, 1])
def test_up_to_where_sheets_overlap(norm: Norm, more: int) -> None:
    """z and i z have one image under z^4, from some radius on; a third input is linear, and boxes stay long there."""
    assert searched(norm, SHARE[norm] if more else 0.8, more) == "closed"
    assert searched(norm, 1.001, more) == "stopped"


@pytest.mark.rule("E-18")
def test_spheres_that_the_domain_cuts_have_sides_of_the_domain_too() -> None:
    """Half of a disc whose whole has z and i z in it: y >= 0 has none."""
    assert searched(Norm.TWO, 1.02, 0, low=0.0) == "closed"
    assert searched(Norm.TWO, 1.02, 0) == "stopped"


@pytest.mark.rule("E-18")
def test_pairs_are_not_tried_again_before_they_are_small_enough() -> None:
    setting = setting_of(fourth_power(), [1.0, 0.0], norm=Norm.TWO)
    counts = Counts()
    pairs = BoundaryPairs(Batches(setting), [], counts, lambda: None)
    pairs.advance(0.9 * HALF[Norm.TWO], lambda: counts.effort > 100)
    assert pairs._frontier is not None
    bent = pairs._frontier.bent
    assert bent.shape == pairs._frontier.x.low.shape
    assert (bent >= 0).all()
    assert bent.any()
    assert np.isfinite(bent).all()
