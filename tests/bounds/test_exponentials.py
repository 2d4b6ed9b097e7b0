"""Ranges and lines of exp, against interval arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb, ctx

from ircert.bounds.exponentials import HIGH, LOW, ExpBounds
from ircert.ir.arrays import Array

COUNT = 4000
ENDS = [0.0, 5e-324, 1e-310, 1e-17, 0.3, 1.0, 36.7, 690.0, 708.0, 709.78, 709.79, 710.1, 745.0, 746.0, 1e6, 1.7e308]


def drawn(rng: np.random.Generator) -> Array:
    """Numbers of all sizes, at places where powers of two change, at overflow and where results are denormal."""
    far = rng.choice([-1, 1], COUNT) * 10.0 ** rng.uniform(-320, 308, COUNT)
    halves = rng.integers(-2160, 2060, COUNT) * (np.log(2) / 2) * (1 + rng.integers(-4, 5, COUNT) * 2.0**-52)
    edges = np.where(rng.random(COUNT) < 0.5, rng.uniform(-750, -700, COUNT), rng.uniform(705, 711, COUNT))
    plain = rng.normal(size=COUNT) * 10
    return np.asarray(np.stack([far, halves, edges, plain])[rng.integers(0, 4, COUNT), np.arange(COUNT)])


def below(bound: float, value: arb) -> bool:
    return bound == -np.inf or not arb(bound) > value


def above(bound: float, value: arb) -> bool:
    return bound == np.inf or not arb(bound) < value


@pytest.mark.rule("IR-22")
def test_points_and_intervals() -> None:
    """Values, slopes and lines hold at the ends, between them and where the line is steepest."""
    rng = np.random.default_rng(0)
    low = np.concatenate([drawn(rng), ENDS, [-v for v in ENDS]])
    wide = np.where(rng.random(len(low)) < 0.5, 10.0 ** rng.uniform(-18, 3, len(low)), np.abs(rng.permutation(low)))
    high = np.minimum(np.maximum(low + wide, low), 1.7e308)
    found = ExpBounds()
    (value, value_too), _ = found.at(low)
    bottom, top = found.values(low, high)
    (least, most), lines = found.around(low, high)
    assert np.isfinite(lines.error).mean() > 0.5
    with ctx.workprec(120):
        for k in range(len(low)):
            a, b = arb(low[k]), arb(high[k])
            assert below(value[k], a.exp())
            assert above(value_too[k], a.exp())
            flat = arb(lines.slope[k]).log() if lines.slope[k] > 0 else a
            for z in (a, b, (a + b) / 2, a + (b - a) * rng.random(), flat):
                if z >= a and z <= b:
                    assert below(bottom[k], z.exp())
                    assert above(top[k], z.exp())
                    assert below(least[k], z.exp())
                    assert above(most[k], z.exp())
                    off = abs(z.exp() - arb(lines.slope[k]) * z - arb(lines.shift[k]))
                    assert above(lines.error[k], off)


def test_they_are_tight() -> None:
    found, x = ExpBounds(), np.linspace(-700, 700, 1001)
    (low, high), slopes = found.at(x)
    assert (high - low <= 4e-14 * high).all()
    assert slopes[0] is low
    _, lines = found.around(np.array([[1.0]]), np.array([[1.01]]))
    assert lines.error[0, 0] == pytest.approx(np.exp(1.005) * 0.01**2 / 16, rel=1e-3)


def test_the_logarithm_of_2() -> None:
    """k HIGH is exact for all k that occur."""
    with ctx.workprec(200):
        assert abs(arb(2).log() - arb(HIGH) - arb(LOW)) < arb(2) ** -85
    assert (HIGH * 2.0**32).is_integer()


def test_nothing_is_said_of_steep_slopes_and_of_what_is_no_number() -> None:
    found = ExpBounds(np.full(3, 8.0))
    low, high = np.array([[1.0], [-3.0], [np.nan]]), np.array([[2.0], [3.0], [np.nan]])
    (least, most), lines = found.around(low, high)
    assert least[0, 0] == pytest.approx(np.e)
    assert np.isnan([least[1:], most[1:]]).all()
    assert lines.error[2, 0] == np.inf
    ends = np.array([np.nan, np.inf, -np.inf])
    (bottom, top), _ = found.at(ends)
    assert bottom.tolist() == [0.0, 1e308, 0.0]
    assert top[:2].tolist() == [np.inf, np.inf]
    assert 0 < top[2] < 1e-322
    assert found.around(ends[2:, None], ends[1:2, None])[1].error.tolist() == [[np.inf]]
