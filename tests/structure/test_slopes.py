"""Slopes between two numbers bound the quotients of all pairs of points there."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ircert.ir.ops import Relu
from ircert.ir.ops.base import Op
from ircert.ir.ops.curves import Elu, Gelu, Sigmoid, Sin, Softplus, Softsign, Tanh
from ircert.ir.ops.exp import Exp
from ircert.ir.ops.piecewise import Abs, Clip, LeakyRelu
from ircert.ir.ops.smooth import Log, Reciprocal
from ircert.ir.ops.square import Square
from ircert.structure.range import Range
from ircert.structure.slopes import slopes_on

OPS: list[Op] = [Relu(), Abs(), Tanh(), Sigmoid(), Softplus(), Softsign(), Elu(0.5), Gelu(), Sin(), Exp(), Square()]
OPS += [Reciprocal(), LeakyRelu(np.array([0.25])), LeakyRelu(np.array([-2.0])), Clip(np.array([-1.0]), np.array([2.0]))]


@pytest.mark.rule("L-9")
@settings(max_examples=200)
@given(st.sampled_from(OPS), st.floats(-6, 6), st.floats(0.01, 4), st.integers(0, 2**32 - 1))
def test_quotients_of_pairs(op: Op, low: float, width: float, seed: int) -> None:
    if isinstance(op, Reciprocal) and low <= 0 <= low + width:
        low = 0.25
    least, most = slopes_on(op, Range.between(1, low, low + width))
    x = low + width * np.sort(np.random.default_rng(seed).random(40))
    values = op.evaluate(x[:, None])[:, 0]
    apart = np.diff(x) > 1e-4
    quotients = np.abs(np.diff(values)[apart] / np.diff(x)[apart])
    assert (quotients <= most[0] * (1 + 1e-9) + 1e-9).all()
    assert (quotients >= least[0] * (1 - 1e-9) - 1e-9).all()


@pytest.mark.rule("L-9")
def test_closed_forms() -> None:
    def ends(op: Op, low: float, high: float) -> list[float]:
        return [float(end[0]) for end in slopes_on(op, Range.between(1, low, high))]

    assert ends(Exp(), -1.0, 0.0) == pytest.approx([np.exp(-1.0), 1.0])
    assert ends(Reciprocal(), 0.5, 2.0) == pytest.approx([0.25, 4.0])
    assert ends(Tanh(), -1.0, 0.5) == pytest.approx([1 - np.tanh(1.0) ** 2, 1.0])
    assert ends(Relu(), 0.0, 3.0) == [1.0, 1.0]
    assert ends(Relu(), -1.0, 3.0) == [0.0, 1.0]
    assert ends(LeakyRelu(np.array([0.25])), -2.0, -1.0) == [0.25, 0.25]
    assert ends(Abs(), -1.0, 1.0) == [0.0, 1.0]
    assert ends(Clip(np.array([0.0]), None), 1.0, 2.0) == [1.0, 1.0]
    assert ends(Exp(), -np.inf, np.inf) == [0.0, np.inf]
    assert ends(Tanh(), -np.inf, np.inf) == pytest.approx([0.0, 1.0])
    assert ends(Log(), 1.0, 2.0) == [0.0, np.inf]
