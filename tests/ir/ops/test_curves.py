"""Curves in floats and as power series."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb, arb_series, ctx

from ircert.ir.ops import CURVES, Curve
from ircert.ir.ops.curves import Elu


@pytest.mark.parametrize("curve", [*(op() for op in CURVES), Elu(0.3)], ids=lambda op: op.kind)
def test_floats_and_series_agree(curve: Curve) -> None:
    x = np.linspace(-9.0, 9.0, 37)
    for point, value in zip(x.tolist(), curve.evaluate(x[None])[0].tolist(), strict=True):
        piece = sum(kink <= point for kink in curve.kinks)
        found = curve.series(arb_series([arb(point), 1], prec=1), piece).coeffs()
        assert abs(value - (float(found[0].mid()) if found else 0.0)) <= 1e-14 * (1 + abs(point))


@pytest.mark.parametrize("curve", [*(op() for op in CURVES), Elu(0.3)], ids=lambda op: op.kind)
def test_tails_hold_where_they_begin_and_beyond(curve: Curve) -> None:
    with ctx.workprec(300):
        for sign, tail, piece in zip((-1, 1), curve.tails(), (0, len(curve.kinks)), strict=True):
            for distance in (0.0, 1e-3, 0.7, 3.0, 10.0, 50.0):
                x = arb(sign * (tail.start + distance))
                value, slope = [*list(curve.series(arb_series([x, 1], prec=2), piece).coeffs()), arb(0), arb(0)][:2]
                assert not abs(value - tail.slope * x - arb(tail.offset)) > tail.value
                assert not abs(slope - tail.slope) > tail.rate
