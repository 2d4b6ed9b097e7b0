"""sin and cos far out, against interval arithmetic with 200 bits."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ircert
from ircert.bounds.curves import bounds_of
from ircert.bounds.whole_turns import FARTHEST, HIGH, LOW, MIDDLE, ROOM, moved
from ircert.ir.ops import Curve
from ircert.ir.ops.curves import Cos, Sin

WAVES = """ircert.ir/1

x = input(length=2)
h = affine(x, weight=[[0.0, 1.0], [1.0, 0.0]], bias=[{far}, {far}])
s = sin(h)
d = affine(s, weight=[[2.0, 0.0], [0.0, 2.0]])
y = add(x, d)
return y
"""


def truth(curve: Curve, x: float) -> tuple[arb, arb]:
    z = arb(x)
    return (z.sin(), z.cos()) if curve.kind == "sin" else (z.cos(), -z.sin())


def test_parts_of_a_turn() -> None:
    with ctx.workprec(300):
        assert abs(2 * arb.pi() - HIGH - MIDDLE - LOW) < arb(2) ** -100
    for part in (HIGH, MIDDLE):
        most = (1 << 24) - 1
        assert int(most * part * 2**70) == most * int(part * 2**70)  # exact: no bit is lost


@settings(max_examples=200, deadline=None)
@given(st.floats(-FARTHEST, FARTHEST), st.floats(0, 8))
@example(FARTHEST - 8, 8.0)
@example(-FARTHEST, 8.0)
@example(31.9, 0.2)
def test_moved_intervals_hold_the_given_ones(low: float, width: float) -> None:
    high = min(low + width, FARTHEST)
    found = moved(np.array([low]), np.array([high]), 32.0)
    assert found.lost[0] == (high - low > 8 and max(-low, high) > 32)
    if found.lost[0]:
        return
    with ctx.workprec(300):
        turns = 2 * arb.pi() * arb(float(found.turns[0]))
        assert arb(found.low[0]) <= arb(low) - turns
        assert arb(high) - turns <= arb(found.high[0])
        assert found.turns[0] == 0 or found.high[0] - found.low[0] <= high - low + 4 * ROOM


@pytest.mark.parametrize("curve", [Sin(), Cos()], ids=["sin", "cos"])
@pytest.mark.rule("IR-20")
def test_far_out(curve: Curve) -> None:
    """Ranges and lines hold, and are about as narrow as near 0."""
    rng = np.random.default_rng(0)
    middles = np.concatenate([np.pi / 2 * rng.integers(-(10**7), 10**7, 150), 10.0 ** rng.uniform(1.4, 9, 150)])
    widths = 10.0 ** rng.uniform(-9, 1.2, len(middles))
    low, high = middles - widths * rng.random(len(middles)), middles + widths * rng.random(len(middles))
    bounds = bounds_of(curve)
    (bottom, top), ((least, most), lines) = bounds.values(low, high), bounds.around(low, high)
    bends = bounds.slope_lines(low, high)
    (at_low, at_high), _ = bounds.at(low)
    with ctx.workprec(200):
        for k in range(len(low)):
            for point in np.linspace(low[k], high[k], 7):
                value, slope = truth(curve, float(point))
                assert arb(bottom[k]) <= value <= arb(top[k])
                assert arb(least[k]) <= slope <= arb(most[k])
                assert abs(value - arb(lines.slope[k]) * arb(float(point)) - arb(lines.shift[k])) <= arb(lines.error[k])
                assert abs(slope - arb(bends.slope[k]) * arb(float(point)) - arb(bends.shift[k])) <= arb(bends.error[k])
            assert arb(at_low[k]) <= truth(curve, float(low[k]))[0] <= arb(at_high[k])
    near = (np.abs(middles) < FARTHEST - 100) & (high - low < 1)
    assert ((top - bottom)[near] <= (high - low)[near] + 1e-11).all()
    assert (lines.error[near] <= ((high - low) ** 2 + 1e-6)[near]).all()
    assert (lines.error <= 1 + 1e-15).all()


@pytest.mark.rule("IR-20")
def test_ends_of_floats() -> None:
    ends = np.array([-np.inf, 1e300, 40.0, -1.7e308]), np.array([np.inf, 1.7e308, 1e17, 1.7e308])
    bounds = bounds_of(Sin())
    for low, high in (bounds.values(*ends), bounds.slopes(*ends), bounds.around(*ends)[0], bounds.at(ends[0])[0]):
        assert (low <= 1 + 1e-15).all()
        assert (high[:2] >= 1).all()
        assert (np.abs(np.concatenate([low, high])) <= 1 + 1e-15).all()
    unknown = np.array([np.nan, 50.0]), np.array([50.0, np.nan])
    assert np.isinf(bounds.values(*unknown)).all()
    assert np.isinf(bounds.around(*unknown)[1].error).all()


@pytest.mark.parametrize("far", [0.0, 12345.0])
def test_folds_of_waves_far_out(far: float) -> None:
    """det = 1 - 4 cos(x + far) cos(y + far) is 0 first at a distance of pi/6 from where both cosines are."""
    turned = np.pi / 2 - far % (2 * np.pi)
    found = ircert.certify(ircert.parse(WAVES.format(far=far)), [turned, turned], tol=1e-3)
    assert found.verdict == "certified"
    assert found.radius.certified <= np.pi / 6 + 1e-9
    assert found.radius.refuted is not None
    assert np.pi / 6 - 1e-9 <= found.radius.refuted <= np.pi / 6 * 1.002
