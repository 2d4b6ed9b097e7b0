"""Tables of curves: few marks, where they belong, and small errors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb, arb_series

from ircert.bounds.curve_tables import tables
from ircert.ir.ops import CURVES, Curve
from ircert.ir.ops.curves import FunctionCurve, Gelu, HardSwish, Silu, Tail, Tanh


@pytest.mark.parametrize("op", CURVES, ids=lambda op: op.kind)
def test_errors_are_small_and_marks_are_short(op: type[Curve]) -> None:
    found = tables(op())
    assert found.values.errors.max() < 1e-11
    assert found.slopes.errors.max() < 1e-10
    for marks in (found.value_marks, found.slope_marks):
        assert len(marks.low) <= 24
        assert (marks.high - marks.low).max() < 1e-10
        assert (marks.low[1:] > marks.high[:-1]).all()


@pytest.mark.parametrize(
    ("curve", "turns", "inflections"),
    [
        (Tanh(), [], [0.0]),
        (Gelu(), [-0.7517915246935645], [-math.sqrt(2), math.sqrt(2)]),
        (Silu(), [-1.2784645427610738], [-2.399357280520548, 2.399357280520548]),
        (HardSwish(), [-3.0, -1.5, 3.0], [-3.0, 3.0]),
    ],
)
def test_marks_lie_at_extrema_and_inflections(curve: Curve, turns: list[float], inflections: list[float]) -> None:
    found = tables(curve)
    for marks, expected in ((found.value_marks, turns), (found.slope_marks, inflections)):
        inner = np.flatnonzero(np.abs(marks.low) < found.tails[1][0])
        assert np.allclose(marks.low[inner][: len(expected) or None], expected, atol=1e-9)


def test_a_curve_without_clear_signs_is_refused() -> None:
    class Constant(FunctionCurve):
        """y_i = 1, written so that interval arithmetic does not see it."""

        kind = "constant"

        def series(self, x: arb_series, piece: int) -> arb_series:
            return x.exp() * (-x).exp()

        def tails(self) -> tuple[Tail, Tail]:
            return Tail(1.0, 0.0, 1.0, arb(0), arb(0)), Tail(1.0, 0.0, 1.0, arb(0), arb(0))

    with pytest.raises(ArithmeticError, match="no clear signs"):
        tables(Constant())
