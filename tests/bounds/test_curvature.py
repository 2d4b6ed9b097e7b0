"""Lines around slopes, against interval arithmetic with 200 bits."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb

from ircert.bounds.curvature import slope_lines
from ircert.bounds.curves import bounds_of
from ircert.ir.ops import Curve
from tests.bounds.test_curves import ALL, IDS, places, truth


@pytest.mark.parametrize("curve", ALL, ids=IDS)
@pytest.mark.rule("IR-20")
def test_slopes_lie_between_the_lines(curve: Curve) -> None:
    rng = np.random.default_rng(3)
    near = rng.choice(places(curve), 60)
    middle = np.concatenate([near, rng.uniform(-7, 7, 60)])
    half = 10.0 ** rng.uniform(-7, 0.8, len(middle))
    low, high = middle - half, middle + half
    least, most = bounds_of(curve).slopes(low, high)
    found = slope_lines(curve).around(low, high, least, most)
    assert (found.error <= (most - least) / 2 * (1 + 1e-9) + 1e-15).all()
    for k in range(len(middle)):
        for point in [low[k], high[k], middle[k], *rng.uniform(low[k], high[k], 3)]:
            for _, slope in truth(curve, float(point)):
                line = arb(found.slope[k]) * arb(point) + arb(found.shift[k])
                assert abs(slope - line) <= arb(found.error[k]), (low[k], high[k], point)


@pytest.mark.parametrize("curve", ALL, ids=IDS)
def test_lines_are_off_by_a_second_order(curve: Curve) -> None:
    middle, half = np.random.default_rng(4).uniform(-3, 3, 200), 1e-3
    low, high = middle - half, middle + half
    plain = np.ones(len(middle), dtype=bool)
    for kink in curve.kinks:
        plain &= (high < kink) | (low > kink)
    least, most = bounds_of(curve).slopes(low, high)
    found = slope_lines(curve).around(low, high, least, most)
    assert (found.error[plain] < 20 * half**2 + 1e-9).all()
