"""Curves with numbers of their own: the real functions of these numbers, and bounds on what numbers they take."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb, arb_series, ctx

import ircert
from ircert.bounds.curves import bounds_of
from ircert.ir.ops import BY_KIND, Curve
from ircert.ir.ops.curves import Gelu, GeluTanh, Silu
from ircert.ir.ops.gates import GATES, GeluCubic, GeluErf, Swish

SOME: list[Curve] = [Swish(), Swish(8.0), Swish(0.125), GeluErf(), GeluErf(3.0), GeluCubic(), GeluCubic(0.5, 0.0)]


@pytest.mark.rule("IR-14", "IR-20")
@pytest.mark.parametrize("curve", [*SOME, GeluCubic(2.0, 1.0)], ids=repr)
def test_text_floats_and_balls_agree(curve: Curve) -> None:
    build = ircert.Builder(3)
    graph = build.graph(build.node(curve, build.input))
    assert ircert.parse(str(graph)) == graph
    assert BY_KIND[curve.kind] in GATES
    x = [-1.25, 0.3, 2.0]
    for value, ball in zip(graph(x), graph.enclosure(x, 200), strict=True):
        assert float(ball.rad()) < 1e-50
        assert abs(float(ball.mid()) - value) < 1e-14


@pytest.mark.rule("IR-20")
@pytest.mark.parametrize("curve", SOME, ids=repr)
def test_tails_are_what_they_say(curve: Curve) -> None:
    with ctx.workprec(300):
        for sign, tail in zip((-1, 1), curve.tails(), strict=True):
            for far in (1.0, 1.01, 1.5, 4.0):
                at = arb(sign * tail.start * far)
                value, slope = curve.series(arb_series([at, 1], prec=2), 0).coeffs()[:2]
                assert abs(value - tail.slope * at - tail.offset) <= tail.value
                assert abs(slope - tail.slope) <= tail.rate
            assert float(tail.value) < 1e-15


def test_they_are_close_to_the_real_ones() -> None:
    x = np.linspace(-6, 6, 41)[None]
    assert np.abs(GeluErf().evaluate(x) - Gelu().evaluate(x)).max() < 1e-6
    assert np.abs(GeluCubic().evaluate(x) - GeluTanh().evaluate(x)).max() < 1e-6
    assert np.array_equal(Swish(1.0).evaluate(x), Silu().evaluate(x))
    assert bounds_of(GeluErf()).most < 1.13


@pytest.mark.parametrize("make", [lambda: Swish(0.1), lambda: GeluErf(9.0), lambda: GeluCubic(1.0, -0.1)])
def test_numbers_out_of_bounds_are_refused(make: object) -> None:
    with pytest.raises(ValueError, match="must lie between"):
        make()  # type: ignore[operator]
