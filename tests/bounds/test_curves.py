"""Ranges and lines of curves, against interval arithmetic with 200 bits."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb, arb_series, ctx
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ircert.bounds.curve_tables import CELLS, tables
from ircert.bounds.curves import bounds_of
from ircert.ir.ops import CURVES, Curve
from ircert.ir.ops.curves import Elu, Gelu, HardSwish, Silu, Softplus, Tanh

ALL: list[Curve] = [*(op() for op in CURVES), Elu(1.6732632), Elu(-0.5)]
IDS = [f"{op.kind}{k}" for k, op in enumerate(ALL)]


def truth(curve: Curve, x: float) -> list[tuple[arb, arb]]:
    """Value and slope in the pieces that a point belongs to."""
    with ctx.workprec(200):
        first, last = sum(k < x for k in curve.kinks), sum(k <= x for k in curve.kinks)
        found = []
        for piece in range(first, last + 1):
            value, slope = [*list(curve.series(arb_series([arb(x), 1], prec=2), piece).coeffs()), arb(0), arb(0)][:2]
            found.append((value, slope))
        return found


def places(curve: Curve) -> np.ndarray:
    """Points around all marks, ends of cells and the ends of floats."""
    t = tables(curve)
    near = np.concatenate([t.value_marks.low, t.value_marks.high, t.slope_marks.low, t.slope_marks.high])
    near = np.concatenate([near, np.arange(-70, 70) / CELLS, [1e-310, -1e-310, 5e-324, 1e5, -1e5, 700.0, -700.0]])
    around = [near, np.nextafter(near, np.inf), np.nextafter(near, -np.inf), near + 1e-9, near - 1e-9, near + 0.01]
    return np.unique(np.concatenate(around))


@pytest.mark.parametrize("curve", ALL, ids=IDS)
@pytest.mark.rule("IR-20")
def test_points(curve: Curve) -> None:
    """What is said about points holds the truth, and little more."""
    rng = np.random.default_rng(0)
    x = np.concatenate([places(curve), rng.uniform(-8, 8, 200), rng.uniform(-60, 60, 200)])
    bounds = bounds_of(curve)
    (low, high), _ = bounds.at(x)
    least, most = bounds.slopes(x, x)
    for k, point in enumerate(x.tolist()):
        for value, slope in truth(curve, point):
            assert arb(low[k]) <= value <= arb(high[k]), point
            assert arb(least[k]) <= slope <= arb(most[k]), point
    inner = np.abs(x) < 30
    wide = 1e-11 if curve.kind != "softsign" else 1e-9
    assert ((high - low)[inner] <= wide * (1 + np.abs(x[inner]))).all()


@pytest.mark.parametrize("curve", ALL, ids=IDS)
@pytest.mark.rule("IR-20")
def test_intervals(curve: Curve) -> None:
    """Ranges and lines hold at many points of intervals of all lengths, and ranges are nearly attained."""
    rng = np.random.default_rng(1)
    centers = np.concatenate([rng.choice(places(curve), 60), rng.uniform(-6, 6, 60)])
    centers = centers[np.abs(centers) < 1e4]
    widths = 10.0 ** rng.uniform(-9, 1.5, len(centers))
    low, high = centers - widths * rng.random(len(centers)), centers + widths * rng.random(len(centers))
    bounds = bounds_of(curve)
    bottom, top = bounds.values(low, high)
    (least, most), lines = bounds.around(low, high)
    again = bounds.slopes(low, high)
    assert np.array_equal(again[0], least)
    assert np.array_equal(again[1], most)
    for k in range(len(low)):
        marks = [m for m in (*tables(curve).slope_marks.low, *tables(curve).value_marks.low) if low[k] <= m <= high[k]]
        points = [low[k], high[k], *np.linspace(low[k], high[k], 9)[1:-1], *marks]
        found = [pair for point in points for pair in truth(curve, float(point))]
        for point in points:
            for value, slope in truth(curve, float(point)):
                assert arb(bottom[k]) <= value <= arb(top[k])
                assert arb(least[k]) <= slope <= arb(most[k])
                with ctx.workprec(200):
                    off = value - arb(lines.slope[k]) * arb(float(point)) - arb(lines.shift[k])
                assert abs(off) <= arb(lines.error[k])
        if max(abs(low[k]), abs(high[k])) < 30:
            assert most[k] - least[k] <= max(float(s) for _, s in found) - min(float(s) for _, s in found) + 2e-9
            assert top[k] - bottom[k] <= max(float(v) for v, _ in found) - min(float(v) for v, _ in found) + 2e-9


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(ALL), st.floats(allow_nan=False), st.floats(allow_nan=False), st.floats(0, 1))
@example(Tanh(), -np.inf, np.inf, 0.5)
@example(Gelu(), -1.7e308, 1.7e308, 0.5)
@example(Silu(), 5e-324, 1.0, 0.0)
@example(HardSwish(), -3.0, 3.0, 0.5)
def test_any_floats(curve: Curve, a: float, b: float, share: float) -> None:
    low, high = min(a, b), max(a, b)
    point = float(np.clip(low * (1 - share) + high * share, max(low, -1e300), min(high, 1e300)))
    bounds = bounds_of(curve)
    given = np.array([low]), np.array([high])
    (bottom,), (top,) = bounds.values(*given)
    (least, most), lines = bounds.around(*given)
    assert bounds.least <= least[0] <= most[0] <= bounds.most
    if not np.isfinite(point) or abs(point) > 1e6:  # interval arithmetic of exponentials overflows far out
        return
    for value, slope in truth(curve, point):
        assert not value < bottom
        assert not value > top
        assert not slope < least[0]
        assert not slope > most[0]
        if np.isfinite(lines.error[0]):
            with ctx.workprec(200):
                off = abs(value - arb(lines.slope[0]) * arb(point) - arb(lines.shift[0]))
            assert not off > lines.error[0]


def test_what_is_no_number() -> None:
    unknown = np.array([np.nan, 0.0]), np.array([1.0, np.nan])
    for curve in (Tanh(), Softplus()):
        bounds = bounds_of(curve)
        assert np.array_equal(bounds.slopes(*unknown)[0], [bounds.least] * 2)
        (least, most), lines = bounds.around(*unknown)
        assert np.array_equal(most, [bounds.most] * 2)
        assert np.array_equal(least, [bounds.least] * 2)
        assert np.isinf(lines.error).all()


@pytest.mark.parametrize("curve", ALL, ids=IDS)
def test_lines_are_close(curve: Curve) -> None:
    """Lines around short intervals without a mark are off by the square of their length at most."""
    low = np.linspace(-5, 5, 101) + 1e-3
    marks = tables(curve).slope_marks
    clear = np.array([not ((marks.low < x + 0.01) & (marks.high > x)).any() for x in low])
    _, lines = bounds_of(curve).around(low[clear], low[clear] + 0.01)
    assert (lines.error <= 3e-5).all()
